"""Parallel text: two files or one TSV become a stream of pairs."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from mute.config import ParallelText
from mute.data.lines import FROM_LATIN1, Line, Mark, read_lines, tidy
from mute.data.places import locate
from mute.errors import MuteError

Reason = Literal["not UTF-8", "no tab", "empty side", "too long", "length ratio", "duplicate"]
"""Why a pair of the training text is left out; of a pair that is there twice, the second copy is a
duplicate whatever else it is."""

_STRAY_LINES, _STRAY_SHARE = 10, 0.01
"""So many lines of a file, or such a share, may be in another encoding, and are left out."""


class Pair(NamedTuple):
    """A sentence and its translation, stripped of surrounding space."""

    line: int
    source: str
    target: str


class Flaw(NamedTuple):
    """A line that holds no usable pair."""

    line: int
    reason: Reason
    file: str


_Row = tuple[Line, Line] | None
"""A line of each side; None for a TSV's line that has no tab."""


def file_names(text: ParallelText) -> tuple[str, ...]:
    """The files of a text as the config names them: the source and the targets, or the TSV."""
    targets = [text.target] if isinstance(text.target, str) else text.target or []
    return tuple(name for name in (text.tsv, text.source, *targets) if name is not None)


def side_names(text: ParallelText) -> tuple[str, str]:
    """The file of the source and that of the target, the first of several; a TSV is both."""
    names = file_names(text)
    return names[0], names[min(1, len(names) - 1)]


def told(names: tuple[str, str]) -> str:
    """The names of two sides for people: 'a.en and a.de', or one file that is both once."""
    return " and ".join(dict.fromkeys(names))


def read_pairs(text: ParallelText) -> Iterator[Pair | Flaw]:
    """Every line of a parallel text, in order: a pair, or what is wrong with it.

    Of several references, the first is the target.

    Raises:
        MuteError: a file is missing, damaged or in another encoding than UTF-8, or the two sides
            differ in length.
    """
    names = side_names(text)
    source, target = (locate(name) for name in names)
    rows: Iterator[_Row] = _columns(source) if text.tsv is not None else _rows(source, target)
    yield from _mostly_utf8(_check(number, row, names) for number, row in enumerate(rows, 1))


def sides_with_tabs(text: ParallelText) -> list[str]:
    """The files for one side of which most lines have a tab, as far as the first thousand tell."""
    if text.tsv is not None:
        return []
    return [name for name in dict.fromkeys(file_names(text)) if _has_tabs(locate(name))]


def _has_tabs(file: Path) -> bool:
    lines = [line for line in islice(read_lines(file), 1000) if line is not Mark.TOO_LONG]
    return 2 * sum(b"\t" in line for line in lines) > len(lines)


def _mostly_utf8(pairs: Iterator[Pair | Flaw]) -> Iterator[Pair | Flaw]:
    """The same pairs; raises at their end if too many lines were not UTF-8 for an accident."""
    lines, first, count = 0, dict[str, int](), Counter[str]()
    for pair in pairs:
        lines += 1
        if isinstance(pair, Flaw) and pair.reason == "not UTF-8":
            first.setdefault(pair.file, pair.line)
            count[pair.file] += 1
        yield pair
    for file, line in first.items():
        if count[file] > max(_STRAY_LINES, _STRAY_SHARE * lines):
            raise MuteError(
                f"{file}:{line}: not UTF-8, like {count[file]:,} of {lines:,} lines in all; the "
                f"file seems to have another encoding: {FROM_LATIN1}"
            )


def _check(number: int, row: _Row, files: tuple[str, str]) -> Pair | Flaw:
    if row is None:
        return Flaw(number, "no tab", files[0])
    sides = []
    for line, file in zip(row, files, strict=True):
        if line is Mark.TOO_LONG:
            return Flaw(number, "too long", file)
        try:
            sides.append(tidy(line.decode()).strip())
        except UnicodeDecodeError:
            return Flaw(number, "not UTF-8", file)
        if not sides[-1]:
            return Flaw(number, "empty side", file)
    return Pair(number, *sides)


def _rows(source: Path, target: Path) -> Iterator[tuple[Line, Line]]:
    lines = read_lines(source), read_lines(target)
    for count, (left, right) in enumerate(zip_longest(*lines)):
        if left is None or right is None:
            more = 1 + sum(1 for rest in lines for _ in rest)
            counts = (count, count + more) if left is None else (count + more, count)
            raise MuteError(
                f"{source} has {counts[0]:,} lines, but {target} has {counts[1]:,}; the two "
                f"sides of a parallel text need a line each for every pair"
            )
        yield left, right


def _columns(tsv: Path) -> Iterator[_Row]:
    for line in read_lines(tsv):
        if line is Mark.TOO_LONG:
            yield line, line
        elif b"\t" not in line:
            yield None
        else:
            source, target, *_ = line.split(b"\t", 2)
            yield source, target
