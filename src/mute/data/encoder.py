"""Chunks of text → blocks of ids, in as many processes as there are, in the order of the text."""

import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mute.data.corpus import Pair, Reason
from mute.data.shards import Block
from mute.data.tokenizer import SIDES, Side, Tokenizer, load_tokenizer
from mute.data.vocabulary import UNK
from mute.errors import MuteError
from mute.languages import writes_spaces


class Drop(NamedTuple):
    """A pair that is left out, and why."""

    line: int
    reason: Reason


@dataclass
class Chunk:
    """Consecutive lines of a corpus: the pairs, and what reading has dropped among them."""

    pairs: list[Pair] = field(default_factory=list)
    drops: list[Drop] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.pairs) + len(self.drops)


class Counts(NamedTuple):
    """Of one side of a chunk."""

    words: int
    pieces: int
    unknown: int


class Encoded(NamedTuple):
    """What became of a chunk."""

    block: Block
    drops: list[Drop]
    counts: tuple[Counts, Counts]


@dataclass(frozen=True)
class Encoder:
    """Encodes chunks, dropping pairs too long or too unequal in pieces."""

    tokenizer: Tokenizer
    max_length: float
    max_ratio: float

    def __call__(self, chunk: Chunk) -> Encoded:
        """Encode a chunk."""
        pairs, sources, targets, drops = [], [], [], list(chunk.drops)
        for pair in chunk.pairs:
            source = self.tokenizer.encode(pair.source, "source")
            target = self.tokenizer.encode(pair.target, "target")
            if reason := self._objection(len(source), len(target)):
                drops.append(Drop(pair.line, reason))
                continue
            pairs.append(pair)
            sources.append(source)
            targets.append(target)
        block = Block.of(sources, targets, [pair.line for pair in pairs])
        counts = (
            self._count((pair.source for pair in pairs), block.source, "source"),
            self._count((pair.target for pair in pairs), block.target, "target"),
        )
        return Encoded(block, sorted(drops), counts)

    def _objection(self, source: int, target: int) -> Reason | None:
        if not source or not target:
            return "empty side"
        if max(source, target) > self.max_length:
            return "too long"
        if max(source, target) > self.max_ratio * min(source, target):
            return "length ratio"
        return None

    def _count(self, texts: Iterable[str], ids: NDArray[np.uint32], side: Side) -> Counts:
        language = self.tokenizer.languages[SIDES.index(side)]
        spaced = writes_spaces(language)
        words = sum(len(text.split() if spaced else "".join(text.split())) for text in texts)
        return Counts(words, len(ids), int(np.count_nonzero(ids == UNK)))


def encode_in_order(
    chunks: Iterable[Chunk], tokenizer: Path, max_length: float, max_ratio: float, processes: int
) -> Iterator[Encoded]:
    """Encode chunks by the tokenizer of a folder, in several processes.

    A few chunks for each process are on their way at any time, so the text may be endless.
    """
    if processes == 1:
        yield from map(Encoder(load_tokenizer(tokenizer), max_length, max_ratio), chunks)
        return
    executor = ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=_start_worker
    )
    waiting: deque[Future[Encoded]] = deque()
    try:
        with executor:
            for chunk in chunks:
                waiting.append(executor.submit(_encode, chunk, tokenizer, max_length, max_ratio))
                if len(waiting) > 4 * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    except BrokenProcessPool:
        raise MuteError(
            "a process that encodes text was killed, most often for want of memory; try again with "
            "less else running, or, on Linux, `taskset -c 0 mute prepare …`, which has only one"
        ) from None


def _encode(chunk: Chunk, tokenizer: Path, max_length: float, max_ratio: float) -> Encoded:
    return Encoder(_tokenizer_of_this_worker(tokenizer), max_length, max_ratio)(chunk)


@cache
def _tokenizer_of_this_worker(folder: Path) -> Tokenizer:
    return load_tokenizer(folder)


def _start_worker() -> None:
    # An interrupt is the parent's business, and a parent that is killed takes its workers along.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
