from pathlib import Path

import pytest
import torch

from mute.model.fusion import LearnedOrder
from mute.model.layer import multi_unit_layers
from mute.model.transformer import build
from mute.studies import figures, measures
from mute.studies.definitions import find_study
from mute.studies.measures import Trained, _mean_weights, _ordered, measure
from tests.unit.model.oracle import small


def test_the_weights_of_several_models_are_averaged_one_by_one() -> None:
    models = [build(small(units=2), vocab_size=13) for _ in range(3)]
    mean = _mean_weights(models)
    assert mean.keys() == dict(models[0].named_parameters()).keys()
    for name, value in mean.items():
        theirs = [dict(model.named_parameters())[name] for model in models]
        torch.testing.assert_close(value, sum(theirs) / 3)


def test_a_trained_model_gets_the_order_that_is_to_be_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = {"units": 2, "sequential": True}  # whose own order is not what is asked for
    model = build(small(units=3, sequential=True, decoder=pair), vocab_size=13)
    monkeypatch.setattr(measures, "load_model", lambda _: (model, None, 9))
    monkeypatch.setattr(measures, "Translator", lambda *parts: parts)
    _ordered(Path("run"), (2, 0, 1))
    fusions = [layer.fusion for layer in multi_unit_layers(model.encoder.layers)]
    learned = [fusion for fusion in fusions if isinstance(fusion, LearnedOrder)]
    assert len(learned) == 2
    assert all(fusion.order() == [2, 0, 1] for fusion in learned)


@pytest.mark.parametrize("drawable", [True, False])
def test_without_matplotlib_no_attention_is_drawn_nor_taken_for_drawn(
    drawable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(figures, "can_draw", lambda: drawable)
    monkeypatch.setitem(measures.MEASURES, "attention", lambda *_: None)
    told: list[str] = []
    measure(Trained(find_study("case"), "toy", {}), told.append)
    assert [each.split(";")[0] for each in told] == (
        [] if drawable else ["not drawn: attention, which needs matplotlib"]
    )
    assert Path("results/case/toy/measures.json").is_file() is drawable
