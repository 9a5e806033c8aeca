"""The sentences that a model is looked at with."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from mute.data.batching import pad
from mute.data.tokenizer import Tokenizer
from mute.data.vocabulary import EOS
from mute.translate.lines import BATCH_TOKENS, by_length


def encode_sentences(
    tokenizer: Tokenizer, lines: Sequence[str], max_length: int
) -> tuple[list[list[int]], int]:
    """The ids of all sentences that the model takes whole, each with its end.

    Empty lines are no sentences.

    Returns:
        the ids, and how many sentences were left out since they have more than `max_length`
        pieces
    """
    encoded = [ids for line in lines if (ids := tokenizer.encode(line, "source"))]
    fitting = [[*ids, EOS] for ids in encoded if len(ids) <= max_length]
    return fitting, len(encoded) - len(fitting)


def batches(sentences: Sequence[list[int]], device: torch.device) -> Iterator[Tensor]:
    """The sentences by length, in groups within `BATCH_TOKENS`: (B, S) each, padded behind."""
    lengths = [len(ids) for ids in sentences]
    for group in by_length(lengths, lambda count, length: count * length <= BATCH_TOKENS):
        yield pad([sentences[place] for place in group]).to(device)
