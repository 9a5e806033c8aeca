"""Lines as the model takes them: cut into parts, and parts into batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

BATCH_TOKENS = 2048
"""Source positions that are translated together."""
BATCH_LOGITS = 1 << 26
"""Scores of next words, and of earlier words that partial translations look back at, that are
computed together: a wide beam makes for smaller batches."""


@dataclass(frozen=True)
class Part:
    """A line, or as much of a long one as the model takes."""

    line: int
    text: str
    source: list[int]
    prefix: list[int]


def batches(
    parts: Sequence[Part], chosen: Sequence[int], width: int, vocabulary: int
) -> Iterator[list[int]]:
    """The chosen parts by length, in groups that fit the budgets.

    Args:
        parts: all of them
        chosen: the indices of those that are wanted
        width: how many next words of each are scored at a time
        vocabulary: how many words there are
    """
    order = sorted(chosen, key=lambda i: len(parts[i].source))
    batch: list[int] = []
    for index in order:
        count, length = len(batch) + 1, len(parts[index].source) + 1
        scores = count * width * max(vocabulary, width * length)
        if batch and (count * length > BATCH_TOKENS or scores > BATCH_LOGITS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
