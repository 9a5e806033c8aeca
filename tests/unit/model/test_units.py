from pathlib import Path

import pytest
import torch
from torch import Tensor

from mute.config import ModelConfig, UnitsConfig
from mute.errors import MuteError
from mute.model.attention import SelfAttention
from mute.model.context import Context
from mute.model.convolution import WIDTH, Convolution
from mute.model.layer import MultiUnitLayer
from mute.model.parameters import parameters_by_part
from mute.model.transformer import build
from mute.model.units import Units, register_unit
from tests.unit.model.oracle import (
    cross_attention,
    double,
    feed_forward,
    member,
    norm,
    self_attention,
    small,
    whole,
)


def first_units(config: ModelConfig) -> Units:
    layer = next(double(config).multi_unit_layers())
    return layer.units


@pytest.mark.parametrize("shared", ["none", "attention", "ffn"])
@pytest.mark.parametrize("relative", [0, 2])
@pytest.mark.parametrize("same_view", [True, False])
def test_units_equal_the_papers_equations(shared: str, relative: int, same_view: bool) -> None:
    units = first_units(small(units=3, shared=shared, relative_positions=relative))
    x = torch.randn(1, 5, 8, dtype=torch.float64)
    seen = torch.randn(1 if same_view else 3, 1, 5, 8, dtype=torch.float64)

    outputs = units(seen, x, whole(5))

    assert outputs.shape == (3, 1, 5, 8)
    assert isinstance(units.mixer, SelfAttention)
    for unit in range(3):
        s = self_attention(units.mixer, unit, member(seen, unit)[0]) + x[0]
        expected = s + feed_forward(units.feedforward, unit, s)
        torch.testing.assert_close(outputs[unit, 0], expected)


def test_decoder_units_equal_the_papers_equations() -> None:
    config = small(decoder={"units": 3})
    layer = double(config).decoder.layers[0]
    assert isinstance(layer, MultiUnitLayer)
    units = layer.units
    memory = torch.randn(1, 4, 8, dtype=torch.float64)
    x = torch.randn(1, 1, 8, dtype=torch.float64)
    everything = torch.ones(1, 1, 1, 4, dtype=torch.bool)
    one = torch.ones(1, 1, dtype=torch.bool)

    outputs = units(x[None], x, Context(one, one[None, None], None, memory, everything))

    assert isinstance(units.mixer, SelfAttention)
    assert units.cross is not None
    assert units.cross_norm is not None
    for unit in range(3):
        s = self_attention(units.mixer, unit, x[0]) + x[0]
        normal = norm(s, units.cross_norm.weight[unit], units.cross_norm.bias[unit])
        c = cross_attention(units.cross, unit, normal, memory[0]) + s
        expected = c + feed_forward(units.feedforward, unit, c)
        torch.testing.assert_close(outputs[unit, 0], expected)


def test_what_is_shared_is_stored_once() -> None:
    ffn = first_units(small(units=3, shared="ffn"))
    assert ffn.feedforward.expand.weight.size(0) == 1
    attention = first_units(small(units=3, shared="attention"))
    assert all(parameter.size(0) == 1 for parameter in attention.mixer.parameters())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("members", [1, 3])
def test_convolution_equals_a_loop(causal: bool, members: int) -> None:
    mixer = Convolution(members, d=4, causal=causal).double()
    seen = torch.randn(3, 1, 9, 4, dtype=torch.float64)

    outputs = mixer(seen, whole(9))

    left = WIDTH - 1 if causal else WIDTH // 2
    for unit in range(3):
        weight, bias = member(mixer.input.weight, unit), member(mixer.input.bias, unit)
        value, gate = (seen[unit, 0] @ weight.T + bias).split(4, dim=-1)
        gated = value * torch.sigmoid(gate)
        kernel = member(mixer.kernel, unit)
        for i in range(9):
            inside = [t for t in range(WIDTH) if 0 <= i + t - left < 9]
            mixed = torch.stack([kernel[:, t] * gated[i + t - left] for t in inside]).sum(0)
            out = mixed @ member(mixer.output.weight, unit).T + member(mixer.output.bias, unit)
            torch.testing.assert_close(outputs[unit, 0, i], out)


def test_another_kind_of_unit_plugs_in_by_its_name() -> None:
    @register_unit("constant")
    class Constant(Units):
        def __init__(self, model: ModelConfig, units: UnitsConfig, *, decoder: bool) -> None:
            super().__init__(model, units, decoder=decoder)
            self.constant = torch.nn.Parameter(torch.ones(7))

        def forward(
            self, seen: Tensor, x: Tensor, context: Context, cache: object = None
        ) -> Tensor:
            return torch.ones(3, *x.shape)

    model = build(small(units=3, unit="constant"), vocab_size=13)
    model.encoder.norm = torch.nn.Identity()  # type: ignore[assignment]
    memory, _ = model.encoder(torch.tensor([[5, 6]]))
    torch.testing.assert_close(memory, torch.ones(1, 2, 8))  # three thirds
    layers = len(model.encoder.layers)
    assert parameters_by_part(model.config, 13)["encoder units"] == layers * 7


def test_an_unknown_kind_is_told_with_the_known_ones() -> None:
    with pytest.raises(MuteError, match=r"no unit called 'atention'; known kinds: attention, con"):
        build(small(unit="atention"), vocab_size=13)


def test_a_units_config_alone_describes_the_plain_transformer() -> None:
    plain = UnitsConfig()
    assert (plain.units, plain.bias, plain.sequential) == (1, (), False)


def test_units_of_ones_own_are_found_in_the_modules_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_units.py").write_text(
        "from mute.model.units import ConvolutionUnits, register_unit\n"
        "register_unit('mine')(type('Mine', (ConvolutionUnits,), {}))\n"
    )
    (tmp_path / "broken_units.py").write_text("1 / 0\n")
    (tmp_path / "hidden_units.py").write_text(
        "from mute.model.units import Units, register_unit\n"
        "register_unit('attention')(type('Mine', (Units,), {}))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("MUTE_PLUGINS", raising=False)
    with pytest.raises(MuteError, match=r"no unit called 'mine'.* MUTE_PLUGINS names the module"):
        build(small(unit="mine"), 13)
    monkeypatch.setenv("MUTE_PLUGINS", "broken_units")
    with pytest.raises(MuteError, match=r"broken_units cannot be imported \(division by zero\)"):
        build(small(unit="mine"), 13)
    monkeypatch.setenv("MUTE_PLUGINS", "hidden_units")
    with pytest.raises(MuteError, match=r"hidden_units: there is a unit called 'attention' alr"):
        build(small(), 13)
    monkeypatch.setenv("MUTE_PLUGINS", "my_units,")
    assert type(first_units(small(unit="mine"))).__name__ == "Mine"
