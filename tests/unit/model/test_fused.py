"""The fused attention of training against the plain one, forward and backward."""

import copy
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from mute.config import ModelConfig
from mute.model import attention
from mute.model.attention import SelfAttention
from mute.model.bank import BankLinear
from mute.model.fused import fused_attention
from mute.model.kernels import widths
from mute.model.layer import multi_unit_layers
from mute.model.transformer import Transformer, build
from mute.translate.engine import Compute, Engine
from tests.machines import needs_int8, needs_kernels
from tests.unit.model.oracle import double, small, whole

every_library = pytest.mark.parametrize("lanes", widths())

COMPUTES = [("float32", 1e-4), pytest.param("int8", 0.3, marks=needs_int8)]
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


def with_whole_lanes(**settings: object) -> ModelConfig:
    """A small config whose heads the kernel takes."""
    return small(**{"d_model": 32, "heads": 2, **settings})


@needs_kernels
@pytest.mark.parametrize(
    "sentences",
    [
        (SOURCE, TARGET),
        (SOURCE[:1], TARGET[:1]),
        (SOURCE[:1].repeat(1, 4), TARGET.repeat(1, 5)[:1]),
        (SOURCE[:1, -1:], TARGET[:1, :1]),
    ],
    ids=["a batch", "one", "longer than a register", "one word"],
)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"relative_positions": 0},
        {"relative_positions": 40},
        {"d_model": 16},
        {"d_model": 64},
        {"d_model": 96},
        {"units": 3, "bias": ["identity", "swap", "mask"], "sample_rate": 1.0},
        {"units": 3, "bias": ["swap"], "sample_rate": 0.0},
        {"units": 3, "shared": "attention", "bias": ["swap"], "sample_rate": 1.0},
        {"units": 2, "decoder": {"units": 2, "bias": ["mask"]}},
        {"decoder": {"units": 2, "shared": "attention", "bias": ["mask"], "sample_rate": 1.0}},
    ],
    ids=str,
)
@pytest.mark.parametrize("threads", [1, 2])
@every_library
def test_training_is_the_same_as_with_the_plain_form(
    settings: dict[str, object],
    sentences: tuple[Tensor, Tensor],
    threads: int,
    lanes: int,
    use_lanes: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_lanes(lanes)
    config = with_whole_lanes(**settings)
    if config.d_model // config.heads % lanes:
        pytest.skip("a head smaller than a register")
    plain = double(config).train()
    for weight in plain.parameters():
        weight.data /= weight.size(-1) ** 0.5 if weight.dim() else 1  # what float32 is meant for
    model = copy.deepcopy(plain).float()
    calls = []

    def counted(*arguments: object) -> Tensor:
        calls.append(arguments)
        return fused_attention(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(attention, "fused_attention", counted)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        logits, gradients = losses_and_gradients(model, *sentences)
    finally:
        torch.set_num_threads(before)
    assert len(calls) == 6, "two layers of self-attention in each stack, two of cross-attention"
    expected_logits, expected = losses_and_gradients(plain, *sentences)
    assert len(calls) == 6
    torch.testing.assert_close(logits.double(), expected_logits, rtol=1e-4, atol=1e-5)
    assert gradients.keys() == expected.keys()
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient.double(), expected[name], rtol=1e-3, atol=1e-4)


@needs_kernels
def test_a_query_that_may_look_nowhere_looks_everywhere_alike() -> None:
    projected = torch.randn(1, 1, 5, 3 * 32)
    nowhere = torch.zeros(1, 1, 1, 5, dtype=torch.bool)
    values = projected[..., 64:]
    mean = values.mean(2, keepdim=True).expand_as(values)
    torch.testing.assert_close(fused_attention(projected, None, 2, nowhere), mean)


@needs_kernels
def test_where_it_looks_then_depends_on_nothing() -> None:
    projected = torch.randn(1, 2, 5, 3 * 32, requires_grad=True)
    tables = torch.randn(2, 1, 5, 16, requires_grad=True)
    open_to = torch.tensor([False, True])[:, None, None, None].expand(-1, 1, 1, 5)
    mixed = fused_attention(projected, None, 2, open_to, tables)
    (gradient,) = torch.autograd.grad(mixed.square().sum(), projected)
    assert (gradient[0, 0, :, :64] == 0).all(), "of queries and keys"
    assert (gradient[0, 0, :, 64:] != 0).all(), "of values"
    assert (gradient[0, 1] != 0).all()


@needs_kernels
def test_no_query_is_no_attention() -> None:
    nobody = torch.randn(2, 3, 0, 32, requires_grad=True)
    mask = torch.ones(3, 1, 1, 4, dtype=torch.bool)
    mixed = fused_attention(nobody, torch.randn(2, 3, 4, 64), 2, mask)
    assert mixed.shape == (2, 3, 0, 32)
    mixed.sum().backward()
    assert fused_attention(nobody.repeat(1, 1, 1, 3), None, 2, mask).shape == (2, 3, 0, 32)


@needs_kernels
def test_a_mask_may_be_one_for_all() -> None:
    projected = torch.randn(2, 3, 5, 3 * 32)
    one, each = (torch.ones(1, 1, 1, size, dtype=torch.bool) for size in (1, 5))
    mixed = [fused_attention(projected, None, 2, mask) for mask in (one, each)]
    assert torch.equal(*mixed)


@needs_kernels
@pytest.mark.parametrize("cross", [False, True])
def test_units_that_lie_side_by_side_are_not_laid_out_anew(cross: bool) -> None:
    def together(*shape: int) -> Tensor:
        """As one product for all units gives them: (B, L, U, n) seen as (U, B, L, n)."""
        return torch.randn(*shape).movedim(2, 0).requires_grad_()

    inputs = [together(3, 5, 2, 32), together(3, 4, 2, 64)] if cross else [together(3, 5, 2, 96)]
    apart = [x.detach().contiguous().requires_grad_() for x in inputs]
    mask, upstream = torch.ones(1, 1, 1, 1, dtype=torch.bool), torch.randn(2, 3, 5, 32)
    outputs, gradients = [], []
    for given in (inputs, apart):
        outputs.append(fused_attention(given[0], given[1] if cross else None, 2, mask))
        gradients.append(torch.autograd.grad(outputs[-1], given, upstream))
    assert torch.equal(*outputs)
    for x, of_x, expected in zip(inputs, *gradients, strict=True):
        assert torch.equal(of_x, expected)
        assert of_x.stride() == x.stride()


@needs_kernels
def test_what_is_not_finite_stays_so() -> None:
    projected = torch.randn(1, 1, 5, 3 * 32)
    projected[..., 2, 70] = torch.nan  # a value
    mixed = fused_attention(projected, None, 2, torch.ones(1, 1, 1, 5, dtype=torch.bool))
    assert mixed[..., 6].isnan().all()


@needs_kernels
@every_library
def test_weights_far_apart_do_not_overflow(lanes: int, use_lanes: Callable[[int], None]) -> None:
    use_lanes(lanes)
    projected = 100 * torch.randn(1, 2, 20, 3 * 32)
    mask = torch.ones(1, 1, 1, 20, dtype=torch.bool)
    queries, keys, values = (
        each.unflatten(-1, (2, 16)).transpose(2, 3).double() for each in projected.chunk(3, -1)
    )
    expected = (queries @ keys.mT / 4).softmax(-1) @ values
    mixed = fused_attention(projected, None, 2, mask)
    torch.testing.assert_close(
        mixed.double(), expected.transpose(2, 3).flatten(3), rtol=1e-3, atol=1e-2
    )


def test_where_the_kernel_does_not_suit_the_plain_form_is_used(
    use_lanes: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Tensor:
        raise AssertionError("not to be called")

    monkeypatch.setattr(attention, "fused_attention", refuse)
    double(with_whole_lanes()).float().eval()(SOURCE, TARGET)
    double(with_whole_lanes(attention_dropout=0.5)).float().train()(SOURCE, TARGET)
    double(with_whole_lanes()).train()(SOURCE, TARGET)
    double(small(heads=4)).float().train()(SOURCE, TARGET)
    use_lanes(0)
    double(with_whole_lanes()).float().train()(SOURCE, TARGET)


class Nearby(SelfAttention):
    """Looks at its neighbours only."""

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        near = torch.ones(mask.shape[-1], mask.shape[-1], dtype=torch.bool).triu(-1).tril(1)
        return super().attend(queries, keys, values, mask & near)


class Doubled(BankLinear):
    def forward(self, x: Tensor) -> Tensor:
        return 2 * super().forward(x)


@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("part", ["mixer", "expand"])
@pytest.mark.parametrize(("compute", "near"), COMPUTES)
def test_parts_of_ones_own_are_used_in_training_and_translation_alike(
    part: str, units: int, compute: Compute, near: float
) -> None:
    config = with_whole_lanes(units=units)
    model = build(config, 13)
    for layer in multi_unit_layers(model.encoder.layers):
        if part == "mixer":
            layer.units.mixer = Nearby(units, config.d_model, config.heads, 0.0, 2)
        else:
            layer.units.feedforward.expand = Doubled(units, config.d_model, config.d_ffn)
    expected = model.eval().encoder(SOURCE)[0]
    torch.testing.assert_close(model.train().encoder(SOURCE)[0], expected, rtol=1e-4, atol=1e-5)
    with torch.inference_mode():
        ours = Engine(model, compute).model.encoder(SOURCE)[0]
    torch.testing.assert_close(ours, expected, rtol=near, atol=near)


def test_the_gradient_is_the_same_with_activations_computed_twice() -> None:
    (layer, _) = multi_unit_layers(build(with_whole_lanes(units=2), 13).train().encoder.layers)
    x, weight = torch.randn(1, 5, layer.norm.weight.numel()), layer.norm.weight
    gradients = []
    for way in (layer, partial(checkpoint, layer, use_reentrant=False)):
        layer.zero_grad()
        way(x, whole(5)).square().sum().backward()
        gradients.append(weight.grad)
    torch.testing.assert_close(*gradients)


@torch.no_grad()
def test_training_may_go_step_by_step() -> None:
    model = build(with_whole_lanes(), 13).train()
    memory, mask = model.encoder(SOURCE)
    cache = model.decoder.start()
    steps = [model.decoder(word, memory, mask, cache) for word in TARGET.split(1, dim=1)]
    torch.testing.assert_close(torch.cat(steps, 1), model.decoder(TARGET, memory, mask))


@needs_kernels
def test_its_shapes_are_known_without_its_numbers() -> None:
    def learned(*shape: int) -> Tensor:
        return torch.randn(shape, requires_grad=True)

    square, wide = (torch.ones(2, 1, 1, keys, dtype=torch.bool) for keys in (3, 5))
    across = (learned(1, 2, 3, 32), learned(1, 2, 5, 64), 2, wide, None)
    within = (learned(1, 2, 3, 96), None, 2, square, learned(2, 1, 5, 16))
    for inputs in (across, within):
        torch.library.opcheck(torch.ops.mute.attention.default, inputs)


@pytest.mark.parametrize("shared", ["none", "attention", "ffn"])
def test_training_computes_what_evaluation_does(shared: str) -> None:
    for model in (
        double(small(units=3, shared=shared, sequential=True)),
        build(with_whole_lanes(units=3, shared=shared, sequential=True), 13),
    ):
        expected = model.eval()(SOURCE, TARGET)
        torch.testing.assert_close(model.train()(SOURCE, TARGET), expected, rtol=1e-4, atol=1e-5)
