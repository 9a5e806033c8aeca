"""Lines as the model takes them: cut into parts, and parts into batches."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

BATCH_TOKENS = 2048
"""Source positions that are translated together."""
BATCH_LOGITS = 1 << 26
"""The most scores that are held at a time, of next words or, in attention, of earlier ones: a wide
beam makes for smaller batches."""


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

    def fit(count: int, length: int) -> bool:
        scores = count * width * max(vocabulary, width * length)
        return count * length <= BATCH_TOKENS and scores <= BATCH_LOGITS

    lengths = [len(parts[index].source) + 1 for index in chosen]
    for group in by_length(lengths, fit):
        yield [chosen[place] for place in group]


def by_length(lengths: Sequence[int], fit: Callable[[int, int], bool]) -> Iterator[list[int]]:
    """Places in a list of lengths, the shortest first, in groups.

    Args:
        lengths: of sentences
        fit: whether so many, none longer than this, may be in one; a single one always may
    """
    group: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and not fit(len(group) + 1, lengths[place]):
            yield group
            group = []
        group.append(place)
    if group:
        yield group
