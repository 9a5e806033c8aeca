"""Files that are whole or not there, or locked, and streams that may be closed."""

import fcntl
from pathlib import Path
from typing import IO


def write_whole(text: str, path: Path) -> None:
    """Write a text as UTF-8; a process that is killed meanwhile leaves the file as it was."""
    draft = path.with_suffix(".writing")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


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


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether someone is looking; a stream that the shell has closed is None."""
    return stream is not None and stream.isatty()
