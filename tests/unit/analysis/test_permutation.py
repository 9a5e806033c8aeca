import json
from pathlib import Path

import pytest
import torch

from mute.analysis.permutation import find_orders, read_course
from mute.analysis.weights import unit_weights
from mute.errors import MuteError
from mute.model.layer import MultiUnitLayer
from mute.model.transformer import Transformer
from tests.unit.model.oracle import double, small


def encoder(model: Transformer) -> list[MultiUnitLayer]:
    return [layer for layer in model.encoder.layers if isinstance(layer, MultiUnitLayer)]


def test_the_weights_are_alpha_and_what_multiplies_each_unit() -> None:
    model = double(small(units=3, sequential=True))
    for layer, weights in zip(encoder(model), unit_weights(encoder(model)), strict=True):
        alpha, matrix = layer.fusion.alpha.tolist(), layer.fusion.get_parameter("matrix").tolist()
        by_place = [sum(alpha[i] / (i + 1) for i in range(j, 3)) for j in range(3)]
        assert weights.alpha == alpha
        expected = [sum(row[j] * by_place[j] for j in range(3)) for row in matrix]
        assert weights.effective == pytest.approx(expected)


def test_an_order_on_its_way_and_one_that_is_found() -> None:
    model = double(small(units=3, sequential=True))
    matrix = encoder(model)[0].fusion.get_parameter("matrix")
    matrix.data.copy_(torch.tensor([[0.1, 0.9, 0], [0, 0.1, 0.9], [0.9, 0, 0.1]]))
    order = find_orders(encoder(model))[0]
    assert order.units == [2, 0, 1]
    assert order.deviation == pytest.approx(0.1)
    assert order.penalty == pytest.approx(6 * (1 - 0.82**0.5))
    assert not order.is_permutation
    model.round_()
    for order in find_orders(encoder(model)):
        assert order.is_permutation
        assert order.penalty == 0
        assert all(order.matrix[unit][place] == 1 for place, unit in enumerate(order.units))


def test_a_fixed_order_is_the_identity_and_not_learned() -> None:
    model = double(small(units=3, sequential=True, order="fixed"))
    for order in find_orders(encoder(model)):
        assert order.units == [0, 1, 2]
        assert order.matrix == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        assert (order.penalty, order.deviation, order.learned) == (0, 0, False)


def test_units_without_an_order_have_none() -> None:
    assert find_orders(encoder(double(small(units=3)))) == []


def record(step: int, first: float) -> dict[str, object]:
    alpha = [[first, 0.5], [0.2, 0.3], [1.0]]
    return {
        "kind": "units",
        "step": step,
        "alpha": alpha,
        "coefficients": alpha,
        "penalty": [first, 0.1, 0.0],
    }


def test_the_course_is_read_from_the_log(tmp_path: Path) -> None:
    records = [record(5, 0.9), {"kind": "train", "step": 7, "loss": 3.0}, record(10, 0.7)]
    lines = [json.dumps(each) for each in records]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    course = read_course(tmp_path, slice(2))
    assert course is not None
    assert course.steps == [5, 10]
    assert course.effective == [[[0.9, 0.5], [0.2, 0.3]], [[0.7, 0.5], [0.2, 0.3]]]
    assert course.penalty == [[0.9, 0.1], [0.7, 0.1]]
    decoder = read_course(tmp_path, slice(2, None))
    assert decoder is not None
    assert decoder.alpha == [[[1.0]], [[1.0]]]


def test_without_records_there_is_no_course(tmp_path: Path) -> None:
    assert read_course(tmp_path, slice(2)) is None
    (tmp_path / "log.jsonl").write_text('{"kind": "train", "step": 7, "loss": 3.0}\n')
    assert read_course(tmp_path, slice(2)) is None


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps(record(5, 0.9)) + '\n{"kind": "uni\n')
    with pytest.raises(MuteError, match=r"log.jsonl:2: not a record of a training run"):
        read_course(tmp_path, slice(2))
