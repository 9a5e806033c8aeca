from pathlib import Path

import pytest

from mute.config import ParallelText
from mute.data.corpus import Pair, file_names
from mute.data.scored import read_scored
from mute.errors import MuteError


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MUTE_DATA", raising=False)


def text(source: bytes, *targets: bytes) -> ParallelText:
    Path("text.en").write_bytes(source)
    for number, target in enumerate(targets):
        Path(f"text.de.{number}").write_bytes(target)
    return ParallelText(source="text.en", target=[f"text.de.{n}" for n in range(len(targets))])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"one\n\xff\n", r"text\.en:2: not UTF-8; .*mend the line, or delete it .*iconv -f LATIN1"),
        (b"one\n\n", r"text\.en:2: empty side"),
        (b"one\n" + b"x" * (1 << 20) + b"\n", r"text\.en:2: too long"),
    ],
)
def test_text_that_is_scored_must_be_whole(source: bytes, message: str) -> None:
    with pytest.raises(MuteError, match=message):
        read_scored(text(source, b"eins\nzwei\n"))


def test_all_references_are_read_and_the_first_makes_the_pairs() -> None:
    files = text(b"A dog.\nTwo cats.\n", b"Ein Hund.\nZwei Katzen.\n", b"Der Hund.\n2 Katzen.\n")
    pairs, references = read_scored(files)
    assert pairs == [Pair(1, "A dog.", "Ein Hund."), Pair(2, "Two cats.", "Zwei Katzen.")]
    assert references == [["Ein Hund.", "Zwei Katzen."], ["Der Hund.", "2 Katzen."]]
    assert file_names(files) == ("text.en", "text.de.0", "text.de.1")


def test_one_file_and_a_tsv_have_one_reference() -> None:
    files = text(b"A dog.\n", b"Ein Hund.\n")
    Path("text.tsv").write_bytes(b"A dog.\tEin Hund.\n")
    for same in (ParallelText(source="text.en", target="text.de.0"), ParallelText(tsv="text.tsv")):
        assert read_scored(same) == read_scored(files)
    assert read_scored(files).references == [["Ein Hund."]]


def test_a_further_reference_of_another_length_is_told_with_both_counts() -> None:
    files = text(b"one\ntwo\n", b"eins\nzwei\n", b"eins\nzwei\ndrei\n")
    with pytest.raises(MuteError, match=r"text\.en has 2 lines, but .*text\.de\.1 has 3"):
        read_scored(files)


def test_a_further_reference_must_be_whole_too() -> None:
    files = text(b"one\ntwo\n", b"eins\nzwei\n", b"eins\n\n")
    with pytest.raises(MuteError, match=r"text\.de\.1:2: empty side"):
        read_scored(files)


def test_an_empty_text_cannot_be_scored() -> None:
    with pytest.raises(MuteError, match=r"text\.en: empty, but text that is scored needs"):
        read_scored(text(b"", b""))
