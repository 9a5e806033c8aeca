"""What the page makes of pieces and texts, in the browser that runs it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.integration.page.browser import launched, needs_chromium
from tests.integration.page.stub import serving

pytestmark = needs_chromium
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def words() -> Iterator[Call]:
    """Call a function of the page's words.js."""
    script = "async ([name, given]) => (await import('./static/words.js'))[name](...given)"
    with serving() as (address, _), launched() as browser:
        page = browser.new_page()
        page.goto(address)
        yield lambda name, *given: page.evaluate(script, [name, list(given)])


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["▁Two", "▁hou", "ses", ".", "</s>"], ["Two", "houses", ".", "‹end›"]),
        (["Two", "hou@@", "ses", ".", "</s>"], ["Two", "houses", ".", "‹end›"]),
        (["<unk>", "▁dog"], ["‹unknown›", "dog"]),
        (["▁这", "是", "房子", "。"], ["这", "是", "房子", "。"]),
        (["▁caf", "<0xC3>", "<0xA9>", "▁", "open"], ["café", "open"]),
    ],
)
def test_pieces_become_the_words_they_spell(
    words: Call, tokens: list[str], expected: list[str]
) -> None:
    assert [word["text"] for word in words("groupWords", tokens)] == expected


def test_a_piece_inside_a_word_is_labelled_with_a_hyphen(words: Call) -> None:
    labels = words("pieceLabels", ["▁hou", "ses", ".", "</s>"])
    assert labels == ["hou", "-ses", ".", "‹end›"]


def test_the_attention_of_a_words_pieces_is_its_own(words: Call) -> None:
    aligned = words(
        "alignment",
        {
            "tokens": ["▁Häu", "ser"],
            "source_tokens": ["▁hou", "ses", "</s>"],
            "attention": [[0.5, 0.3, 0.2], [0.1, 0.9, 0.0], [0.0, 0.0, 1.0]],
        },
    )
    assert aligned["shares"] == [pytest.approx([0.9, 0.1])]


def test_a_piece_that_is_only_a_space_goes_with_the_word_behind_it(words: Call) -> None:
    aligned = words(
        "alignment",
        {
            "tokens": ["▁dog"],
            "source_tokens": ["▁", "小", "狗", "</s>"],
            "attention": [[0.3, 0.4, 0.2, 0.1], [0.0, 0.0, 0.0, 1.0]],
        },
    )
    assert aligned["shares"] == [pytest.approx([0.7, 0.2, 0.1])]


def test_attention_that_does_not_fit_the_pieces_is_not_guessed_at(words: Call) -> None:
    parts = {"tokens": ["▁a", "▁b"], "source_tokens": ["▁a", "</s>"], "attention": [[1.0, 0.0]] * 4}
    assert words("alignment", parts) is None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("A b.", "A b.", [("same", "A b.")]),
        ("A b c.", "A x c.", [("same", "A"), ("removed", " b"), ("added", " x"), ("same", " c.")]),
        ("b", "a b c", [("added", "a"), ("same", " b"), ("added", " c")]),
        ("小狗跑", "大狗跑", [("removed", "小"), ("added", "大"), ("same", "狗跑")]),
        ("", "a", [("added", "a")]),
        ("a b c", "x c", [("removed", "a b"), ("added", " x"), ("same", " c")]),
    ],
)
def test_a_difference_keeps_the_longest_common_words(
    words: Call, before: str, after: str, expected: list[tuple[str, str]]
) -> None:
    runs = words("difference", before, after)
    assert [(run["kind"], " " * run["spaced"] + run["text"]) for run in runs] == expected


def test_words_are_found_where_they_stand_in_the_text(words: Call) -> None:
    given = [{"text": "the"}, {"text": "&apos;"}, {"text": "the"}]
    assert words("locate", given, "the ' the") == [[0, 3], None, [6, 9]]
