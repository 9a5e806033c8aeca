"""Batches by token budget: little padding, a new order every epoch, no pair lost or seen twice.

The order of an epoch is a function of the seed and the epoch alone. It is worked out pool by
pool, so the first batch of a large corpus does not wait for the last; and it is the same for
every process, each of which takes its own share. That is why a position in the stream is all
that a run has to remember of its data.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mute.data.vocabulary import BOS, EOS, PAD
from mute.errors import MuteError

POOL = 200_000
"""Pairs that are sorted by length together: enough for little padding, quick to sort."""
SAMPLED_POOL = 20_000
"""The same where pairs have to be drawn first, which all processes wait for."""

Indices = NDArray[np.int32]
"""Which pairs; 4 bytes each, since an epoch holds one for every pair of the corpus."""

Ids = Sequence[int] | NDArray[np.integer]
"""A sentence."""

Lengths = tuple[NDArray[np.integer], NDArray[np.integer]]
"""How many ids each source and each target has."""


class Readable(Protocol):
    """Pairs of ids."""

    def __getitem__(self, index: int) -> tuple[Ids, Ids]: ...


class Corpus(Readable, Protocol):
    """Pairs of ids that know their lengths."""

    def __len__(self) -> int: ...
    @property
    def lengths(self) -> Lengths:
        """Of all pairs."""


class Sampled(Readable, Protocol):
    """Pairs of ids that are drawn before they can be measured."""

    def lengths_of(self, indices: Indices) -> Lengths:
        """Of some pairs."""


@dataclass(frozen=True)
class Batch:
    """Padded ids of some pairs, as the model takes them."""

    source: Tensor
    """(B, S): the words and EOS."""
    target_input: Tensor
    """(B, T): BOS and the words."""
    target_output: Tensor
    """(B, T): the words and EOS."""
    indices: Indices
    """(B,): which pairs of the corpus these are."""

    @property
    def target_tokens(self) -> int:
        """What the loss is divided by: the real positions of the target."""
        return int((self.target_output != PAD).sum())

    @property
    def padding(self) -> float:
        """The share of padding among all positions of source and target."""
        real = (self.source != PAD).sum() + (self.target_input != PAD).sum()
        return 1 - int(real) / (self.source.numel() + self.target_input.numel())

    def to(self, device: torch.device) -> "Batch":
        """The same batch on another device."""
        return Batch(
            self.source.to(device, non_blocking=True),
            self.target_input.to(device, non_blocking=True),
            self.target_output.to(device, non_blocking=True),
            self.indices,
        )

    def repeated(self, times: int) -> "Batch":
        """The pairs of this batch, one whole copy after another."""
        return Batch(
            self.source.repeat(times, 1),
            self.target_input.repeat(times, 1),
            self.target_output.repeat(times, 1),
            np.tile(self.indices, times),
        )


class Position(NamedTuple):
    """A place in the endless stream of batches."""

    epoch: int = 0
    batch: int = 0
    """How many batches lie behind, from the beginning of the pool on."""
    pool: int = 0


class BatchStream:
    """All epochs of a corpus, one after the other, as lists of pair indices.

    Args:
        corpus: the pairs
        budget: the most positions on the longer side of a batch, padding included
        seed: with the epoch, it decides the order
        weights: for each pair, how often it is seen in an epoch; once if not given
        sample: the pairs as an epoch sees them, if that is not as they are; one whose sample is
            longer than the budget has a batch of its own
    """

    def __init__(
        self,
        corpus: Corpus,
        budget: int,
        seed: int,
        weights: NDArray[np.float64] | None = None,
        sample: Callable[[int], Sampled] | None = None,
    ) -> None:
        if len(corpus) == 0:
            raise MuteError("there is no pair to train on; see the report of `mute prepare`")
        if weights is not None and weights.sum() < 1:
            raise MuteError(
                f"data.train: the weights let an epoch see {weights.sum():.2g} pairs on average, "
                f"of {len(corpus)}; raise them"
            )
        self._lengths = corpus.lengths
        longer = np.maximum(*self._lengths)
        seen = longer if weights is None else longer[weights > 0]
        longest = int(seen.max()) + 1  # EOS, or BOS
        if longest > budget:
            raise MuteError(
                f"train.batch_tokens ({budget}) is less than the longest training sentence "
                f"({longest} pieces with its end); raise it, or lower data.max_length"
            )
        self._corpus = corpus
        self._budget = budget
        self._seed = seed
        self._weights = weights
        self._sample = lru_cache(maxsize=1)(sample) if sample else None

    def after(self, position: Position) -> Iterator[tuple[Indices, Position]]:
        """The batches that follow a position, each with the position behind it; endless."""
        epoch, skip, first = position
        while True:
            for pool, batches in self._pools(epoch, first):
                for number, indices in enumerate(batches, 1):
                    if number > skip:
                        yield indices, Position(epoch, number, pool)
                skip = 0
            epoch, skip, first = epoch + 1, 0, 0

    def epoch(self, epoch: int) -> Iterator[Indices]:
        """The batches of one epoch."""
        for _, batches in self._pools(epoch):
            yield from batches

    def batches_per_epoch(self) -> int:
        """In the first; where pairs have to be drawn, worked out from its first pool."""
        if not self._sample:
            return sum(1 for _ in self.epoch(0))
        _, batches = next(self._pools(0))
        pairs = len(self._corpus) if self._weights is None else self._weights.sum()
        return round(pairs * len(batches) / sum(map(len, batches)))

    def _pools(self, epoch: int, first: int = 0) -> Iterator[tuple[int, list[Indices]]]:
        """The batches of each pool of an epoch, with its number, in a new order."""
        random = np.random.default_rng((self._seed, epoch))
        order = random.permutation(self._draw(random))
        size = SAMPLED_POOL if self._sample else POOL
        for number in range(first, -(-len(order) // size)):
            pool = order[number * size :][:size]
            source, target = self._measure(pool, epoch)
            longer = np.maximum(source, target) + 1
            by_length = np.lexsort((target, longer))
            batches = self._cut(pool[by_length], longer[by_length])
            # Of its own, so that a run can go on here and not draw what lies before.
            chance = np.random.default_rng((self._seed, epoch, number)) if number else random
            yield number, [batches[index] for index in chance.permutation(len(batches))]

    def load(self, indices: Indices, epoch: int) -> Batch:
        """The batch of some pairs, as an epoch sees them."""
        return make_batch(self._sample(epoch) if self._sample else self._corpus, indices)

    def _measure(self, pool: Indices, epoch: int) -> Lengths:
        if self._sample:
            return self._sample(epoch).lengths_of(pool)
        source, target = self._lengths
        return source[pool], target[pool]

    def _draw(self, random: np.random.Generator) -> Indices:
        """Which pairs this epoch sees: weight 2.3 is twice, and once more for three in ten."""
        everything = np.arange(len(self._corpus), dtype=np.int32)
        if self._weights is None:
            return everything
        times = np.floor(self._weights + random.random(len(everything))).astype(np.int64)
        return np.repeat(everything, times)

    def _cut(self, ordered: Indices, lengths: NDArray[np.integer]) -> list[Indices]:
        """Cut pairs that are sorted by length where a batch would exceed the budget."""
        batches, start = [], 0
        while start < len(ordered):
            # Sorted: the last pair is the longest, and n pairs cost n times its length.
            costs = lengths[start : start + self._budget] * np.arange(
                1, min(self._budget, len(ordered) - start) + 1
            )
            end = start + max(1, int(np.searchsorted(costs, self._budget, side="right")))
            batches.append(ordered[start:end])
            start = end
        return batches


def make_batch(corpus: Readable, indices: Indices) -> Batch:
    """Collect the pairs of a batch, with their ends and their padding."""
    sources, targets = zip(*(corpus[int(index)] for index in indices), strict=True)
    return Batch(
        pad(sources, behind=[EOS]), pad(targets, before=[BOS]), pad(targets, behind=[EOS]), indices
    )


def pad(
    sentences: Sequence[Ids], *, before: Sequence[int] = (), behind: Sequence[int] = ()
) -> Tensor:
    """(B, longest): what comes before and behind every sentence, its ids between, then PAD."""
    longest = max(map(len, sentences))
    shape = len(sentences), len(before) + longest + len(behind)
    padded = np.full(shape, PAD, dtype=np.int64)
    padded[:, : len(before)] = before
    for row, sentence in zip(padded, sentences, strict=True):
        end = len(before) + len(sentence)
        row[len(before) : end] = sentence
        row[end : end + len(behind)] = behind
    return torch.from_numpy(padded)
