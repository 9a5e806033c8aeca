"""A layer in one call must compute what its parts do."""

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from mute.bench.work import count_work
from mute.errors import NotFiniteError
from mute.model.bank import BankLinear
from mute.model.kernels import widths
from mute.model.layer import MultiUnitLayer, multi_unit_layers
from mute.model.transformer import Transformer
from mute.translate import compiled, engine
from mute.translate.compiled import CompiledLayer
from mute.translate.engine import Compute, Engine
from mute.translate.int8 import has_wide_sums
from mute.translate.search import log_sum_exp
from mute.translate.tree import FIRST_ROOM
from tests.machines import needs_int8, needs_kernels
from tests.unit.model.oracle import double, small
from tests.unit.translate.test_engine import SOURCE, assert_alike, plain

pytestmark = needs_kernels

STEPS, LAYERS = FIRST_ROOM + 4, 2


def model(**settings: object) -> Transformer:
    """In double precision, of a shape that the kernels take."""
    return double(small(**{"d_model": 32, "d_ffn": 80, **settings})).eval()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of translations in each call of a compiled layer."""
    made: list[int] = []

    def counted(layer: CompiledLayer, x: Tensor, *more: Tensor) -> Tensor:
        made.append(x.size(0) * x.size(1))
        return step(layer, x, *more)  # type: ignore[arg-type]

    step = CompiledLayer.step
    monkeypatch.setattr(CompiledLayer, "step", counted)
    return made


@pytest.mark.parametrize("lanes", widths())
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("d_model", [32, 96, 160])
@pytest.mark.parametrize(
    "settings",
    [{}, {"relative_positions": 0}, {"sinusoidal_positions": False}, {"units": 3}],
    ids=str,
)
@torch.inference_mode()
def test_it_decodes_as_the_model_does(
    settings: dict[str, object],
    d_model: int,
    threads: int,
    lanes: int,
    calls: list[int],
    use_lanes: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = model(**settings, d_model=d_model)
    use_lanes(lanes)
    monkeypatch.setattr(compiled, "threads_for", lambda parts, _: min(threads, parts))
    ours = Engine(copy.deepcopy(whole).float()).start(SOURCE, 3)
    assert_alike(ours, plain(whole, 3), 1e-3)
    assert len(calls) == LAYERS * STEPS
    assert set(calls) == {9, 6, 3}  # rows that fill tiles, and rows that do not


class RoundedInputs(BankLinear):
    """Every row of the input to one of 255 numbers."""

    def forward(self, x: Tensor) -> Tensor:
        step = x.abs().amax(-1, keepdim=True) / 127
        return super().forward((x / step).round() * step)


@pytest.mark.parametrize("inputs", ["as they are", "rounded"])
@pytest.mark.parametrize("lanes", widths())
@torch.inference_mode()
def test_8_bits_give_what_the_rounded_model_does(
    lanes: int,
    inputs: str,
    calls: list[int],
    use_lanes: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rounds = inputs == "rounded"
    if rounds and lanes == 16 and not has_wide_sums():
        pytest.skip("this CPU has no VNNI")
    whole = model(d_model=96)
    for layer in multi_unit_layers(whole.decoder.layers):
        for part in compiled._linears(layer.units).values():
            scale = part.weight.abs().amax(-1, keepdim=True) / 127
            part.weight.copy_((part.weight / scale).round() * scale)

    def narrow(layer: MultiUnitLayer, **_: bool) -> CompiledLayer:
        return CompiledLayer(layer, narrow=True)

    use_lanes(lanes)
    monkeypatch.setattr(compiled, "rounds_inputs", lambda: rounds)
    monkeypatch.setattr(engine, "CompiledLayer", narrow)
    ours = Engine(copy.deepcopy(whole).float()).start(SOURCE, 3)
    if rounds:
        for layer in multi_unit_layers(whole.decoder.layers):
            for part in compiled._linears(layer.units).values():
                part.__class__ = RoundedInputs
    # A number that lies between two steps may be rounded either way, which is soon seen.
    assert_alike(ours, plain(whole, 3), 0.05 if rounds else 1e-3)
    assert len(calls) == LAYERS * STEPS


@pytest.mark.parametrize("compute", ["float32", pytest.param("int8", marks=needs_int8)])
@torch.inference_mode()
def test_damaged_weights_stay_seen(compute: Compute) -> None:
    whole = model(d_model=64).float()
    layer, *_ = multi_unit_layers(whole.decoder.layers)
    layer.units.feedforward.expand.bias[0, 3] = torch.nan
    decoding = Engine(whole, compute).start(SOURCE, 2)
    with pytest.raises(NotFiniteError):
        log_sum_exp(decoding.step(torch.full((3, 2), 7)))


@needs_int8
@torch.inference_mode()
def test_int8_stays_near_float32(calls: list[int]) -> None:
    whole = model(d_model=64)
    narrow, words = Engine(copy.deepcopy(whole).float(), "int8"), torch.full((3, 2), 7)
    found, expected = narrow.start(SOURCE, 2).step(words), plain(whole, 2).step(words)
    assert calls == [6] * LAYERS
    apart = (found.double() - expected).norm() / expected.norm()
    assert 0 < apart < 0.03


@torch.inference_mode()
def test_it_takes_over_when_few_translations_are_left(
    calls: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = model()
    shaped = Engine(copy.deepcopy(whole).float()).compiled[0]
    assert shaped is not None
    monkeypatch.setattr(compiled, "_MOST_FLOATS", 6 * shaped._weights)
    assert_alike(Engine(copy.deepcopy(whole).float()).start(SOURCE, 3), plain(whole, 3), 1e-3)
    assert set(calls) == {6, 3}


@pytest.mark.parametrize(
    "settings",
    [
        {"decoder": {"units": 2}},
        {"d_ffn": 36 + 2},
        {"d_model": 12},
        {"decoder": {"unit": "convolution"}},
    ],
    ids=str,
)
@torch.inference_mode()
def test_what_it_cannot_do_is_left_to_others(settings: dict[str, object], calls: list[int]) -> None:
    whole = model(**settings)
    assert_alike(Engine(copy.deepcopy(whole).float()).start(SOURCE, 3), plain(whole, 3), 1e-3)
    assert not calls


@torch.inference_mode()
def test_its_work_is_counted_as_that_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = model().float().requires_grad_(requires_grad=False)

    def work() -> int:
        decoding, words = Engine(whole).start(SOURCE, 3), torch.full((3, 3), 7)
        step: Callable[[Tensor], Tensor] = decoding.step
        return count_work(step, words) + count_work(step, words)

    in_one_call = work()
    monkeypatch.setattr(engine, "can_be_compiled", lambda _: False)
    assert in_one_call == work() > 0
