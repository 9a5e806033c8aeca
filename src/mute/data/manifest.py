"""What a prepared folder was made from, to tell whether it still holds."""

import json
from collections.abc import Iterable
from hashlib import file_digest
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from mute.config import DataConfig
from mute.data.corpus import file_names
from mute.data.places import locate
from mute.errors import MuteError

FORMAT = 1
FILE = "manifest.json"


class Input(BaseModel):
    """A file that went in; its digest is computed anew only when size or time have changed."""

    path: str
    size: int
    modified: int
    digest: str


class Manifest(BaseModel):
    """The settings and the content that decide what a prepared folder holds."""

    format: int
    settings: dict[str, Any]
    inputs: list[Input]

    def agrees_with(self, other: "Manifest") -> bool:
        """Whether preparing again would give the same; where the files lie does not matter."""
        return self.identity() == other.identity()

    def changed(self, wanted: dict[str, Any]) -> list[str]:
        """The keys of the config whose settings are not the wanted ones."""
        return [f"data.{key}" for key in wanted if wanted[key] != self.settings.get(key)]

    def identity(self) -> str:
        """All that decides what the folder holds, as one text."""
        digests = [each.digest for each in self.inputs]
        return json.dumps([self.format, self.settings, digests], sort_keys=True)

    def save(self, folder: Path) -> None:
        """Write it into a prepared folder."""
        (folder / FILE).write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")


def load_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; None if it has none, or one that cannot be understood."""
    try:
        return Manifest.model_validate_json((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not UTF-8, or not a manifest
        return None


def changed_texts(folder: Path) -> list[str]:
    """The files that are not as they were when a folder was prepared; not those that are gone.

    Prepared text goes where it is needed, and what it was made from may well stay behind.
    """
    manifest = load_manifest(folder)
    return [each.path for each in manifest.inputs if _has_changed(each)] if manifest else []


def _has_changed(known: Input) -> bool:
    try:
        status = Path(known.path).stat()
        if (status.st_size, status.st_mtime_ns) == (known.size, known.modified):
            return False
        return status.st_size != known.size or _digest(Path(known.path)) != known.digest
    except OSError:
        return False


def take_stock(config: DataConfig, known: Manifest | None) -> Manifest:
    """The manifest of what a config asks for, with digests taken over from a known one.

    Raises:
        MuteError: a file is missing or cannot be read.
    """
    names = [name for text in (*config.train, config.dev) for name in file_names(text)]
    digests = _digests(known.inputs if known else [])
    inputs = [_take_in(locate(name), digests) for name in names]
    return Manifest(format=FORMAT, settings=settings_of(config), inputs=inputs)


def settings_of(config: DataConfig) -> dict[str, Any]:
    """The part of a config that preparing depends on, as JSON has it."""
    return config.model_dump(
        mode="json",
        exclude={
            "prepared": True,
            "test": True,
            "scored_as": True,
            "sampling": True,
            "dev": {"weight"},
            "train": {"__all__": {"weight"}},
        },
    )


def _digests(inputs: Iterable[Input]) -> dict[tuple[str, int, int], str]:
    return {(each.path, each.size, each.modified): each.digest for each in inputs}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "blake2b").hexdigest()


def _take_in(path: Path, known: dict[tuple[str, int, int], str]) -> Input:
    try:
        status = path.stat()
        key = (str(path.resolve()), status.st_size, status.st_mtime_ns)
        if key not in known:
            known[key] = _digest(path)
    except OSError as error:
        raise MuteError(f"{path}: cannot be read ({error.strerror})") from None
    return Input(path=key[0], size=key[1], modified=key[2], digest=known[key])
