"""Subword regularisation: in every epoch a sentence is cut into other pieces."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mute.data.shards import Pairs
from mute.data.tokenizer import Tokenizer
from mute.runtime import seed_of


class SampledPairs:
    """The pairs of a corpus as one epoch sees them.

    Lengths, and with them the batches, stay those of the usual pieces; sampled ones are a
    little more, so a batch may be that much over its budget.

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

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, index: int) -> tuple[Sequence[int], Sequence[int]]:
        source, target = self._pairs[index]
        seed = seed_of(self._seed, self._epoch, index)
        return (
            self._tokenizer.sample(source.tolist(), "source", self._rate, seed),
            self._tokenizer.sample(target.tolist(), "target", self._rate, seed + 1),
        )

    @property
    def lengths(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """How many of the usual pieces each source and each target has."""
        return self._pairs.lengths
