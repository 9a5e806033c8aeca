"""Making a whole folder appear at once, or not at all."""

import errno
import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mute.errors import MuteError
from mute.files import say, try_to_lock


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Wait until no other process works on a folder, and keep them waiting until done.

    What a killed process left behind, in the middle of its work or of the final exchange, is
    put in order.

    Raises:
        MuteError: the disk is full, or the folder may not be written.
    """
    with _explained(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _beside(folder, "lock").open("w") as lock:
            if not try_to_lock(lock):
                say(f"{folder}: another process is preparing it; waiting")
                fcntl.flock(lock, fcntl.LOCK_EX)
            if _beside(folder, "old").exists() and not folder.exists():
                _beside(folder, "old").rename(folder)
            for leftover in ("old", "partial"):
                shutil.rmtree(_beside(folder, leftover), ignore_errors=True)
            yield


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """An empty folder to fill, which then takes the place of `folder`.

    If the work fails, it vanishes, and `folder` stays what it was. Only for use inside
    `exclusive`.
    """
    partial, old = _beside(folder, "partial"), _beside(folder, "old")
    partial.mkdir()
    try:
        yield partial
        if folder.exists():
            folder.rename(old)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def _beside(folder: Path, role: str) -> Path:
    # In the same place, since only within one file system is renaming a single step.
    return folder.parent / f".{folder.name}.{role}"


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    remedies = {
        errno.ENOSPC: "free some space",
        errno.EDQUOT: "free some space",
        errno.EACCES: "choose a folder you may write to",
        errno.EPERM: "choose a folder you may write to",
        errno.EROFS: "choose a folder you may write to",
        errno.ENOTDIR: "choose a folder",
        errno.EEXIST: "choose a folder",
    }
    try:
        yield
    except OSError as error:
        if error.errno not in remedies:
            raise
        raise MuteError(
            f"{folder}: cannot be written ({error.strerror}); "
            f"{remedies[error.errno]}, then try again"
        ) from None
