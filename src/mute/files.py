"""Files that are whole or not there, and streams that may be closed."""

from pathlib import Path
from typing import IO


def write_whole(text: str, path: Path) -> None:
    """Write a text as UTF-8; a process that is killed meanwhile leaves the file as it was."""
    draft = path.with_suffix(".writing")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether someone is looking; a stream that the shell has closed is None."""
    return stream is not None and stream.isatty()
