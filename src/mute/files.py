"""Files that are whole or not there."""

from pathlib import Path


def write_whole(text: str, path: Path) -> None:
    """Write a text as UTF-8; a process that is killed meanwhile leaves the file as it was."""
    draft = path.with_suffix(".writing")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
