"""What a search asks of a model: the scores of the next words of several translations at once."""

import math
from typing import Protocol

import torch
from torch import Tensor, nn

from mute.errors import NotFiniteError
from mute.model.decoder import Decoder


class Decoding(Protocol):
    """A batch of B sentences in the midst of translation, W partial translations of each."""

    def step(self, words: Tensor) -> Tensor:
        """Add a word to every partial translation: (B, W) ids → (B, W, V) logits of the next."""

    def select(self, parents: Tensor) -> None:
        """Go on, at each place, with the translation that stood at `parents` (B, W) of it."""

    def keep(self, sentences: Tensor) -> None:
        """Go on with some of the sentences: (n,) indices."""


def check_finite(computed: Tensor) -> None:
    """Make sure that what a model has computed is numbers.

    Raises:
        NotFiniteError: it is not.
    """
    if not math.isfinite(computed.sum()):  # of the sum in one: this is asked at every step
        raise NotFiniteError("the model computes NaN or infinity: its weights are damaged")


class PlainDecoding:
    """By the model's own step and cache: works for every kind of unit.

    Each partial translation is a row by itself, with its own copy of all that is kept.
    """

    def __init__(
        self, decoder: Decoder, output: nn.Module, memory: Tensor, mask: Tensor, width: int
    ) -> None:
        self.decoder, self.output, self.width = decoder, output, width
        self.memory = memory.repeat_interleave(width, 0)
        self.mask = mask.repeat_interleave(width, 0)
        self.cache = decoder.start()

    def step(self, words: Tensor) -> Tensor:
        """See `Decoding.step`."""
        states = self.decoder(words.flatten()[:, None], self.memory, self.mask, self.cache)
        logits: Tensor = self.output(states)
        return logits.view(*words.shape, -1)

    def select(self, parents: Tensor) -> None:
        """See `Decoding.select`."""
        first = torch.arange(len(parents), device=parents.device)[:, None] * self.width
        self.cache.select((first + parents).flatten())

    def keep(self, sentences: Tensor) -> None:
        """See `Decoding.keep`."""
        places = torch.arange(self.width, device=sentences.device)
        rows = (sentences[:, None] * self.width + places).flatten()
        self.memory, self.mask = self.memory[rows], self.mask[rows]
        self.cache.select(rows)


class NarrowDecoding:
    """A decoding in which only some words can come next; to the search they are all there are.

    Word n of the search is `vocabulary[n]`, a sorted (V,) that begins with the special ids, so
    that these mean the same everywhere. Of those, `allowed` (B, V) has what each sentence may use.
    """

    def __init__(self, inner: Decoding, vocabulary: Tensor, allowed: Tensor) -> None:
        self.inner, self.vocabulary, self.forbidden = inner, vocabulary, ~allowed[:, None]
        self.select = inner.select

    def step(self, words: Tensor) -> Tensor:
        """See `Decoding.step`."""
        logits = self.inner.step(self.vocabulary[words])
        return logits.masked_fill_(self.forbidden, -torch.inf)

    def keep(self, sentences: Tensor) -> None:
        """See `Decoding.keep`."""
        self.forbidden = self.forbidden[sentences]
        self.inner.keep(sentences)
