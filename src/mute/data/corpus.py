r"""Reading parallel text: two files or one TSV, plain, .gz or .xz, become a stream of pairs.

A line ends at "\n", with or without a "\r" before it, and nowhere else: U+2028, U+0085 and their
like stand inside sentences, and a reader that breaks lines at them shifts one side against the
other. Nothing is held but the current line, however long the files are.
"""

import gzip
import io
import lzma
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from enum import Enum
from itertools import islice, zip_longest
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, cast

from mute.config import ParallelText
from mute.data.known_corpora import can_be_downloaded
from mute.data.xz import XzReader
from mute.errors import MuteError

Reason = Literal["not UTF-8", "no tab", "empty side", "too long", "length ratio", "duplicate"]
"""Why a pair of the training text is left out; of a pair that is there twice, the second copy is a
duplicate whatever else it is."""

MAX_LINE = 1 << 20
"""Bytes. A longer line is no sentence, and is skipped without being held in memory."""

FROM_LATIN1 = "`iconv -f LATIN1 -t UTF-8` converts a file that is in Latin-1"

_GZIP, _XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
_PACKED_OTHERWISE = {
    "bzip2": re.compile(rb"BZh[1-9]1AY&SY"),
    "zip": re.compile(rb"PK\x03\x04"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
_SGML = {".sgm", ".sgml", ".xml"}
_BEGINNING = 1 << 12
"""Bytes that are looked at to tell what a file is."""
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_STRAY_LINES, _STRAY_SHARE = 10, 0.01
"""So many lines of a file, or such a share, may be in another encoding, and are left out."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


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


class _Mark(Enum):
    TOO_LONG = "a line beyond MAX_LINE"
    END = "the file has no more lines"


_Line = bytes | Literal[_Mark.TOO_LONG]
_Row = tuple[_Line, _Line] | None
"""A line of each side; None for a TSV's line that has no tab."""


def tidy(text: str) -> str:
    """The text with control characters, NUL and tab among them, turned into spaces.

    No sentence has them on purpose, files get them by accident, and whitespace is what most of
    them stood for.
    """
    return _CONTROL.sub(" ", text)


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


def data_folder() -> Path:
    """Where corpora are kept: the environment variable MUTE_DATA.

    Raises:
        MuteError: it is in the home of somebody who is not known.
    """
    name = os.environ.get("MUTE_DATA") or "../shared/data"
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise MuteError(f"MUTE_DATA: {name}: {error}; correct it") from None


def is_sgml(path: Path) -> bool:
    """Whether a file, by its name, has sentences between tags instead of in lines."""
    kinds = [suffix.lower() for suffix in path.suffixes if suffix not in (".gz", ".xz")]
    return bool(_SGML & set(kinds[-1:]))


def refuse_sgml(path: Path) -> None:
    """Where lines are wanted.

    Raises:
        MuteError: it is such a file.
    """
    if is_sgml(path):
        raise MuteError(f"{path}: SGML; write its sentences to a file of their own, one per line")


def locate(name: str) -> Path:
    """Find a file in the working directory, then in the data folder.

    Raises:
        MuteError: it is in neither, and the message names both places, or it is a folder, or SGML.
    """
    refuse_sgml(Path(name))
    folder = data_folder()
    try:
        path = Path(name).expanduser()
        places = [path] if path.is_absolute() else [path, folder / path]
        for place in places:
            if place.is_file():
                return place
        there = next((place.resolve() for place in places if place.exists()), None)
        tried = " nor ".join(str(place.resolve()) for place in places)
    except (OSError, ValueError, RuntimeError) as error:  # may not be entered, odd, no such ~user
        raise MuteError(f"{name!r}: cannot be looked for ({error}); correct the path") from None
    if there is not None:
        kind = "is a folder" if there.is_dir() else "is no regular file, and text is read twice"
        raise MuteError(f"{name}: {there} {kind}; name a file of text")
    download = "; `mute prepare --download` gets it there" if can_be_downloaded(name) else ""
    raise MuteError(
        f"{name}: there is no {tried}; correct the path, or set the environment variable "
        f"MUTE_DATA to the folder your data is in{download}"
    )


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
    lines = [line for line in islice(read_lines(file), 1000) if line is not _Mark.TOO_LONG]
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
        if line is _Mark.TOO_LONG:
            return Flaw(number, "too long", file)
        try:
            sides.append(tidy(line.decode()).strip())
        except UnicodeDecodeError:
            return Flaw(number, "not UTF-8", file)
        if not sides[-1]:
            return Flaw(number, "empty side", file)
    return Pair(number, *sides)


def _rows(source: Path, target: Path) -> Iterator[tuple[_Line, _Line]]:
    lines = read_lines(source), read_lines(target)
    for count, (left, right) in enumerate(zip_longest(*lines, fillvalue=_Mark.END)):
        if left is _Mark.END or right is _Mark.END:
            more = 1 + sum(1 for rest in lines for _ in rest)
            counts = (count, count + more) if left is _Mark.END else (count + more, count)
            raise MuteError(
                f"{source} has {counts[0]:,} lines, but {target} has {counts[1]:,}; the two "
                f"sides of a parallel text need a line each for every pair"
            )
        yield left, right


def _columns(tsv: Path) -> Iterator[_Row]:
    for line in read_lines(tsv):
        if line is _Mark.TOO_LONG:
            yield line, line
        elif b"\t" not in line:
            yield None
        else:
            source, target, *_ = line.split(b"\t", 2)
            yield source, target


def read_text(source: Path | BinaryIO) -> Iterator[str]:
    """The lines of a text of which none may be left out, decoded.

    Raises:
        MuteError: as `read_lines`, and where a line is not UTF-8 or does not end.
    """
    for number, line in enumerate(read_lines(source), 1):
        if line is _Mark.TOO_LONG:
            raise MuteError(
                f"{name_of(source)}:{number}: does not end within {MAX_LINE:,} bytes; break the "
                f"line, if this is text at all"
            )
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise MuteError(
                f"{name_of(source)}:{number}: not UTF-8 at byte {error.start}; {FROM_LATIN1}"
            ) from None
        yield text


def name_of(source: Path | BinaryIO) -> str:
    """What messages call it."""
    return str(source) if isinstance(source, Path) else "standard input"


def read_lines(source: Path | BinaryIO) -> Iterator[_Line]:
    """The lines of a file or of standard input, without their ends and a byte order mark.

    Raises:
        MuteError: the file is UTF-16, or cannot be read to its end.
    """
    number = 0
    try:
        with _open(source) as stream:
            _check_beginning(stream, source)
            for number, line in enumerate(_split(stream, source), 1):
                if number == 1 and line is not _Mark.TOO_LONG:
                    line = line.removeprefix(_BOM)  # noqa: PLW2901 (a mark is no part of it)
                yield line
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise MuteError(
            f"{name_of(source)}: damaged or cut short after line {number:,} ({error}); get the "
            f"file again"
        ) from None
    except OSError as error:
        raise MuteError(f"{name_of(source)}: cannot be read ({error.strerror})") from None


def _check_beginning(stream: BinaryIO, source: Path | BinaryIO) -> None:
    """Refuse UTF-16, and text whose lines end with CR alone: it would be one endless line."""
    first = stream.peek(_BEGINNING) if isinstance(stream, io.BufferedReader) else b""
    # Without its mark, UTF-16 of European languages still has a NUL for every letter.
    if first.startswith(_UTF16) or first.count(0) > len(first) / 4:
        raise MuteError(
            f"{name_of(source)}: UTF-16, but text has to be UTF-8; convert it by "
            f"`iconv -f UTF-16 -t UTF-8`"
        )
    if b"\n" not in first and first.count(b"\r") > 1:
        raise _ends_with_cr(source)


def _ends_with_cr(source: Path | BinaryIO) -> MuteError:
    return MuteError(
        f"{name_of(source)}: its lines end with CR alone; convert it by `tr '\\r' '\\n'`"
    )


def _split(stream: BinaryIO, source: Path | BinaryIO) -> Iterator[_Line]:
    ended = False  # any line before
    while line := stream.readline(MAX_LINE):
        if line.endswith(b"\n"):
            ended = True
            yield line[:-1].removesuffix(b"\r")
        elif len(line) < MAX_LINE:
            if not ended and b"\r" in line[:-1]:
                raise _ends_with_cr(source)
            yield line  # the last one, without an end
        else:
            yield _Mark.TOO_LONG  # first, since the rest may never end
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
            ended = True


@contextmanager
def _open(source: Path | BinaryIO) -> Iterator[BinaryIO]:
    """The bytes of a text, unpacked if they are packed, whatever the file is called."""
    with source.open("rb") if isinstance(source, Path) else nullcontext(source) as file:
        first = file.peek(_BEGINNING) if isinstance(file, io.BufferedReader) else b""
        for kind, beginning in _PACKED_OTHERWISE.items():
            if beginning.match(first):
                raise MuteError(
                    f"{name_of(source)}: packed by {kind}; unpack it, or pack it as .gz or .xz"
                )
        if first.startswith(_GZIP):
            with gzip.open(file) as unpacked:
                yield cast("BinaryIO", io.BufferedReader(unpacked))
        elif first.startswith(_XZ):
            yield io.BufferedReader(XzReader(file))
        elif isinstance(source, Path) and source.suffix in (".gz", ".xz"):
            kind = "empty" if not first else "not packed, in spite of its name"
            raise MuteError(f"{source}: {kind}; get the file again, or rename it")
        else:
            yield file
