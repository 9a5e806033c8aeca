import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from mute.config import DataConfig, TrainConfig
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


def test_a_translation_is_one_line_whatever_a_model_thinks_of() -> None:
    texts = ["Ein Hund\nrennt.", "Zwei Katzen."]
    made = [Translation(text, 0.0, [], []) for text in texts]
    translator = cast("Any", SimpleNamespace(translate=lambda *_: made))
    references = [["Ein Hund rennt.", "Zwei Katzen."]]
    lines, score = translate_and_score(translator, ["", ""], references, DATA, TrainConfig(run="x"))
    assert lines == references[0]
    assert score.value > 99
