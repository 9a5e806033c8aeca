from types import SimpleNamespace
from typing import Any, cast

from mute.config import DataConfig, TrainConfig
from mute.result import translate_and_score
from mute.translate.translation import Translation

TEXT = {"source": "a.en", "target": "a.de"}
DATA = DataConfig.model_validate(
    {"source": "en", "target": "de", "prepared": "x", "train": [TEXT], "dev": TEXT}
)


def test_a_translation_is_one_line_whatever_a_model_thinks_of() -> None:
    texts = ["Ein Hund\nrennt.", "Zwei Katzen."]
    made = [Translation(text, 0.0, [], []) for text in texts]
    translator = cast("Any", SimpleNamespace(translate=lambda *_: made))
    references = [["Ein Hund rennt.", "Zwei Katzen."]]
    lines, score = translate_and_score(translator, ["", ""], references, DATA, TrainConfig(run="x"))
    assert lines == references[0]
    assert score.value > 99
