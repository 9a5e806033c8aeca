import pytest
import torch
from torch import nn

from mute.config import ModelConfig
from mute.model.attention import SelfAttention
from mute.model.bias import Bias
from mute.model.fusion import SequentialFusion
from mute.model.layer import MultiUnitLayer
from mute.model.transformer import build
from tests.unit.model.oracle import (
    accumulate,
    double,
    feed_forward,
    norm,
    self_attention,
    small,
    whole,
)

FULL = {"units": 4, "bias": ["identity", "swap", "disorder", "mask"], "sequential": True}


def first_layer(config: ModelConfig) -> MultiUnitLayer:
    return next(double(config).multi_unit_layers())


@pytest.mark.parametrize("order", ["learned", "fixed"])
def test_the_sequentially_biased_layer_equals_the_paper_step_by_step(order: str) -> None:
    layer = first_layer(small(**FULL, order=order, sample_rate=1.0))
    x = torch.randn(1, 6, 8, dtype=torch.float64)
    seen: list[torch.Tensor] = []
    layer.bias.register_forward_hook(lambda _, __, views: seen.append(views))

    out = layer(x, whole(6))

    normal = norm(x, layer.norm.weight, layer.norm.bias)
    torch.testing.assert_close(seen[0][0], normal)  # the bias acts on what the norm gives
    assert isinstance(layer.units.mixer, SelfAttention)
    outputs = []
    for unit in range(4):
        s = self_attention(layer.units.mixer, unit, seen[0][unit, 0]) + x[0]
        outputs.append(s + feed_forward(layer.units.feedforward, unit, s))
    assert isinstance(layer.fusion, SequentialFusion)
    expected = accumulate(layer.fusion.alpha, layer.fusion.matrix, outputs)
    torch.testing.assert_close(out[0], expected)


@pytest.mark.parametrize("shared", ["none", "attention", "ffn"])
def test_units_that_read_the_same_equal_units_that_read_copies(shared: str) -> None:
    layer = first_layer(small(units=3, shared=shared))
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    context = whole(5)
    once = layer(x, context)

    class Copies(Bias):
        def forward(self, x: torch.Tensor, context: object) -> torch.Tensor:
            return x.expand(3, -1, -1, -1)

    layer.bias = Copies((), 3, 8, 0.0)
    torch.testing.assert_close(layer(x, context), once)


def torch_layer(layer: MultiUnitLayer, config: ModelConfig) -> nn.TransformerEncoderLayer:
    """PyTorch's own pre-norm layer with the weights of our only unit."""
    peer = nn.TransformerEncoderLayer(
        config.d_model, config.heads, config.d_ffn, 0.0, norm_first=True, batch_first=True
    ).double()
    units = layer.units
    attention, ffn = units.mixer, units.feedforward
    assert isinstance(attention, SelfAttention)
    state = {
        "self_attn.in_proj_weight": attention.input.weight[0],
        "self_attn.in_proj_bias": attention.input.bias[0],
        "self_attn.out_proj.weight": attention.output.weight[0],
        "self_attn.out_proj.bias": attention.output.bias[0],
        "linear1.weight": ffn.expand.weight[0],
        "linear1.bias": ffn.expand.bias[0],
        "linear2.weight": ffn.contract.weight[0],
        "linear2.bias": ffn.contract.bias[0],
        "norm1.weight": layer.norm.weight,
        "norm1.bias": layer.norm.bias,
        "norm2.weight": ffn.norm.weight[0],
        "norm2.bias": ffn.norm.bias[0],
    }
    peer.load_state_dict(state)
    return peer


def test_one_identity_unit_is_pytorchs_plain_layer() -> None:
    config = small(units=1, bias=["identity"], relative_positions=0)
    layer = first_layer(config)
    x = torch.randn(3, 6, 8, dtype=torch.float64)
    real = torch.tensor([6, 4, 1])[:, None] > torch.arange(6)
    context = whole(6).__class__(real, real[:, None, None])

    ours = layer(x, context)
    theirs = torch_layer(layer, config)(x, src_key_padding_mask=~real)

    torch.testing.assert_close(ours[real], theirs[real])


@pytest.mark.parametrize("sequential", [False, True])
def test_equal_units_with_equal_weights_are_one_unit(sequential: bool) -> None:
    single = first_layer(small())
    many = first_layer(small(units=4, sequential=sequential))
    with torch.no_grad():
        for name, parameter in single.named_parameters():
            if "fusion" not in name:
                many.get_parameter(name).copy_(parameter.expand_as(many.get_parameter(name)))
        many.fusion.alpha.fill_(1 / 4)
        for _ in range(100):  # to a doubly stochastic M, as a permutation is
            many.fusion.project_()
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    torch.testing.assert_close(many(x, whole(5)), single(x, whole(5)))


def test_drop_branch_keeps_the_residual_and_the_expectation() -> None:
    layer = first_layer(small(units=3, drop_branch=0.4))
    x = torch.randn(1, 4, 8, dtype=torch.float64)
    full = layer.eval()(x, whole(4))
    layer.train()
    runs = torch.stack([layer(x, whole(4)) for _ in range(4000)])
    torch.testing.assert_close(runs.mean(0), full, atol=0.35, rtol=0)
    nothing = layer.fusion().sum() * x  # all three units left out
    dropped = (runs - nothing).abs().amax((1, 2, 3)) < 1e-9
    assert abs(dropped.double().mean() - 0.4**3) < 0.02


def test_bias_and_drop_branch_leave_evaluation_alone() -> None:
    config = small(**FULL, drop_branch=0.5)
    layer = first_layer(config).eval()
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    assert torch.equal(layer(x, whole(5)), layer(x, whole(5)))


class Copies(nn.Module):
    """Units that do nothing."""

    def forward(self, seen: torch.Tensor, x: torch.Tensor, *_: object) -> torch.Tensor:
        """As many times x as there are units: (I, B, L, d)."""
        return x.expand_as(seen)


class Products(nn.Module):
    """Units that end in a product, without a residual path."""

    def forward(self, seen: torch.Tensor, *_: object) -> torch.Tensor:
        """(U, B, L, d) → (U, B, L, d)."""
        return seen @ torch.ones(8, 8)


def test_in_mixed_precision_a_unit_may_end_in_a_product(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = next(build(small(units=1), vocab_size=13).eval().multi_unit_layers())
    monkeypatch.setattr(layer, "units", Products())
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(torch.randn(1, 6, 8), whole(6)).dtype == torch.float32


@pytest.mark.parametrize("settings", [{"units": 1}, {"units": 4}, FULL])
def test_mixed_precision_leaves_the_residual_stream_alone(
    settings: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = next(build(small(**settings), vocab_size=13).eval().multi_unit_layers())
    monkeypatch.setattr(layer, "units", Copies())
    x = torch.randn(1, 6, 8)
    plain = layer(x, whole(6))
    with torch.autocast("cpu", torch.bfloat16):
        mixed = layer(x, whole(6))
    assert mixed.dtype == torch.float32
    assert torch.equal(mixed, plain)
