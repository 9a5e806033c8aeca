import errno
import gzip
import os
from hashlib import sha256
from pathlib import Path

import pytest

from mute.config import DataConfig
from mute.data import catalog
from mute.data.catalog import check, describe, download, download_missing
from mute.data.known_corpora import CATALOG, KnownCorpus, KnownFile
from mute.data.places import data_folder
from mute.errors import MuteError

TEXT = b"one\ntwo\n"
FILES = {"source": "s/train.en.gz", "target": "s/train.de.gz"}
SMALL = DataConfig.model_validate(
    {"source": "en", "target": "de", "prepared": "x", "train": [FILES], "dev": FILES}
)


@pytest.fixture
def server(tmp_path: Path) -> Path:
    folder = tmp_path / "server"
    folder.mkdir()
    (folder / "train.en.gz").write_bytes(gzip.compress(TEXT))
    (folder / "train.de").write_bytes(TEXT)
    return folder


@pytest.fixture(autouse=True)
def small(server: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of two files, one of which lies on its server uncompressed."""
    digest = sha256(TEXT).hexdigest()[:16]
    files = tuple(
        KnownFile(path, 2, digest, (server / name).as_uri())
        for path, name in (("s/train.en.gz", "train.en.gz"), ("s/train.de.gz", "train.de"))
    )
    corpus = KnownCorpus("small", ("en", "de"), "a server", "none", "ask for it", files)
    monkeypatch.setattr(catalog, "CATALOG", {**CATALOG, "small": corpus})


def test_the_description_names_every_corpus_and_its_terms() -> None:
    text = describe()
    for corpus in CATALOG.values():
        assert corpus.name in text
        assert corpus.terms in text


def test_a_download_is_what_the_check_wants(tmp_path: Path) -> None:
    assert [problem.split(": ")[1] for problem in check("small", tmp_path)] == ["missing"] * 2
    download("small", tmp_path)
    assert check("small", tmp_path) == []
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == [
        "train.de.gz",
        "train.en.gz",
    ]


def test_what_is_there_is_not_fetched_again(tmp_path: Path, server: Path) -> None:
    download("small", tmp_path)
    for path in server.iterdir():
        path.unlink()
    download("small", tmp_path)


def test_a_text_of_the_users_own_is_not_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "s" / "train.en.gz"
    mine.parent.mkdir()
    mine.write_bytes(b"mine")
    download("small", tmp_path)
    assert mine.read_bytes() == b"mine"
    assert (tmp_path / "s" / "train.de.gz").is_file()


def test_a_check_tells_what_is_wrong(tmp_path: Path) -> None:
    download("small", tmp_path)
    path = tmp_path / "s" / "train.en.gz"
    path.write_bytes(gzip.compress(b"one\n"))
    assert check("small", tmp_path) == [f"{path}: has 1 lines instead of 2"]
    path.write_bytes(gzip.compress(b"one\nother\n"))
    assert "another text than the known one" in check("small", tmp_path)[0]
    path.write_bytes(gzip.compress(TEXT)[:-4])
    assert f"{path}: cannot be read" in check("small", tmp_path)[0]


def test_a_download_of_something_else_leaves_nothing(tmp_path: Path, server: Path) -> None:
    (server / "train.de").write_bytes(b"an error page\n")
    with pytest.raises(MuteError, match=r"train\.de: not what the catalog expects: .* 1 lines"):
        download("small", tmp_path)
    assert [path.name for path in (tmp_path / "s").iterdir()] == ["train.en.gz"]


def test_a_server_that_fails_is_told(tmp_path: Path, server: Path) -> None:
    (server / "train.en.gz").unlink()
    with pytest.raises(MuteError, match=r"train\.en\.gz: cannot be downloaded .*try again later"):
        download("small", tmp_path)


def test_a_data_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MuteError, match=r"cannot be made \(Not a directory\); set MUTE_DATA to a"):
        download("small", tmp_path / "file")


def test_a_configs_missing_files_are_fetched_into_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUTE_DATA", str(tmp_path / "data"))
    download_missing(SMALL)
    assert check("small", tmp_path / "data") == []


def test_nothing_is_fetched_into_a_folder_that_nobody_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.delenv("MUTE_DATA", raising=False)
    with pytest.raises(MuteError, match="set MUTE_DATA to the folder the text should go to"):
        download_missing(SMALL)
    assert not (tmp_path / "shared").exists()


def test_what_cannot_be_downloaded_comes_with_its_origin_and_instructions(tmp_path: Path) -> None:
    message = r"nist-zh-en: cannot be downloaded by mute; it is from https://.*: bring your own"
    with pytest.raises(MuteError, match=message):
        download("nist-zh-en", tmp_path)


def test_an_unknown_corpus_is_told(tmp_path: Path) -> None:
    with pytest.raises(MuteError, match="multi31k: not in the catalog, which knows multi30k"):
        check("multi31k", tmp_path)


@pytest.mark.parametrize("name", ["multi30k", "3am", "tatoeba-en-de", "tatoeba-en-zh"])
def test_the_data_folder_holds_the_known_text(name: str) -> None:
    folder = Path(os.environ.get("MUTE_DATA") or "../shared/data")
    if not (folder / CATALOG[name].files[0].path).exists():
        pytest.skip(f"{name} is not in {folder}; set MUTE_DATA to the folder it is in")
    assert check(name, folder) == []


def test_a_data_folder_in_the_home_of_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUTE_DATA", "~nobody-of-this-name/text")
    with pytest.raises(MuteError, match="MUTE_DATA: ~nobody-of-this-name/text: "):
        data_folder()


def test_a_folder_that_may_not_be_written_is_not_taken_for_a_failed_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(PermissionError):
        download("small", tmp_path)
