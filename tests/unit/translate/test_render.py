import json

from mute.translate.render import as_json, as_nbest, as_text
from mute.translate.translation import Translation

SECOND = Translation("Ein Hund", -2.0, ["Ein", "Hund"], attention=[[1.0, 0.0]])
FIRST = Translation(
    "Der „Hund“",
    -1.25,
    ["Der", "Hund"],
    [SECOND],
    ["split"],
    ["The", "dog"],
    [[0.123456, 0.876544], [0.5, 0.5]],
)


def test_a_translation_stays_on_its_line_whatever_it_holds() -> None:
    """Byte fallback lets a model say a line feed."""
    assert as_text(Translation("one\ntwo\r\x00", 0.0)) == "one two  "
    assert as_nbest(3, Translation("one\ntwo", -0.5)) == "3 ||| one two ||| -0.5000"
    assert json.loads(as_json(Translation("one\ntwo", 0.0)))["text"] == "one\ntwo"
    assert "\n" not in as_json(Translation("one\ntwo", 0.0))


def test_alternatives_come_after_the_best() -> None:
    assert as_nbest(7, FIRST).split("\n") == [
        "7 ||| Der „Hund“ ||| -1.2500",
        "7 ||| Ein Hund ||| -2.0000",
    ]


def test_there_are_three_fields_whatever_the_text_has() -> None:
    line = as_nbest(1, Translation("a ||| b | c", -0.5))
    assert line.split(" ||| ") == ["1", "a &#124;&#124;&#124; b | c", "-0.5000"]


def test_json_is_readable_and_nests_once() -> None:
    shown = as_json(FIRST)
    assert "„Hund“" in shown
    assert json.loads(shown) == {
        "text": "Der „Hund“",
        "score": -1.25,
        "tokens": ["Der", "Hund"],
        "alternatives": [{"text": "Ein Hund", "score": -2.0, "tokens": ["Ein", "Hund"]}],
        "warnings": ["split"],
    }


def test_attention_is_shown_when_asked_for() -> None:
    shown = json.loads(as_json(FIRST, attention=True))
    assert shown["attention"] == [[0.1235, 0.8765], [0.5, 0.5]]
    assert shown["source_tokens"] == ["The", "dog"]
    assert shown["alternatives"][0]["attention"] == [[1.0, 0.0]]
    assert json.loads(as_json(Translation("", 0.0), attention=True))["attention"] is None
