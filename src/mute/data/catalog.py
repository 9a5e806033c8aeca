"""Getting the known corpora, and checking that a copy is the one that scores belong to."""

import errno
import gzip
import os
import shutil
import urllib.request
import zlib
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path

from mute.config import DataConfig
from mute.data.corpus import file_names
from mute.data.known_corpora import CATALOG, KnownCorpus, KnownFile
from mute.data.places import data_folder
from mute.errors import MuteError

# What has nothing to do with the network.
_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS)


def describe() -> str:
    """All known corpora, for people."""
    paragraphs = []
    for corpus in CATALOG.values():
        lines = [
            f"{corpus.name} ({'-'.join(corpus.languages)})",
            f"  from   {corpus.origin}",
            f"  terms  {corpus.terms}",
            f"  get it {corpus.instructions}",
        ]
        for file in corpus.files:
            size = f", {file.lines:,} lines" if file.lines else ""
            lines.append(f"  file   {file.path}{size}")
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs)


def check(name: str, folder: Path | str) -> list[str]:
    """What is missing or wrong of a corpus below a data folder; nothing, if all is well.

    Raises:
        MuteError: there is no such corpus in the catalog.
    """
    files = _find(name).files
    problems = (_problem(Path(folder) / file.path, file) for file in files)
    return [problem for problem in problems if problem]


def download(name: str, folder: Path | str) -> None:
    """Fetch the files of a corpus that are not in a data folder; those that are stay as they are.

    Raises:
        MuteError: the corpus is not to be had this way, or what came is not what was expected.
    """
    corpus = _find(name)
    if not all(file.url for file in corpus.files):
        raise MuteError(
            f"{name}: cannot be downloaded by mute; it is from {corpus.origin}: "
            f"{corpus.instructions}"
        )
    for file in corpus.files:
        path = Path(folder) / file.path
        if not path.exists():
            _fetch(file, path)


def download_missing(data: DataConfig) -> None:
    """Fetch the files a config names that are not here, if the catalog knows where they are.

    Raises:
        MuteError: as `download`, or nobody has said where the files should go to.
    """
    homes = {file.path: name for name, corpus in CATALOG.items() for file in corpus.files}
    for text in (*data.train, data.dev, *data.test.values()):
        for name in file_names(text):
            here = any((folder / name).is_file() for folder in (Path(), data_folder()))
            if name in homes and not here:
                download(homes[name], _chosen_folder())


def _chosen_folder() -> Path:
    """The data folder, if the user has named it: the default is only for reading."""
    if not os.environ.get("MUTE_DATA"):
        raise MuteError("--download: set MUTE_DATA to the folder the text should go to")
    return data_folder()


def _fetch(file: KnownFile, path: Path) -> None:
    assert file.url is not None
    part = path.with_name(f"{path.name}.part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MuteError(
            f"{part.parent}: cannot be made ({error.strerror}); set MUTE_DATA to a folder that you "
            f"may write to"
        ) from None
    try:
        # The address is one of the catalog's.
        with urllib.request.urlopen(file.url, timeout=60) as reply, part.open("wb") as out:  # noqa: S310
            if file.url.endswith(".gz"):
                shutil.copyfileobj(reply, out)
            else:
                with gzip.open(out, "wb") as compressed:
                    shutil.copyfileobj(reply, compressed)
        if problem := _problem(part, file):
            raise MuteError(f"{file.url}: not what the catalog expects: {problem}")
        part.replace(path)
    except (OSError, HTTPException) as error:
        if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
            raise  # told as everywhere
        raise MuteError(f"{file.url}: cannot be downloaded ({error}); try again later") from None
    finally:
        part.unlink(missing_ok=True)


def _problem(path: Path, file: KnownFile) -> str | None:
    """What is wrong with a copy of a file, if anything."""
    try:
        lines, digest = _measure(path)
    except FileNotFoundError:
        return f"{path}: missing"
    except (OSError, EOFError, zlib.error) as error:
        return f"{path}: cannot be read ({error})"
    if file.lines not in (None, lines):
        return f"{path}: has {lines:,} lines instead of {file.lines:,}"
    if file.digest not in (None, digest):
        return f"{path}: another text than the known one; its SHA-256 begins with {digest}"
    return None


def _measure(path: Path) -> tuple[int, str]:
    """The number of lines of a gzipped text, and its digest."""
    lines, digest = 0, sha256()
    with gzip.open(path) as stream:
        while block := stream.read(1 << 20):
            lines += block.count(b"\n")
            digest.update(block)
    return lines, digest.hexdigest()[:16]


def _find(name: str) -> KnownCorpus:
    if name not in CATALOG:
        raise MuteError(f"{name}: not in the catalog, which knows {', '.join(CATALOG)}")
    return CATALOG[name]
