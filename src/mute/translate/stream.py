"""A text of any length through some work, a block of lines at a time.

What the work is, this module does not know; what is read and written, the work does not.
"""

import gzip
import lzma
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice, zip_longest
from pathlib import Path
from typing import BinaryIO

from mute.data.lines import name_of, read_text
from mute.errors import MuteError, refusals_told

Row = tuple[str, ...]
"""A line of each column: of the text, and of the file beside it if there is one."""
Work = Callable[[int, list[Row]], list[str]]
"""The number of the first line, from 1, and the rows of a block → what to write for each."""
Watch = Callable[[int, int | None], None]
"""Is told how many lines are done, first those done before, and of how many if that is known."""


@dataclass(frozen=True)
class Job:
    """A text, and what is to be done with it.

    Args:
        columns: the text, and perhaps a second one that goes with it line by line
        work: what is done with a block
        lines_at_once: the size of a block
        watch: is told how far it is
    """

    columns: Sequence[Path | BinaryIO]
    work: Work
    lines_at_once: int
    watch: Watch

    @property
    def can_be_read_again(self) -> bool:
        """Whether the columns are files, not pipes or devices."""
        return all(isinstance(each, Path) and each.is_file() for each in self.columns)

    def rows(self) -> Iterator[Row]:
        """All rows.

        Raises:
            MuteError: a column cannot be read, or the columns differ in length.
        """
        columns = [read_text(each) for each in self.columns]
        for count, row in enumerate(zip_longest(*columns)):
            if None in row:
                counts = [
                    count + (line is not None) + sum(1 for _ in rest)
                    for line, rest in zip(row, columns, strict=True)
                ]
                first, second = map(name_of, self.columns)
                raise MuteError(
                    f"{first} has {counts[0]:,} lines, but {second} has {counts[1]:,}; give a line "
                    f"of each, if need be an empty one"
                )
            yield row

    def blocks(self, known: "Content | None" = None) -> Iterator[tuple[int, list[Row]]]:
        """The rows in blocks, each with the number of its first line.

        Args:
            known: what the columns held before, if they were read before

        Raises:
            MuteError: as `rows`, and at the first block that is not what they held then.
        """
        rows, seen = self.rows(), Content()
        while block := list(islice(rows, self.lines_at_once)):
            first = seen.lines + 1
            seen.add(block)
            number = len(seen.digests)
            # Before the work on it: whatever is kept of this run is of the text as it was.
            if known is not None and seen.digests[-1:] != known.digests[number - 1 : number]:
                raise self._changed()
            yield first, block
        if known is not None and seen.lines != known.lines:
            raise self._changed()

    def _changed(self) -> MuteError:
        return MuteError(
            f"{' or '.join(map(name_of, self.columns))} has changed since this run began; "
            f"start over"
        )

    def do(self, first: int, rows: list[Row], suffix: str) -> bytes:
        """What a block becomes, as the output file has it.

        Blocks of a compressed file are compressed by themselves: one after the other, they are
        a compressed file too.
        """
        done = self.work(first, rows)
        assert len(done) == len(rows), "as much comes out as goes in"
        return pack("".join(f"{each}\n" for each in done), suffix)


class Content:
    """What was read: how many rows, and what only the same rows have, up to each block's end."""

    def __init__(self) -> None:
        self.lines = 0
        self.digests: list[str] = []
        self._digest = blake2b(digest_size=16)

    def add(self, block: list[Row]) -> None:
        """One more block."""
        self.lines += len(block)
        for row in block:
            self._digest.update("\n".join((*row, "")).encode())
        self.digests.append(self.digest())

    def digest(self) -> str:
        """Of all rows."""
        return self._digest.hexdigest()


def survey(job: Job) -> Content:
    """Read all rows once: a mistake in the last line is better found before the hours of work.

    Raises:
        MuteError: as `Job.rows`.
    """
    content, rows = Content(), job.rows()
    while block := list(islice(rows, job.lines_at_once)):
        content.add(block)
    return content


def pack(text: str, suffix: str) -> bytes:
    """A text as the content of a file with that suffix."""
    content = text.encode()
    if suffix == ".gz":
        return gzip.compress(content, mtime=0)  # without the time: the same text, the same bytes
    return lzma.compress(content) if suffix == ".xz" else content


def pour(job: Job, write: Callable[[bytes], None], suffix: str = "") -> None:
    """Do a job block by block, and write what comes out at once."""
    known = survey(job) if job.can_be_read_again else None
    done, total = 0, known.lines if known else None
    job.watch(done, total)
    for first, rows in job.blocks(known):
        write(job.do(first, rows, suffix))
        done += len(rows)
        job.watch(done, total)
    if not done:
        write(pack("", suffix))


def to_standard_output(content: bytes) -> None:
    """Write to where the lines of a pipe go.

    Raises:
        BrokenPipeError: nobody reads it; no reason to complain.
        MuteError: it cannot be written.
    """
    with _refusals_told("standard output"):
        try:
            sys.stdout.buffer.write(content)
            sys.stdout.flush()
        except OSError:
            # Python tries again at its end to write what is left, and would tell of a second error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise


def pour_into_file(job: Job, output: Path) -> None:
    """Do a job that cannot be resumed; a file appears when it is done, and not before.

    Raises:
        MuteError: as `Job.rows`, or the file cannot be written.
    """
    special = output.exists() and not output.is_file()  # a device or a pipe: nothing to rename
    draft = output if special else output.with_name(f".{output.name}.{os.getpid()}.writing")
    with _refusals_told(output):
        file = draft.open("wb", buffering=0)  # or what cannot be written fails again at closing

    def write(content: bytes) -> None:
        rest = memoryview(content)
        with _refusals_told(output):
            while rest:
                rest = rest[file.write(rest) :]

    try:
        with file, _leaving_on_sigterm():
            pour(job, write, output.suffix)
            if not special:
                with _refusals_told(output):
                    os.fsync(file.fileno())
                    draft.replace(output)
    finally:
        if not special:
            draft.unlink(missing_ok=True)


@contextmanager
def _leaving_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the process as an exception does: what was begun is cleared away."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _refusals_told(output: Path | str) -> AbstractContextManager[None]:
    return refusals_told(f"{output}: cannot be written", "mend that and start over")
