import json
from pathlib import Path

import numpy as np
import pytest

from mute.data import shards
from mute.data.shards import Block, Pairs, ShardWriter
from mute.errors import MuteError

PAIRS = [([5, 6, 7], [8]), ([9], [10, 11]), ([], [12]), ([13, 14], []), ([15], [16])]
LINES = [1, 3, 4, 7, 9]


def block(start: int, end: int) -> Block:
    sources, targets = zip(*PAIRS[start:end], strict=True)
    return Block.of(sources, targets, LINES[start:end])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two corpora, of three and of two pairs."""
    writer = ShardWriter(tmp_path / "train", vocabulary=100)
    writer.begin("a.en", "a.de")
    writer.add(block(0, 2))
    writer.add(block(2, 3))
    writer.begin("b.tsv", "b.tsv")
    writer.add(block(3, 5))
    writer.close()
    return tmp_path / "train"


def content(pairs: Pairs) -> list[tuple[list[int], list[int]]]:
    return [(pairs[i][0].tolist(), pairs[i][1].tolist()) for i in range(len(pairs))]


def test_what_is_written_is_read(folder: Path) -> None:
    pairs = Pairs(folder)
    assert len(pairs) == 5
    assert content(pairs) == PAIRS


def test_lengths_are_those_of_the_pairs(folder: Path) -> None:
    source, target = Pairs(folder).lengths
    assert source.tolist() == [3, 1, 0, 2, 1]
    assert target.tolist() == [1, 2, 1, 0, 1]


def test_a_pair_knows_its_line_and_its_corpus(folder: Path) -> None:
    pairs = Pairs(folder)
    assert [pairs.line(index) for index in (0, 2, 3)] == [("a.en", 1), ("a.en", 4), ("b.tsv", 7)]
    assert pairs.corpora == [range(3), range(3, 5)]


def test_there_is_nothing_beyond_the_ends(folder: Path) -> None:
    pairs = Pairs(folder)
    for index in (-1, 5):
        with pytest.raises(IndexError):
            _ = pairs[index]


def test_a_large_corpus_is_cut_into_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_PAIRS", 2)
    writer = ShardWriter(tmp_path / "train", vocabulary=100)
    writer.begin("a.en", "a.de")
    for start in range(5):
        writer.add(block(start, start + 1))
    writer.close()
    pairs = Pairs(tmp_path / "train")
    assert len(list((tmp_path / "train").glob("*.lines.npy"))) == 3
    assert content(pairs) == PAIRS
    assert [pairs.line(index)[1] for index in range(5)] == LINES
    assert pairs.corpora == [range(5)]


@pytest.mark.parametrize(("vocabulary", "dtype"), [(65_536, np.uint16), (65_537, np.uint32)])
def test_ids_take_no_more_room_than_needed(tmp_path: Path, vocabulary: int, dtype: type) -> None:
    writer = ShardWriter(tmp_path / "train", vocabulary)
    writer.begin("a.en", "a.de")
    writer.add(Block.of([[vocabulary - 1]], [[4]], [1]))
    writer.close()
    source, _ = Pairs(tmp_path / "train")[0]
    assert source.dtype == dtype
    assert source.tolist() == [vocabulary - 1]


def test_a_corpus_may_be_empty(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path / "train", 100)
    writer.begin("a.en", "a.de")
    writer.begin("b.en", "b.de")
    writer.add(block(0, 1))
    writer.begin("c.en", "c.de")
    writer.close()
    pairs = Pairs(tmp_path / "train")
    assert pairs.corpora == [range(0), range(1), range(1, 1)]
    assert pairs.line(0) == ("b.en", 1)


def test_no_pair_at_all_can_be_read(tmp_path: Path) -> None:
    ShardWriter(tmp_path / "train", 100).close()
    pairs = Pairs(tmp_path / "train")
    assert len(pairs) == 0
    assert pairs.lengths[0].tolist() == []


def test_a_pair_is_a_view_of_the_file_and_cannot_be_changed(folder: Path) -> None:
    source, _ = Pairs(folder)[0]
    with pytest.raises(ValueError, match="read-only"):
        source[0] = 1


def test_a_file_whose_beginning_is_damaged_is_told(folder: Path) -> None:
    path = sorted(folder.glob("*.source.npy"))[0]
    whole = path.read_bytes()
    path.write_bytes(bytes(10) + whole[10:])
    with pytest.raises(MuteError, match=rf"{path.name}: damaged; delete its folder"):
        Pairs(folder)


def test_a_file_cut_short_or_missing_is_told(folder: Path) -> None:
    for path in list(folder.glob("*.npy")):
        whole = path.read_bytes()
        path.write_bytes(whole[:-1])
        with pytest.raises(
            MuteError, match=rf"{path.name}: has .* bytes instead of .*'mute prepare'"
        ):
            Pairs(folder)
        path.unlink()
        with pytest.raises(MuteError, match=rf"{path.name}: has 0 bytes"):
            Pairs(folder)
        path.write_bytes(whole)
    assert content(Pairs(folder)) == PAIRS


def test_a_folder_that_was_not_finished_is_told(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path / "train", 100)
    writer.begin("a.en", "a.de")
    writer.add(block(0, 5))
    with pytest.raises(MuteError, match=r"index\.json: cannot be read .*run 'mute prepare'"):
        Pairs(tmp_path / "train")


def test_a_damaged_index_is_told(folder: Path) -> None:
    index = folder / "index.json"
    whole = index.read_text()
    for damaged in (whole[:-10], "[]", '{"format": 1}', '{"format": 1, "corpora": 7}'):
        index.write_text(damaged)
        with pytest.raises(MuteError, match=r"index\.json: damaged"):
            Pairs(folder)
    index.write_text(json.dumps({**json.loads(whole), "format": 99}))
    with pytest.raises(MuteError, match="format 99, but this version of mute reads format 1"):
        Pairs(folder)
