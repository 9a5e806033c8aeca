"""Files that are whole or not there, or locked, their names, and streams that may be closed."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A draft of a file, which takes its place once it is written and on the disk.

    If that fails, or the process is killed, the file is as it was.
    """
    draft = path.with_name(f".{path.name}.writing")
    try:
        yield draft
        push_to_disk(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_whole(text: str, path: Path) -> None:
    """Write a text as UTF-8, or leave the file as it was."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def push_to_disk(path: Path) -> None:
    """Wait until a file or folder is on the disk: some tell only then that it is full.

    Raises:
        OSError: it is.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def try_to_lock(file: IO[str]) -> bool:
    """Keep other processes from a file until it is closed; False if another one has it.

    Some disks know no locks: better unguarded there than not at all.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def say(sentence: str) -> None:
    """Tell the people watching, unless stderr is closed or takes no more: no work ends of that."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{sentence}\n")
        sys.stderr.flush()
    except OSError:
        sys.stderr = None  # what is left in its buffer would change the exit status


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether someone is looking; a stream that the shell has closed is None."""
    return stream is not None and stream.isatty()


def name_as_text(path: Path | str) -> str:
    """A file's name for a page or a table: it need not be text itself."""
    return os.fsencode(path).decode(errors="replace")
