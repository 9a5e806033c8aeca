from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from mute.model import kernels
from mute.probe import bfloat16_is_safe
from mute.train import loss
from mute.train.loss import output_loss
from tests.machines import needs_kernels

Learnable = tuple[Tensor, Tensor, Tensor]
"""States, weight and bias that want a gradient."""


def given(passes: int = 1, positions: int = 7, words: int = 11) -> tuple[Learnable, Tensor]:
    """What a loss is worked out from, and labels."""

    def learnable(*shape: int) -> Tensor:
        return torch.randn(shape, dtype=torch.float64, requires_grad=True)

    tensors = (learnable(passes, positions, 4), learnable(words, 4), learnable(words))
    return tensors, torch.randint(0, words, (positions,))


def converted(tensors: Learnable, dtype: torch.dtype) -> Learnable:
    """The same numbers, to be learned by themselves."""
    states, weight, bias = (each.detach().to(dtype).requires_grad_() for each in tensors)
    return states, weight, bias


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("held_scores", [1, 25, 1000])
def test_loss_and_gradients_equal_pytorchs(
    smoothing: float, held_scores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss, "CHUNK", held_scores)
    tensors, labels = given()
    ours, likelihood = output_loss(*tensors, labels, smoothing)
    (logits,) = F.linear(*tensors)
    theirs = F.cross_entropy(logits, labels, label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(ours, theirs)
    plain = F.cross_entropy(logits, labels, reduction="sum")
    torch.testing.assert_close(likelihood, plain.detach())
    for mine, other in zip(
        torch.autograd.grad(3 * ours, tensors),
        torch.autograd.grad(3 * theirs, tensors),
        strict=True,
    ):
        torch.testing.assert_close(mine, other)


@needs_kernels
@pytest.mark.parametrize("lanes", kernels.widths())
@pytest.mark.parametrize("words", [3, 32, 211])  # fewer than a register holds, whole ones, odd
@pytest.mark.parametrize("positions", [1, 37])
def test_the_compiled_form_says_what_the_plain_one_does(
    lanes: int, words: int, positions: int, use_lanes: Callable[[int], None]
) -> None:
    use_lanes(lanes)
    exact, labels = given(positions=positions, words=words)
    single = converted(exact, torch.float32)
    plain, compiled = (output_loss(*tensors, labels, 0.1) for tensors in (exact, single))
    gradients = [
        torch.autograd.grad(loss, tensors)
        for (loss, _), tensors in ((plain, exact), (compiled, single))
    ]
    for one, other in zip((*plain, *gradients[0]), (*compiled, *gradients[1]), strict=True):
        torch.testing.assert_close(one.float(), other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_finite_is_seen_in_loss_and_gradient(dtype: torch.dtype, bad: float) -> None:
    doubles, labels = given()
    tensors = converted(doubles, dtype)
    with torch.no_grad():
        tensors[2][9] = bad
    ours, _ = output_loss(*tensors, labels, 0.1)
    assert not ours.isfinite()
    to_states, *_ = torch.autograd.grad(ours, tensors)
    assert not to_states.isfinite().any()


def test_the_gradient_is_that_of_the_loss() -> None:
    tensors, labels = given()
    assert torch.autograd.gradcheck(lambda s, w, b: output_loss(s, w, b, labels, 0.1)[0], tensors)


def test_a_word_that_is_all_but_impossible_has_its_loss() -> None:
    """Its probability is 0 in float32, and the logarithm of that is not."""
    states, weight = torch.tensor([[[1.0]]]), torch.tensor([[200.0], [0.0], [100.0]])
    tensors = (states.requires_grad_(), weight.requires_grad_(), torch.zeros(3, requires_grad=True))
    ours, likelihood = output_loss(*tensors, torch.tensor([1]), 0.1)
    (logits,) = F.linear(*tensors)
    theirs = F.cross_entropy(logits, torch.tensor([1]), label_smoothing=0.1, reduction="sum")
    torch.testing.assert_close(ours, theirs)
    assert not likelihood.requires_grad, "it is told, not trained on"
    assert float(likelihood) == pytest.approx(200.0)


@pytest.mark.parametrize("gap", [85.0, 95.0, 102.5])
def test_a_word_of_few_digits_has_its_loss(gap: float) -> None:
    """Its probability is a float32 below the least with all its digits."""
    states, weight = torch.tensor([[[1.0]]]), torch.tensor([[gap], [0.0]])
    _, likelihood = output_loss(states, weight, torch.zeros(2), torch.tensor([1]), 0.1)
    assert float(likelihood) == pytest.approx(gap, rel=1e-5)


@pytest.mark.parametrize("held_scores", [1, 50, 1000])
def test_r_drop_adds_the_divergence_of_two_passes(
    held_scores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss, "CHUNK", held_scores)
    tensors, labels = given(passes=2)
    ours, likelihood = output_loss(*tensors, labels, 0.1, r_drop=5.0)
    one, other = F.linear(*tensors)
    p, q = one.log_softmax(-1), other.log_softmax(-1)
    both = F.kl_div(p, q, log_target=True, reduction="sum") + F.kl_div(
        q, p, log_target=True, reduction="sum"
    )
    theirs = 5.0 * both / 2
    for logits in (one, other):
        theirs = theirs + F.cross_entropy(logits, labels, label_smoothing=0.1, reduction="sum")
    torch.testing.assert_close(ours, theirs / 2)
    torch.testing.assert_close(
        likelihood, F.cross_entropy(torch.cat([one, other]), labels.repeat(2), reduction="sum") / 2
    )
    for mine, oracle in zip(
        torch.autograd.grad(3 * ours, tensors),
        torch.autograd.grad(3 * theirs / 2, tensors),
        strict=True,
    ):
        torch.testing.assert_close(mine, oracle)


@pytest.mark.parametrize("without", [torch.inference_mode, torch.no_grad])
def test_without_gradients_only_the_sums_are_made(
    without: Callable[[], AbstractContextManager[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (states, weight, bias), labels = given()
    assert weight.requires_grad
    monkeypatch.delattr(loss, "_add_product")  # no gradient can be made
    with without():
        ours, likelihood = output_loss(states, weight, bias, labels, 0.0)
    assert ours == likelihood > 0


def test_the_output_layer_alone_can_learn() -> None:
    (states, weight, bias), labels = given()
    loss, _ = output_loss(states.detach(), weight, bias, labels, 0.1)
    loss.backward()
    assert states.grad is None
    assert weight.grad is not None
    assert weight.grad.abs().sum() > 0


def test_a_second_derivative_is_refused_and_not_left_out() -> None:
    (states, weight, bias), labels = given()
    loss, _ = output_loss(states, weight, bias, labels, 0.1)
    with pytest.raises(NotImplementedError, match="no second derivative"):
        torch.autograd.grad(loss, states, create_graph=True)


def test_under_autocast_products_are_rounded_and_sums_are_not() -> None:
    if not bfloat16_is_safe():
        pytest.skip("this CPU cannot compute in bfloat16")
    (states, weight, bias), labels = given()
    tensors = (states.float(), weight.float(), bias.float())
    exact, _ = output_loss(*tensors, labels, 0.1)
    with torch.autocast("cpu", torch.bfloat16):
        rounded, likelihood = output_loss(*tensors, labels, 0.1)
    assert rounded.dtype == likelihood.dtype == torch.float32
    assert rounded != exact
    torch.testing.assert_close(rounded, exact, atol=0.2, rtol=0.02)
    for mine, other in zip(
        torch.autograd.grad(rounded, tensors), torch.autograd.grad(exact, tensors), strict=True
    ):
        torch.testing.assert_close(mine, other, atol=0.1, rtol=0.05)


def test_a_batch_without_a_position_costs_nothing() -> None:
    tensors, labels = given(positions=0)
    loss, likelihood = output_loss(*tensors, labels, 0.1)
    assert loss.item() == likelihood.item() == 0
    for gradient in torch.autograd.grad(loss, tensors):
        assert not gradient.any()
