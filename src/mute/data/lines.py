r"""Reading text by lines, plain, .gz or .xz, from a file or standard input.

A line ends at "\n", with or without a "\r" before it, and nowhere else: U+2028, U+0085 and their
like stand inside sentences, and a reader that breaks lines at them shifts one side against the
other. Nothing is held but the current line, however long the file is.
"""

import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from enum import Enum
from pathlib import Path
from typing import BinaryIO, Literal, cast

from mute.data.xz import XzReader
from mute.errors import MuteError

MAX_LINE = 1 << 20
"""Bytes. A longer line is no sentence, and is skipped without being held in memory."""

FROM_LATIN1 = "`iconv -f LATIN1 -t UTF-8` converts a file that is in Latin-1"

_GZIP, _XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
_PACKED_OTHERWISE = {
    "bzip2": re.compile(rb"BZh[1-9]1AY&SY"),
    "zip": re.compile(rb"PK\x03\x04"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
_BEGINNING = 1 << 12
"""Bytes that are looked at to tell what a file is."""
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Mark(Enum):
    """What stands for a line that is not there to be read."""

    TOO_LONG = "a line beyond MAX_LINE"


Line = bytes | Literal[Mark.TOO_LONG]


def tidy(text: str) -> str:
    """The text with control characters, NUL and tab among them, turned into spaces.

    No sentence has them on purpose, files get them by accident, and whitespace is what most of
    them stood for.
    """
    return _CONTROL.sub(" ", text)


def read_text(source: Path | BinaryIO) -> Iterator[str]:
    """The lines of a text of which none may be left out, decoded.

    Raises:
        MuteError: as `read_lines`, and where a line is not UTF-8 or does not end.
    """
    for number, line in enumerate(read_lines(source), 1):
        if line is Mark.TOO_LONG:
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


def read_lines(source: Path | BinaryIO) -> Iterator[Line]:
    """The lines of a file or of standard input, without their ends and a byte order mark.

    Raises:
        MuteError: the file is UTF-16, or cannot be read to its end.
    """
    number = 0
    try:
        with _open(source) as stream:
            _check_beginning(stream, source)
            for number, line in enumerate(_split(stream, source), 1):
                if number == 1 and line is not Mark.TOO_LONG:
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


def _split(stream: BinaryIO, source: Path | BinaryIO) -> Iterator[Line]:
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
            yield Mark.TOO_LONG  # first, since the rest may never end
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
