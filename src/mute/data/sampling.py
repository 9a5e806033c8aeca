"""Subword regularisation: in every epoch a sentence is cut into other pieces."""

from collections.abc import Sequence

import numpy as np

from mute.data.batching import Indices, Lengths
from mute.data.shards import Pairs
from mute.data.tokenizer import Tokenizer
from mute.runtime import seed_of


class SampledPairs:
    """The pairs of a corpus as one epoch sees them.

    Args:
        pairs: with the usual pieces
        tokenizer: that made them
        rate: how often pieces are cut differently, as `Tokenizer.sample` takes it
        seed: of the run
        epoch: with the seed and the pair, it decides the pieces
    """

    def __init__(
        self, pairs: Pairs, tokenizer: Tokenizer, rate: float, seed: int, epoch: int
    ) -> None:
        self._pairs, self._tokenizer, self._rate = pairs, tokenizer, rate
        self._seed, self._epoch = seed, epoch
        self._measured: dict[int, tuple[list[int], list[int]]] = {}

    def __getitem__(self, index: int) -> tuple[Sequence[int], Sequence[int]]:
        return self._measured.get(index) or self._draw(index)

    def lengths_of(self, indices: Indices) -> Lengths:
        """How many pieces each source and each target of some pairs has; they are remembered."""
        self._measured = {index: self._draw(index) for index in indices.tolist()}
        drawn = (self._measured[index] for index in indices.tolist())
        lengths = np.array([[len(source), len(target)] for source, target in drawn], np.int32)
        return lengths[:, 0], lengths[:, 1]

    def _draw(self, index: int) -> tuple[list[int], list[int]]:
        source, target = self._pairs[index]
        seed = seed_of(self._seed, self._epoch, index)
        return (
            self._tokenizer.sample(source.tolist(), "source", self._rate, seed),
            self._tokenizer.sample(target.tolist(), "target", self._rate, seed + 1),
        )
