import pytest
import torch

from mute.errors import MuteError
from mute.model.proximal import start_from_single_unit
from mute.model.transformer import build
from mute.model.units import _KINDS, Units
from tests.unit.model.oracle import double, small

SOURCE = torch.tensor([[5, 6, 7, 3], [4, 3, 0, 0]])
TARGET = torch.tensor([[2, 7, 8], [2, 6, 0]])


@pytest.mark.parametrize(
    "settings",
    [
        {"units": 4},
        {"units": 4, "bias": ["identity", "swap", "mask"], "sequential": True},
        {"units": 3, "shared": "ffn"},
        {"units": 2, "decoder": {"units": 3, "sequential": True}},
    ],
)
def test_the_model_starts_as_the_single_unit_one(settings: dict[str, object]) -> None:
    single = double(small()).eval()
    model = build(small(**settings), vocab_size=13).double().eval()
    start_from_single_unit(model, single)
    # M starts doubly stochastic to the precision of float32, in which it is made.
    torch.testing.assert_close(model(SOURCE, TARGET), single(SOURCE, TARGET), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("setting", "its", "ours"),
    [
        ("d_ffn", 16, 32),
        ("relative_positions", 0, 2),
        # These have the same names and shapes, or share some of them.
        ("heads", 4, 2),
        ("sinusoidal_positions", False, True),
        ("share_embeddings", False, True),
        ("tie_output", False, True),
    ],
)
def test_models_that_differ_in_more_than_units_are_refused(
    setting: str, its: object, ours: object
) -> None:
    rest = {} if setting == "relative_positions" else {"relative_positions": 0}
    single = build(small(**rest, **{setting: its}), vocab_size=13)
    model = build(small(**rest, **{setting: ours}, units=4), vocab_size=13)
    with pytest.raises(MuteError, match=f"model.{setting} was {its}, is {ours}"):
        start_from_single_unit(model, single)


@pytest.mark.parametrize(
    "stack", [{"unit": "backwards"}, {"decoder": {"unit": "backwards"}}], ids=str
)
def test_another_kind_of_unit_is_refused_even_if_its_weights_would_fit(
    stack: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_KINDS, "backwards", Units)
    model = build(small(units=4, **stack), vocab_size=13)
    with pytest.raises(MuteError, match="unit was attention, is backwards"):
        start_from_single_unit(model, build(small(), vocab_size=13))


def test_a_mask_that_only_the_single_unit_has_seen_is_left_behind() -> None:
    single = double(small(bias=["mask"])).eval()
    model = build(small(units=2), vocab_size=13).double().eval()
    start_from_single_unit(model, single)
    torch.testing.assert_close(model(SOURCE, TARGET), single(SOURCE, TARGET), atol=1e-5, rtol=1e-5)


def test_dropout_may_differ_from_that_of_the_start() -> None:
    model = build(small(units=4, dropout=0.3), vocab_size=13)
    start_from_single_unit(model, build(small(dropout=0.1), vocab_size=13))


def test_models_of_different_vocabularies_are_refused() -> None:
    model = build(small(units=4), vocab_size=13)
    with pytest.raises(MuteError, match="see '"):
        start_from_single_unit(model, build(small(), vocab_size=14))


@pytest.mark.parametrize("several", [{"units": 2}, {"units": 4}, {"decoder": {"units": 2}}])
def test_a_model_of_several_units_is_no_start(several: dict[str, object]) -> None:
    model = build(small(units=4), vocab_size=13)
    with pytest.raises(MuteError, match="has several units in a layer itself"):
        start_from_single_unit(model, build(small(**several), vocab_size=13))


def test_a_model_with_parts_the_single_one_lacks_is_refused() -> None:
    model = build(small(units=4, relative_positions=2), vocab_size=13)
    with pytest.raises(MuteError, match="relative"):
        start_from_single_unit(model, build(small(relative_positions=0), vocab_size=13))
