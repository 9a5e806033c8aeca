import os
from pathlib import Path

import pytest

from mute.data.places import locate
from mute.errors import MuteError


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MUTE_DATA", raising=False)


@pytest.mark.parametrize("name", ["ref.sgm", "ref.XML.gz"])
def test_sgml_is_no_text_with_a_sentence_per_line(name: str) -> None:
    Path(name).touch()
    with pytest.raises(MuteError, match=rf"{name}: SGML; write its sentences to a file of their"):
        locate(name)


def test_the_home_of_nobody_is_told() -> None:
    with pytest.raises(MuteError, match="cannot be looked for"):
        locate("~nobody-of-that-name/text.en")


@pytest.mark.parametrize("name", ["a\0b", "x" * 300])
def test_a_name_that_no_file_can_have_is_told(name: str) -> None:
    with pytest.raises(MuteError, match="cannot be looked for"):
        locate(name)


def test_a_pipe_is_no_corpus() -> None:
    os.mkfifo("pipe")
    with pytest.raises(MuteError, match="is no regular file, and text is read twice"):
        locate("pipe")


def test_the_working_directory_comes_before_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUTE_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "both").touch()
    (tmp_path / "data" / "there").touch()
    Path("both").touch()
    assert locate("both").resolve() == tmp_path / "both"
    assert locate("there") == tmp_path / "data" / "there"
    assert locate(str(tmp_path / "both")) == tmp_path / "both"


def test_a_missing_file_is_told_with_the_places_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MuteError, match=rf"{tmp_path}/a\.en nor .*/shared/data/a\.en; .*MUTE_DATA"):
        locate("a.en")
    monkeypatch.setenv("MUTE_DATA", "/elsewhere")
    with pytest.raises(MuteError, match=rf"{tmp_path}/a\.en nor /elsewhere/a\.en;"):
        locate("a.en")


def test_a_folder_in_place_of_a_file_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there" / "news").mkdir(parents=True)
    monkeypatch.setenv("MUTE_DATA", str(tmp_path / "there"))
    for name in ("news", "there/news"):
        with pytest.raises(MuteError, match=rf"{name}: {tmp_path}/there/news is a folder; name a"):
            locate(name)


def test_a_missing_file_of_a_known_corpus_can_be_downloaded() -> None:
    with pytest.raises(MuteError, match=r"MUTE_DATA .*; `mute prepare --download` gets it"):
        locate("multi30k/train.en.gz")
    with pytest.raises(MuteError, match=r"the folder your data is in$"):
        locate("tatoeba_en-de/train.en.gz")
