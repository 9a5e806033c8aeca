"""Pairs of sentences as ids on disk: written once in order, then read anywhere, memory-mapped.

A folder holds an index and, for each shard, five arrays as .npy files: the ids of all its source
sentences one after the other, where each sentence ends, the same for the target, and the line of
its file each pair came from. A shard belongs to one corpus.
"""

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mute.errors import MuteError

FORMAT = 1
INDEX = "index.json"
SHARD_PAIRS = 1_000_000
_SHARD_IDS = 1 << 26


@dataclass(frozen=True)
class Block:
    """Some pairs in the shape they have on disk, but for lengths in the place of ends."""

    source: NDArray[np.uint32]
    source_lengths: NDArray[np.int64]
    target: NDArray[np.uint32]
    target_lengths: NDArray[np.int64]
    lines: NDArray[np.uint32]

    @classmethod
    def of(
        cls,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        lines: Sequence[int],
    ) -> "Block":
        """Lay out pairs of ids and the numbers of the lines they come from."""

        def flat(sentences: Sequence[Sequence[int]]) -> NDArray[np.uint32]:
            return np.array([each for sentence in sentences for each in sentence], np.uint32)

        return cls(
            flat(sources),
            np.array([len(sentence) for sentence in sources], np.int64),
            flat(targets),
            np.array([len(sentence) for sentence in targets], np.int64),
            np.array(lines, np.uint32),
        )


class ShardWriter:
    """Fills an empty folder: `begin` a corpus, `add` its blocks, begin the next, `close`.

    Args:
        folder: where to.
        vocabulary: the larger of the two vocabularies' sizes; up to 65,536 an id takes 2 bytes.
    """

    def __init__(self, folder: Path, vocabulary: int) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._dtype = np.uint16 if vocabulary <= 1 << 16 else np.uint32
        self._blocks: list[Block] = []
        self._corpora: list[tuple[str, str]] = []
        self._shards: list[dict[str, Any]] = []

    def begin(self, source: str, target: str) -> None:
        """What is added from now on comes from these two files, or twice the same TSV."""
        self._flush()
        self._corpora.append((source, target))

    def add(self, block: Block) -> None:
        """Append pairs to the current corpus."""
        self._blocks.append(block)
        pairs = sum(len(each.lines) for each in self._blocks)
        ids = sum(len(each.source) + len(each.target) for each in self._blocks)
        if pairs >= SHARD_PAIRS or ids >= _SHARD_IDS:
            self._flush()

    def close(self) -> None:
        """Write what is left, and the index, without which the folder is not readable."""
        self._flush()
        index = {"format": FORMAT, "corpora": self._corpora, "shards": self._shards}
        (self._folder / INDEX).write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")

    def _flush(self) -> None:
        if any(len(block.lines) for block in self._blocks):
            name = f"{len(self._shards):04}"
            arrays = self._join()
            sizes = {
                array: _write(self._folder / f"{name}.{array}.npy", values)
                for array, values in arrays.items()
            }
            corpus, pairs = len(self._corpora) - 1, len(arrays["lines"])
            self._shards.append({"name": name, "corpus": corpus, "pairs": pairs, "bytes": sizes})
        self._blocks = []

    def _join(self) -> dict[str, NDArray[Any]]:
        blocks = self._blocks
        return {
            "source": np.concatenate([block.source for block in blocks]).astype(self._dtype),
            "source_ends": np.cumsum(np.concatenate([block.source_lengths for block in blocks])),
            "target": np.concatenate([block.target for block in blocks]).astype(self._dtype),
            "target_ends": np.cumsum(np.concatenate([block.target_lengths for block in blocks])),
            "lines": np.concatenate([block.lines for block in blocks]),
        }


def _write(path: Path, values: NDArray[Any]) -> int:
    """Write an array as .npy and return the size of the file."""
    with path.open("wb") as file:
        # Not np.save: it would not say that the disk is full.
        header = np.lib.format.header_data_from_array_1_0(values)
        np.lib.format.write_array_header_1_0(file, header)
        file.write(values.data)
    return path.stat().st_size


@dataclass(frozen=True)
class _Shard:
    source: NDArray[Any]
    source_ends: NDArray[np.int64]
    target: NDArray[Any]
    target_ends: NDArray[np.int64]
    lines: NDArray[np.uint32]


class Pairs:
    """All pairs of a folder that a `ShardWriter` filled, in the order they were added.

    Only what is asked for is read from the disk; opening reads the index alone.

    Raises:
        MuteError: the folder is incomplete or damaged.
    """

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder)
        index = _read_index(self._folder)
        try:
            self._corpora: list[tuple[str, str]] = [(each[0], each[1]) for each in index["corpora"]]
            self._corpus_of_shard: list[int] = [shard["corpus"] for shard in index["shards"]]
            self._ends = list(accumulate(shard["pairs"] for shard in index["shards"]))
            self._shards = [self._open(shard) for shard in index["shards"]]
        except (LookupError, TypeError):
            raise _damaged(self._folder / INDEX) from None

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The ids of a pair's source and target, in the type they are stored in."""
        shard, row = self._find(index)
        source, target = self._shards[shard].source, self._shards[shard].target
        source_ends = self._shards[shard].source_ends
        target_ends = self._shards[shard].target_ends
        source_start = source_ends[row - 1] if row else 0
        target_start = target_ends[row - 1] if row else 0
        return source[source_start : source_ends[row]], target[target_start : target_ends[row]]

    @cached_property
    def lengths(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """How many ids each source and each target has; made once, 8 bytes a pair."""

        def lengths(ends_of: Callable[[_Shard], NDArray[np.int64]]) -> NDArray[np.int32]:
            shards = [np.diff(ends_of(shard), prepend=0).astype(np.int32) for shard in self._shards]
            return np.concatenate([np.empty(0, np.int32), *shards])

        return lengths(lambda shard: shard.source_ends), lengths(lambda shard: shard.target_ends)

    @cached_property
    def corpora(self) -> list[range]:
        """Which pairs belong to each corpus, in the order of the config's list."""
        counts = [0] * len(self._corpora)
        for shard, corpus in zip(self._shards, self._corpus_of_shard, strict=True):
            counts[corpus] += len(shard.lines)
        ends = list(accumulate(counts, initial=0))
        return [range(start, end) for start, end in pairwise(ends)]

    def line(self, index: int) -> tuple[str, int]:
        """Where a pair comes from: its source file and the line there, from 1."""
        shard, row = self._find(index)
        source, _ = self._corpora[self._corpus_of_shard[shard]]
        return source, int(self._shards[shard].lines[row])

    def _find(self, index: int) -> tuple[int, int]:
        if not 0 <= index < len(self):
            raise IndexError(f"pair {index} of {len(self)}")
        shard = bisect_right(self._ends, index)
        return shard, index - (self._ends[shard - 1] if shard else 0)

    def _open(self, shard: dict[str, Any]) -> _Shard:
        arrays = {}
        for array, expected in shard["bytes"].items():
            path = self._folder / f"{shard['name']}.{array}.npy"
            size = path.stat().st_size if path.is_file() else 0
            if size != expected:
                raise MuteError(
                    f"{path}: has {size:,} bytes instead of {expected:,}; the prepared data is "
                    f"damaged: delete its folder and run 'mute prepare' again"
                )
            # A plain view of the map: indexing np.memmap itself is several times slower.
            try:
                arrays[array] = np.asarray(np.load(path, mmap_mode="r"))
            except ValueError:  # its header is not one
                raise _damaged(path) from None
        return _Shard(**arrays)


def _read_index(folder: Path) -> dict[str, Any]:
    path = folder / INDEX
    try:
        index: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MuteError(
            f"{path}: cannot be read ({error.strerror}); run 'mute prepare' to make it"
        ) from None
    except ValueError:
        raise _damaged(path) from None
    if not isinstance(index, dict):
        raise _damaged(path)
    if index.get("format") != FORMAT:
        raise MuteError(
            f"{path}: format {index.get('format')}, but this version of mute reads format "
            f"{FORMAT}; prepare the data again"
        )
    return index


def _damaged(path: Path) -> MuteError:
    return MuteError(f"{path}: damaged; delete its folder and prepare the data again")
