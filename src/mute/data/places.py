"""Where the files of corpora are."""

import os
from pathlib import Path

from mute.data.known_corpora import can_be_downloaded
from mute.errors import MuteError

_SGML = {".sgm", ".sgml", ".xml"}


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
