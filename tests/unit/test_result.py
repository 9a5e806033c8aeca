import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mute.config import DataConfig, TokenizerConfig, TrainConfig
from mute.result import curve_of, translate_and_score
from mute.translate.translation import Translation

TEXT = {"source": "a.en", "target": "a.de"}
DATA = DataConfig.model_validate(
    {"source": "en", "target": "de", "prepared": "x", "train": [TEXT], "dev": TEXT}
)


def test_a_loss_that_was_not_finite_is_left_out_of_the_curve(tmp_path: Path) -> None:
    records = [
        *({"kind": "train", "step": step, "loss": loss} for step, loss in ((1, 3.0), (50, None))),
        {"kind": "validation", "step": 60, "loss": 2.0, "bleu": 7.0},
        {"kind": "train", "step": 100, "loss": None},
        {"kind": "validation", "step": 120, "loss": 1.5, "bleu": 9.0},
    ]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    assert [point["train_loss"] for point in curve_of(tmp_path)] == [3.0, None]


def translator_of(*texts: str) -> Any:
    """One that says these, whatever it is asked."""
    made = [Translation(text, 0.0, [], []) for text in texts]
    return SimpleNamespace(translate=lambda *_: made)


def test_a_translation_is_one_line_whatever_a_model_thinks_of() -> None:
    translator = translator_of("Ein Hund\nrennt.", "Zwei Katzen.")
    references = [["Ein Hund rennt.", "Zwei Katzen."]]
    lines, score = translate_and_score(translator, ["", ""], references, DATA, TrainConfig(run="x"))
    assert lines == references[0]
    assert score.value > 99


def test_tokens_are_scored_with_normalised_punctuation_on_both_sides() -> None:
    """As the text was that the model has learned from: it cannot write other quotation marks."""
    translator = translator_of('Er sagte: "Gut so" - und ging.')
    references = [["Er sagte: „Gut so“ – und ging."]]
    by_moses = DATA.model_copy(update={"tokenizer": TokenizerConfig(kind="moses-bpe")})
    scores = {}
    for scored_as in ("tokens", "text"):
        data = by_moses.model_copy(update={"scored_as": scored_as})
        made = translate_and_score(translator, [""], references, data, TrainConfig(run="x"))
        assert made[0] == ['Er sagte: "Gut so" - und ging.'], "what a reader sees stays"
        scores[scored_as] = made[1]
    assert scores["tokens"].value == pytest.approx(100)
    assert scores["text"].value < 50
    assert "tok:moses" in scores["tokens"].signature
    assert "tok:13a" in scores["text"].signature
