"""Lines that are longer than a model takes: split where it hurts least, and joined again.

Sentence ends are the best places, then clause ends, then spaces, and inside a word or a run of
Chinese any two characters. A worse place serves only within what has no better one.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple
from unicodedata import category

_CLOSING = r"""["'”’»«›‹)\]}）］｝」』】〕〉》〗]*+"""
# A run of marks is tried from its beginning only, or a line of dots would cost its square.
_SENTENCE_END = re.compile(
    rf"(?:(?<![.!?…؟])[.!?…؟]++{_CLOSING}(?=\s)|[。！？｡।॥۔።။។]++{_CLOSING})\s*+"
)
_CLAUSE_END = re.compile(
    rf"(?:(?<![,;:–،؛])[,;:–،؛]++{_CLOSING}(?=\s)|[，；：、､—…]++{_CLOSING})\s*+"
)
_SPACE = re.compile(r"\s++")

_JOINER = "\u200d"
_EXTENDING = "\u200c\u200d\uff9e\uff9f"  # joiners, and the voiced marks of narrow katakana
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_TAGS = range(0xE0020, 0xE0080)
_LONGEST_CHARACTER = 32
"""Code points. No script stacks more on one base, and what does must not grow for ever."""


class _Group(NamedTuple):
    """What lies between two breaks."""

    start: int
    """Which break."""
    end: int
    fits: bool


def split_line(text: str, limit: int, count: Callable[[str], int]) -> list[str]:
    """The parts of a text, each of at most `limit` pieces, as few as its best breaks allow.

    Only a single character may have more pieces, and is then a part of its own. The parts one
    after the other are the text, but for white space at their ends. A text that fits stays as
    it is.

    Args:
        text: a line of any length
        limit: at least 1
        count: how many pieces the tokenizer makes of a text; asked for a small multiple of the
            text in all
    """
    pieces = count(text)
    if pieces <= limit:
        return [text]
    typical = len(text) * limit // pieces
    return _split(text.strip(), lambda part: count(part) <= limit, typical, 0) or [""]


def _split(text: str, fits: Callable[[str], bool], typical: int, level: int) -> list[str]:
    """Split at the breaks of a level, and what is too long between them at those of the next.

    Args:
        text: what does not fit
        fits: whether a part does
        typical: about how many characters do
        level: an index of `_BREAKS`
    """
    breaks = [0, *_BREAKS[level](text), len(text)]
    lowest = level == len(_BREAKS) - 1
    if len(breaks) == 2 and not lowest:
        return _split(text, fits, typical, level + 1)

    def between(start: int, end: int) -> str:
        return text[breaks[start] : breaks[end]].strip()

    def fit(start: int, end: int) -> bool:
        return fits(between(start, end))

    parts: list[str] = []
    for group in _even_out(_pack(breaks, fit, typical), breaks, fit):
        part = between(group.start, group.end)
        parts += [part] if group.fits or lowest else _split(part, fits, typical, level + 1)
    return [part for part in parts if part]


def _pack(breaks: Sequence[int], fit: Callable[[int, int], bool], typical: int) -> list[_Group]:
    """Groups as large as fit, and by itself what does not fit between one break and the next."""
    groups: list[_Group] = []
    start, last = 0, len(breaks) - 1
    while start < last:
        guess = bisect_right(breaks, breaks[start] + typical) - 1
        end = _furthest(partial(fit, start), start, last, guess)
        groups.append(_Group(start, max(end, start + 1), fits=end > start))
        if end > start:
            typical = breaks[end] - breaks[start]  # the density of a text changes slowly
        start = groups[-1].end
    return groups


def _furthest(fits: Callable[[int], bool], start: int, last: int, guess: int) -> int:
    """The furthest of the places after `start` up to `last` that fits; `start` if none does.

    Steps away from the guess that double until they go too far, then halves: few questions if
    the guess is good, and never many more than the logarithm of the distance.
    """
    low, high = start, last + 1  # what fits, and what does not
    place, step = max(guess, start + 1), 1
    while high - low > 1:
        if fits(place):
            low, place = place, place + step
        else:
            high, place = place, place - step
        step *= 2
        if not low < place < high:
            place = (low + high) // 2
    return low


def _even_out(
    groups: list[_Group], breaks: Sequence[int], fit: Callable[[int, int], bool]
) -> list[_Group]:
    """The groups, but the last two of like length if the last is a small rest of the other."""
    if len(groups) < 2 or not (groups[-2].fits and groups[-1].fits):
        return groups
    (start, middle, _), (_, end, _) = groups[-2:]
    if 4 * (breaks[end] - breaks[middle]) > breaks[middle] - breaks[start]:
        return groups
    half = bisect_right(breaks, (breaks[start] + breaks[end]) // 2)
    if half >= middle or not (fit(start, half) and fit(half, end)):
        return groups
    return [*groups[:-2], _Group(start, half, fits=True), _Group(half, end, fits=True)]


def _breaks_after(pattern: re.Pattern[str], text: str) -> list[int]:
    ends = (match.end() for match in pattern.finditer(text))
    return [end for end in ends if end < len(text) and not _continues(text, end)]


def _breaks_between_characters(text: str) -> list[int]:
    breaks = [0]
    for place in range(1, len(text)):
        if not _continues(text, place) or place - breaks[-1] == _LONGEST_CHARACTER:
            breaks.append(place)
    return breaks[1:]


def _continues(text: str, place: int) -> bool:
    """Whether a code point belongs to the character before it."""
    point = text[place]
    return (
        category(point).startswith("M")  # accents, vowel signs, variation selectors
        or point in _EXTENDING
        or text[place - 1] == _JOINER
        or ord(point) in _SKIN_TONES
        or ord(point) in _TAGS
    )


_BREAKS: tuple[Callable[[str], list[int]], ...] = (
    partial(_breaks_after, _SENTENCE_END),
    partial(_breaks_after, _CLAUSE_END),
    partial(_breaks_after, _SPACE),
    _breaks_between_characters,
)
"""The levels: each finds the places inside a text that its kind of break is at, best first."""
