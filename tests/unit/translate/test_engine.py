"""The engine must say what the model says, and nothing that was done for speed may show."""

import copy
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from mute.config import ModelConfig, UnitsConfig
from mute.errors import MuteError
from mute.model.bank import BankLinear
from mute.model.context import Context
from mute.model.kernels import widths
from mute.model.layer import multi_unit_layers
from mute.model.muting import keep_units
from mute.model.transformer import Transformer
from mute.model.units import _KINDS
from mute.translate import engine, lookup, tree
from mute.translate.decoding import Decoding, NarrowDecoding, PlainDecoding
from mute.translate.engine import Compute, Engine
from mute.translate.ensemble import EnsembleDecoding
from mute.translate.forced import cross_attention
from mute.translate.packed import PackedLinear
from mute.translate.replacing import Packed
from mute.translate.search import SearchOptions, beam_search
from mute.translate.tree import FIRST_ROOM, TreeDecoding
from tests.machines import needs_int8
from tests.unit.model.oracle import double, small

SOURCE = torch.tensor([[5, 6, 7, 8, 9, 3], [4, 10, 3, 0, 0, 0], [11, 12, 4, 3, 0, 0]])

SYSTEMS: list[dict[str, object]] = [
    {},
    {"relative_positions": 0},
    {"sinusoidal_positions": False},
    {"units": 3, "sequential": True},
    {"units": 3, "sequential": True, "order": "fixed"},
    {"units": 3, "shared": "ffn"},
    {"units": 3, "shared": "attention"},
    {"units": 2, "unit": "convolution"},
    {"decoder": {"units": 2}},
    {"decoder": {"units": 2}, "relative_positions": 0},
    {"decoder": {"units": 2, "shared": "attention"}},
    {"decoder": {"units": 2, "shared": "ffn", "sequential": True}},
    {"decoder": {"unit": "convolution"}},
]


def plain(model: Transformer, width: int) -> PlainDecoding:
    memory, mask = model.encoder(SOURCE)
    return PlainDecoding(model.decoder, model.output, memory, mask, width)


def assert_alike(ours: Decoding, oracle: Decoding, tolerance: float | None = None) -> None:
    """Beyond the first room, with translations that change places and sentences that leave."""
    generator = torch.Generator().manual_seed(1)
    sentences = len(SOURCE)
    for step in range(FIRST_ROOM + 4):
        words = torch.randint(4, 13, (sentences, 3), generator=generator)
        found, expected = ours.step(words).double(), oracle.step(words).double()
        torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)
        parents = torch.randint(0, 3, (sentences, 3), generator=generator)
        ours.select(parents)
        oracle.select(parents)
        if step in {5, 9}:
            sentences -= 1
            kept = torch.tensor([0, 2])[:sentences]
            ours.keep(kept)
            oracle.keep(kept)


@pytest.mark.parametrize("settings", SYSTEMS, ids=str)
@torch.inference_mode()
def test_it_decodes_as_the_model_does(settings: dict[str, object]) -> None:
    model = double(small(**settings)).eval()
    assert_alike(Engine(model).start(SOURCE, 3), plain(model, 3))


@pytest.mark.parametrize("lanes", widths())
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("d_model", [32, 96, 160])
@pytest.mark.parametrize(
    "settings", [each for each in SYSTEMS if "'unit'" not in str(each)], ids=str
)
@torch.inference_mode()
def test_the_compiled_attention_decodes_as_the_model_does(
    settings: dict[str, object],
    d_model: int,
    threads: int,
    lanes: int,
    use_lanes: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = double(small(**{**settings, "d_model": d_model})).eval()
    looks = []

    def counted(*arguments: Tensor) -> Tensor:
        looks.append(arguments)
        return lookup.looked_up(*arguments)

    use_lanes(lanes)
    monkeypatch.setattr(lookup, "threads_for", lambda sentences, _: min(threads, sentences))
    monkeypatch.setattr(tree, "looked_up", counted)
    monkeypatch.setattr(engine, "can_be_compiled", lambda _: False)  # whole layers, and not by it
    ours = Engine(copy.deepcopy(model).float()).start(SOURCE, 3)
    assert isinstance(ours, TreeDecoding)
    assert_alike(ours, plain(model, 3), 1e-3)
    assert len(looks) == 2 * len(ours.layers) * (FIRST_ROOM + 4)


@pytest.mark.parametrize("settings", [each for each in SYSTEMS if "units" in each], ids=str)
@torch.inference_mode()
def test_muted_units_are_those_of_the_muted_model(settings: dict[str, object]) -> None:
    model = double(small(**settings)).eval()
    whole, words = Engine(model), torch.full((3, 2), 7)
    before = whole.start(SOURCE, 2).step(words)
    muted = whole.with_units({1: [1]}).start(SOURCE, 2).step(words)
    torch.testing.assert_close(whole.start(SOURCE, 2).step(words), before, rtol=0, atol=0)
    keep_units(model, {1: [1]})
    torch.testing.assert_close(muted, plain(model, 2).step(words))
    assert not torch.equal(muted, before)


@pytest.mark.parametrize("compute", ["float32", pytest.param("int8", marks=needs_int8)])
def test_an_engine_with_muted_units_holds_no_weights_of_its_own(compute: Compute) -> None:
    engine = Engine(double(small(units=3)).float(), compute)
    packed = {id(module) for module in engine.model.modules() if isinstance(module, Packed)}
    muted = engine.with_units([0])
    assert {id(module) for module in muted.model.modules() if isinstance(module, Packed)} == packed
    shared = {id(weight) for weight in engine.model.parameters()}
    own = [weight for weight in muted.model.parameters() if id(weight) not in shared]
    assert [tuple(weight.shape) for weight in own] == [(3,)] * len(muted.model.encoder.layers)


@torch.inference_mode()
def test_only_kinds_of_units_it_does_not_know_take_the_plain_way() -> None:
    def kind(**settings: object) -> type:
        return type(Engine(double(small(**settings))).start(SOURCE, 2))

    assert kind() is TreeDecoding
    assert kind(decoder={"units": 2}) is TreeDecoding
    assert kind(decoder={"unit": "convolution"}) is PlainDecoding


@torch.inference_mode()
def test_the_model_itself_stays_as_it_is() -> None:
    model = double(small(units=2)).eval()
    before = model(SOURCE, SOURCE)
    kinds = [type(module) for module in model.modules()]
    engine = Engine(model)
    assert torch.equal(model(SOURCE, SOURCE), before)
    assert [type(module) for module in model.modules()] == kinds
    shared = {weight.data_ptr() for weight in model.parameters()}
    assert engine.model.decoder.norm.weight.data_ptr() in shared, "weights are not copied"


@torch.inference_mode()
def test_some_words_only() -> None:
    model = double(small()).eval()
    words = torch.tensor([0, 1, 2, 3, 5, 8, 11])
    allowed = torch.ones(3, len(words), dtype=torch.bool)
    allowed[1, 5] = False
    narrow = NarrowDecoding(Engine(model).start(SOURCE, 2, words), words, allowed)
    whole = Engine(model).start(SOURCE, 2)
    for kept in ([0, 1, 2], [1, 2]):
        for decoding in (narrow, whole):
            decoding.keep(torch.tensor(kept))
        chosen = torch.tensor([[4, 5], [6, 4], [3, 5]])[kept]
        expected = whole.step(words[chosen])[..., words]
        expected[kept.index(1), :, 5] = -torch.inf
        torch.testing.assert_close(narrow.step(chosen), expected)


@torch.inference_mode()
def test_an_ensemble_means_probabilities() -> None:
    models = [double(small()).eval(), double(small(units=2)).eval()]
    words = torch.full((3, 2), 7)
    together = EnsembleDecoding([Engine(model).start(SOURCE, 2) for model in models])
    each = torch.stack([Engine(m).start(SOURCE, 2).step(words).softmax(-1) for m in models])
    torch.testing.assert_close(together.step(words).exp(), each.mean(0))


@torch.inference_mode()
def test_an_ensemble_of_a_model_with_itself_is_that_model() -> None:
    model = double(small()).eval()

    def search(decoding: Decoding) -> list[list[list[int]]]:
        found = beam_search(decoding, SOURCE, SearchOptions(3, nbest=3))
        return [[h.ids for h in each] for each in found]

    alone = search(Engine(model).start(SOURCE, 3))
    twice = search(EnsembleDecoding([Engine(model).start(SOURCE, 3) for _ in range(2)]))
    assert twice == alone


@torch.inference_mode()
def test_damaged_weights_are_named() -> None:
    model = double(small()).eval()
    model.encoder.norm.weight[0] = torch.nan
    with pytest.raises(MuteError, match="NaN or infinity: its weights are damaged"):
        Engine(model).start(SOURCE, 2)


def test_another_way_to_compute_is_refused() -> None:
    with pytest.raises(MuteError, match="compute int4: should be float32 or int8"):
        Engine(double(small()), "int4")  # type: ignore[arg-type]


def spread(tensor: Tensor) -> float:
    return float(tensor.std())


@needs_int8
@pytest.mark.parametrize("settings", [{}, {"units": 3, "sequential": True}], ids=str)
@torch.inference_mode()
def test_int8_is_near_float32(settings: dict[str, object]) -> None:
    config = small(d_model=64, d_ffn=128, **settings)
    model = double(config, vocab_size=50).float().eval()
    for weight in model.parameters():
        if weight.dim() > 1:
            weight.mul_(0.2)
    exact, rounded = Engine(model), Engine(model, "int8")
    words = torch.full((3, 2), 7)
    expected, found = exact.start(SOURCE, 2).step(words), rounded.start(SOURCE, 2).step(words)
    assert not torch.equal(found, expected)
    assert spread(found - expected) < 0.05 * spread(expected)
    narrow = rounded.start(SOURCE, 2, torch.arange(0, 50, 2)).step(words)
    assert spread(narrow - expected[..., ::2]) < 0.05 * spread(expected)


def test_int8_where_it_is_not_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mute.translate.int8.survives", lambda _: False)
    with pytest.raises(MuteError, match="--compute int8: this machine cannot; use float32"):
        Engine(double(small()), "int8")


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="PyTorch without oneDNN")
@torch.inference_mode()
def test_packed_weights_multiply_as_plain_ones() -> None:
    model = double(small(units=3, sequential=True), vocab_size=50).float().eval()
    engine = Engine(model)
    assert any(isinstance(module, PackedLinear) for module in engine.model.modules())
    words = torch.full((3, 2), 7)
    expected = plain(model, 2).step(words)
    torch.testing.assert_close(engine.start(SOURCE, 2).step(words), expected, rtol=1e-4, atol=1e-4)


class Bare(nn.Module):
    """A unit of somebody's own, that has no part with a name of ours and reads its weights."""

    def __init__(self, model: ModelConfig, units: UnitsConfig, *, decoder: bool) -> None:
        super().__init__()
        self.inner = nn.ModuleList([nn.Linear(model.d_model, model.d_model)])
        self.bank = BankLinear(units.units, model.d_model, model.d_model)

    def forward(self, seen: Tensor, x: Tensor, _context: Context, _cache: object = None) -> Tensor:
        (inner,) = self.inner
        assert isinstance(inner, nn.Linear)
        return x + seen @ inner.weight + self.bank.weight.mean()


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Transformer:
    monkeypatch.setitem(_KINDS, "bare", Bare)
    settings = {"unit": "bare", "decoder": {"unit": "bare"}}
    return double(small(**settings), vocab_size=50).float().eval()


@torch.inference_mode()
def test_what_is_inside_of_others_units_is_left_as_it_is(bare: Transformer) -> None:
    words = torch.full((3, 2), 7)
    found, expected = Engine(bare).start(SOURCE, 2).step(words), plain(bare, 2).step(words)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


class Other(nn.Module):
    """What somebody put in the place of a part of ours."""

    def forward(self, x: Tensor) -> Tensor:
        return 2 * x


@torch.inference_mode()
def test_others_parts_in_our_units_are_called_as_they_are() -> None:
    model = double(small(), vocab_size=50).float().eval()
    first, second = multi_unit_layers(model.decoder.layers)
    first.units.feedforward = Other()  # type: ignore[assignment]
    assert isinstance(second.norm, nn.LayerNorm)
    second.norm.eps = 0.5
    words = torch.full((3, 2), 7)
    found, expected = Engine(model).start(SOURCE, 2).step(words), plain(model, 2).step(words)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_what_others_units_do_not_have_is_missed_in_words(bare: Transformer) -> None:
    with pytest.raises(MuteError, match="the decoder's Bare have no `cross`"):
        cross_attention([bare], SOURCE, SOURCE)


def test_a_first_step_does_not_wait_for_pytorchs_compiler() -> None:
    """Its import takes a second, half of what translating one line may take in all."""
    script = (
        "import sys, torch\n"
        "from mute.config import ModelConfig\n"
        "from mute.model.transformer import build\n"
        "from mute.translate.engine import Engine\n"
        "model = build(ModelConfig(d_model=32, d_ffn=32, heads=2), 13).eval()\n"
        "with torch.inference_mode():\n"
        "    Engine(model).start(torch.tensor([[5, 3]]), 2).step(torch.tensor([[2, 2]]))\n"
        "assert 'torch._dynamo' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
