"""Several models that translate together: the mean of their probabilities decides."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from mute.translate.decoding import Decoding


class EnsembleDecoding:
    """Step by step, each model says what comes next; what is returned are log-probabilities."""

    def __init__(self, members: Sequence[Decoding]) -> None:
        self.members = members

    def step(self, words: Tensor) -> Tensor:
        """See `Decoding.step`."""
        return mean_log_probability([member.step(words) for member in self.members])

    def select(self, parents: Tensor) -> None:
        """See `Decoding.select`."""
        for member in self.members:
            member.select(parents)

    def keep(self, sentences: Tensor) -> None:
        """See `Decoding.keep`."""
        for member in self.members:
            member.keep(sentences)


def mean_log_probability(logits: Sequence[Tensor]) -> Tensor:
    """The logarithm of the models' mean probability: several (..., V) → (..., V)."""
    log_p = torch.stack([each.log_softmax(-1) for each in logits])
    return log_p.logsumexp(0) - math.log(len(logits))
