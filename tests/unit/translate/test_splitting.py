from collections.abc import Callable
from zlib import crc32

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mute.translate.splitting import split_line

Count = Callable[[str], int]

ACCENTED, FAMILY, HEART, THUMB = "a\u0323\u0302", "👩\u200d👩\u200d👧", "❤\ufe0f", "👍🏽"
CHARACTERS = [*"abz 。，.,!?…:—“”\"'()我是\t", "  ", "\u3000", ACCENTED, FAMILY, HEART, THUMB, "ก็"]


def words(text: str) -> int:
    return len(text.split())


def in_bytes(text: str) -> int:
    return len(text.encode())


def with_a_mark_for_the_beginning(text: str) -> int:
    """As SentencePiece, which puts a space before every text: together is less than apart."""
    return 1 + len(text) // 2


def growing(text: str) -> int:
    """Together is more than apart."""
    return len(text) + len(text) ** 2 // 20


def erratic(text: str) -> int:
    """No tokenizer is so bad, but nothing may rely on a longer text having more pieces."""
    return crc32(text.encode()) % 7


COUNTS: list[Count] = [
    words,
    len,
    in_bytes,
    with_a_mark_for_the_beginning,
    growing,
    erratic,
]
lines = st.lists(st.sampled_from(CHARACTERS), max_size=80)
limits = st.integers(1, 20)


def places(text: str, parts: list[str]) -> list[tuple[int, int]]:
    """Where the parts lie; fails if anything but white space lies between them."""
    if parts == [text]:
        return [(0, len(text))]
    found, place = [], 0
    for part in parts:
        place = len(text) - len(text[place:].lstrip())
        assert text.startswith(part, place)
        found.append((place, place + len(part)))
        place += len(part)
    assert not text[place:].strip()
    return found


@given(lines, limits, st.sampled_from(COUNTS))
def test_nothing_but_space_at_the_breaks_is_lost(
    characters: list[str], limit: int, count: Count
) -> None:
    text = "".join(characters)
    parts = split_line(text, limit, count)
    assert parts
    places(text, parts)


@given(st.text(), limits)
def test_nothing_is_lost_of_any_text_whatever(text: str, limit: int) -> None:
    parts = split_line(text, limit, len)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(parts) or parts == [""]


@given(lines, limits, st.sampled_from(COUNTS))
def test_every_part_fits_unless_it_is_a_single_character(
    characters: list[str], limit: int, count: Count
) -> None:
    for part in split_line("".join(characters), limit, count):
        assert count(part) <= limit or part in CHARACTERS


@given(lines, limits, st.sampled_from(COUNTS))
def test_a_composed_character_is_never_broken(
    characters: list[str], limit: int, count: Count
) -> None:
    text = "".join(characters)
    borders = {len("".join(characters[:number])) for number in range(len(characters) + 1)}
    for start, end in places(text, split_line(text, limit, count)):
        # Two spaces are one entry of the alphabet, and may be broken.
        assert start in borders or text[start - 1].isspace()
        assert end in borders or text[end].isspace()


@given(lines, limits, st.sampled_from(COUNTS))
@example([" ", "a", " "], 5, words)
def test_a_text_that_fits_is_untouched(characters: list[str], limit: int, count: Count) -> None:
    text = "".join(characters)
    if count(text) <= limit:
        assert split_line(text, limit, count) == [text]


ENGLISH = (
    'He asked: "Who is there?" Nobody answered. The house, old and dark, was empty; '
    "it had been so for about 3.5 years (or more)."
)


@pytest.mark.parametrize(
    ("limit", "parts"),
    [
        (
            12,
            [
                'He asked: "Who is there?" Nobody answered.',
                "The house, old and dark, was empty;",
                "it had been so for about 3.5 years (or more).",
            ],
        ),
        (
            5,
            [
                'He asked: "Who is there?"',
                "Nobody answered.",
                "The house, old and dark,",
                "was empty;",
                "it had been so for",
                "about 3.5 years (or more).",
            ],
        ),
    ],
)
def test_english_breaks_at_sentences_then_clauses_then_spaces(limit: int, parts: list[str]) -> None:
    assert split_line(ENGLISH, limit, words) == parts


CHINESE = "他问：“谁在那里？”没有人回答。那座房子，又旧又黑，已经空了三年多了！"


@pytest.mark.parametrize(
    ("limit", "parts"),
    [
        (20, ["他问：“谁在那里？”没有人回答。", "那座房子，又旧又黑，已经空了三年多了！"]),
        (
            10,
            [
                "他问：“谁在那里？”",
                "没有人回答。",
                "那座房子，又旧又黑，",
                "已经空了三年多了！",
            ],
        ),
        (
            7,
            [
                "他问：",
                "“谁在那里？”",
                "没有人回答。",
                "那座房子，",
                "又旧又黑，",
                "已经空了三年多",
                "了！",
            ],
        ),
    ],
)
def test_chinese_breaks_without_spaces(limit: int, parts: list[str]) -> None:
    assert split_line(CHINESE, limit, len) == parts


def test_numbers_are_no_clause_ends() -> None:
    text = "at 10:30 some 1,000,000 of 3.5 came, saw, left"
    assert split_line(text, 7, words) == ["at 10:30 some 1,000,000 of 3.5 came,", "saw, left"]


def test_a_small_rest_is_evened_out() -> None:
    parts = split_line(" ".join(["word"] * 21), 10, words)
    assert [words(part) for part in parts] == [10, 6, 5]


def test_a_long_word_is_broken_between_characters() -> None:
    assert split_line("an " + "x" * 30, 12, len) == ["an", "x" * 12, "x" * 12, "x" * 6]


def test_characters_that_do_not_fit_stand_alone() -> None:
    assert split_line(f"a{FAMILY}我b", 2, in_bytes) == ["a", FAMILY, "我", "b"]


def test_a_heap_of_accents_does_not_become_one_endless_part() -> None:
    parts = split_line("a" + "\u0301" * 1000, 10, len)
    assert max(map(len, parts)) <= 32


@pytest.mark.parametrize("text", ["   ", "\u3000" * 9])
def test_a_long_blank_text_is_one_empty_part(text: str) -> None:
    assert split_line(text, 2, len) == [""]


MEGABYTE = 1_000_000
SENTENCE = "It was late, and nobody in the old house was awake when the clock struck. "
LONG = {
    "sentences": SENTENCE,
    "one sentence": SENTENCE.replace(".", ","),
    "no punctuation": "word after word ",
    "one word": "x",
    "Chinese": "我们今天去北京，明天回来。",
    "Chinese without marks": "我们",
    "dots": ".",
    "quotes": '."',
    "all dashes": "—",
    "short and long sentences": "Yes. No. " * 5 + "word after word " * 500 + ". ",
    "spaces": " " * 5000 + "x",
    "accents": "\u0301",
}


@pytest.mark.parametrize("name", LONG)
def test_the_work_on_a_long_line_grows_with_its_length_only(name: str) -> None:
    text = LONG[name] * (MEGABYTE // len(LONG[name]))
    calls: list[int] = []

    def counted(part: str) -> int:
        calls.append(len(part))
        return with_a_mark_for_the_beginning(part)

    parts = split_line(text, 100, counted)
    assert sum(calls) < 12 * len(text)
    assert len(calls) < 12 * len(parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
