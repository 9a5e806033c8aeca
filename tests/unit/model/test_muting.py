from typing import Any

import numpy as np
import pytest
import torch

from mute.errors import MuteError
from mute.model.fusion import fuse
from mute.model.layer import MultiUnitLayer
from mute.model.muting import keep_units, renormalised
from tests.unit.model.oracle import double, small, whole

X = torch.randn(1, 5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def test_a_muted_layer_sums_the_units_that_are_kept() -> None:
    model = double(small(units=3, sequential=True)).eval()
    layer = model.encoder.layers[0]
    assert isinstance(layer, MultiUnitLayer)
    outputs = layer.units(layer.norm(X)[None], X, whole(5))
    c = layer.fusion().detach()
    keep_units(model, [0, 2])
    scale = c.sum() / (c[0] + c[2])
    expected = fuse(torch.stack([c[0], c[0] * 0, c[2]]) * scale, outputs)
    torch.testing.assert_close(layer(X, whole(5)), expected)


def test_keeping_all_units_changes_nothing() -> None:
    model = double(small(units=3, sequential=True)).eval()
    source = torch.tensor([[5, 6, 7, 3]])
    before = model(source, source)
    keep_units(model, [0, 1, 2])
    torch.testing.assert_close(model(source, source), before)


def test_one_layer_only() -> None:
    model = double(small(units=3)).eval()
    first, second = (layer.fusion().clone() for layer in list(model.multi_unit_layers())[:2])
    keep_units(model, {1: [2]})
    layers = list(model.multi_unit_layers())
    assert torch.equal(layers[0].fusion(), first)
    torch.testing.assert_close(layers[1].fusion()[2], second.sum())
    assert not layers[1].fusion()[:2].any()


def test_the_residual_keeps_its_weight() -> None:
    c = torch.tensor([0.5, 0.2, 0.4, 0.1])
    kept = renormalised(c, [1, 3])
    torch.testing.assert_close(kept, torch.tensor([0, 0.8, 0, 0.4]))


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([0.5, -0.5, 1.0], [0.5, 0.5, 0.0]),
        ([0.5, -0.49, 0.99], [0.5, 0.5, 0.0]),
        ([0.49, -0.5, 1.01], [0.5, 0.5, 0.0]),
        ([-0.1, -0.2, 1.3], [0.5, 0.5, 0.0]),
        ([0.5, 0.4, -1.9], [-0.5, -0.5, 0.0]),
        ([0.0, 0.0, 1.0], [0.5, 0.5, 0.0]),
    ],
    ids=["exactly", "nearly", "below 0", "other sign", "negative sum", "nothing left"],
)
def test_weights_that_cannot_be_scaled_count_alike(
    weights: list[float], expected: list[float]
) -> None:
    kept = renormalised(torch.tensor(weights), [0, 1])
    torch.testing.assert_close(kept, torch.tensor(expected))


def test_a_negative_weight_that_leaves_a_sum_is_scaled() -> None:
    kept = renormalised(torch.tensor([0.6, -0.1, 0.5]), [0, 1])
    torch.testing.assert_close(kept, torch.tensor([1.2, -0.2, 0]))


@pytest.mark.parametrize(
    "weights", [[1.0, -1.0, 0.0], [0.5, 0.5, -1.0], [0.1, 0.2, -0.3], [0.0, 0.0, 0.0]]
)
def test_without_a_sum_the_kept_weights_stay(weights: list[float]) -> None:
    kept = renormalised(torch.tensor(weights), [0, 1])
    assert torch.equal(kept, torch.tensor([*weights[:2], 0.0]))
    assert torch.equal(renormalised(torch.tensor(weights), [0, 1, 2]), torch.tensor(weights))


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ([0, 3], "encoder layer 0 has no unit 3, only 0 to 2"),
        ([-1], "encoder layer 0 has no unit -1, only 0 to 2"),
        ([], "encoder layer 0 would have none left; keep at least one"),
        ({2: [0]}, "there is no encoder layer 2, only 0 to 1"),
    ],
)
def test_what_is_not_there_is_named(kept: list[int] | dict[int, list[int]], message: str) -> None:
    with pytest.raises(MuteError, match=message):
        keep_units(double(small(units=3)), kept)


@pytest.mark.parametrize(
    "kept", ["0,2", ["0"], 0, {0: 1}, {"0": [1]}, {0: "1"}, [True, False, True]], ids=repr
)
def test_units_that_are_no_numbers_are_told_how_to_write_them(kept: Any) -> None:
    with pytest.raises(MuteError) as caught:
        keep_units(double(small(units=3)), kept)
    assert str(caught.value) == (
        f"units {kept!r}: should be a list of numbers, as in [0, 2], or lists by the layer, as in "
        "{0: [0, 2]}"
    )


def test_any_collection_of_numbers_is_one_of_units() -> None:
    for kept in ([0, 2], (0, 2), range(0, 3, 2), {0, 2}, np.array([0, 2])):
        model = double(small(units=3))
        keep_units(model, kept)  # type: ignore[arg-type]
        left = [layer.fusion().nonzero().flatten().tolist() for layer in model.multi_unit_layers()]
        assert left[:2] == [[0, 2], [0, 2]]


def test_units_that_are_muted_cannot_be_kept() -> None:
    model = double(small(units=3)).eval()
    keep_units(model, [0])
    with pytest.raises(MuteError, match="layer 0: those to keep are muted already"):
        keep_units(model, [1, 2])
