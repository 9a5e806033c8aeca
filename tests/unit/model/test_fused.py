"""The fused attention of training against the plain one, forward and backward."""

import pytest
import torch
from torch import Tensor

from mute.model import attention
from mute.model.fused import fused_attention
from mute.model.transformer import Transformer
from tests.unit.model.oracle import double, small

SOURCE = torch.tensor([[5, 6, 7, 8, 9, 3], [4, 10, 3, 0, 0, 0], [11, 12, 4, 3, 0, 0]])
TARGET = torch.tensor([[2, 6, 7, 8], [2, 9, 0, 0], [2, 4, 5, 0]])


def losses_and_gradients(
    model: Transformer, source: Tensor, target: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    model.zero_grad()
    logits = model(source, target, torch.Generator().manual_seed(1))
    (logits.log_softmax(-1)[..., 5] * (target != 0)).sum().backward()
    gradients = {
        name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None
    }
    return logits, gradients


@pytest.mark.parametrize(
    "sentences",
    [
        (SOURCE, TARGET),
        (SOURCE[:1], TARGET[:1]),
        (SOURCE[:1].repeat(1, 4), TARGET.repeat(1, 5)[:1]),
    ],
    ids=["a batch", "one", "longer than a register"],
)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"relative_positions": 0},
        {"units": 3, "bias": ["identity", "swap", "mask"], "sample_rate": 1.0},
        {"units": 3, "bias": ["swap"], "sample_rate": 0.0},
        {"units": 3, "shared": "attention", "bias": ["swap"], "sample_rate": 1.0},
        {"units": 2, "decoder": {"units": 2, "bias": ["mask"]}},
        {"decoder": {"units": 2, "shared": "attention", "bias": ["mask"], "sample_rate": 1.0}},
    ],
    ids=str,
)
def test_training_is_the_same_as_with_the_plain_form(
    settings: dict[str, object],
    sentences: tuple[Tensor, Tensor],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = double(small(**settings)).train()
    calls = []
    fused = fused_attention

    def counted(*arguments: object) -> Tensor:
        calls.append(arguments)
        return fused(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(attention, "fused_attention", counted)
    logits, gradients = losses_and_gradients(model, *sentences)
    assert len(calls) == 6, "two layers of self-attention in each stack, two of cross-attention"
    monkeypatch.setattr(attention.Attention, "can_be_fused", False)
    expected_logits, expected = losses_and_gradients(model, *sentences)
    assert len(calls) == 6
    torch.testing.assert_close(logits, expected_logits)
    assert gradients.keys() == expected.keys()
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, expected[name])


def test_where_weights_are_dropped_or_looked_at_the_plain_form_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> Tensor:
        raise AssertionError("not to be called")

    monkeypatch.setattr(attention, "fused_attention", refuse)
    double(small()).eval()(SOURCE, TARGET)
    double(small(attention_dropout=0.5)).train()(SOURCE, TARGET)


@pytest.mark.parametrize("shared", ["none", "attention", "ffn"])
def test_training_computes_what_evaluation_does(shared: str) -> None:
    model = double(small(units=3, shared=shared, sequential=True))
    expected = model.eval()(SOURCE, TARGET)
    torch.testing.assert_close(model.train()(SOURCE, TARGET), expected)
