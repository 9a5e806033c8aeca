"""Reading text that scores are computed on: it must be whole, and may have several references."""

from collections.abc import Iterator
from typing import NamedTuple

from mute.config import ParallelText
from mute.data.corpus import Flaw, Pair, file_names, read_pairs
from mute.data.lines import FROM_LATIN1
from mute.errors import MuteError


class Scored(NamedTuple):
    """A whole text, in memory."""

    pairs: list[Pair]
    """Every sentence with its first reference."""
    references: list[list[str]]
    """The whole translations to score against: all first references, all second ones, …"""


def read_scored(text: ParallelText) -> Scored:
    """A development or test set with all its references.

    Raises:
        MuteError: as `read_strictly`, for each of the references; or there is no line.
    """
    texts = [list(read_strictly(each)) for each in by_reference(text)]
    if not texts[0]:
        raise MuteError(f"{file_names(text)[0]}: empty, but text that is scored needs sentences")
    return Scored(texts[0], [[pair.target for pair in pairs] for pairs in texts])


def read_strictly(text: ParallelText) -> Iterator[Pair]:
    """Every pair of a text that must be whole, with the first reference.

    Raises:
        MuteError: as `read_pairs`, and where a line is not a proper pair.
    """
    for pair in read_pairs(text):
        if isinstance(pair, Flaw):
            hint = f"; {FROM_LATIN1}" if pair.reason == "not UTF-8" else ""
            raise MuteError(
                f"{pair.file}:{pair.line}: {pair.reason}; text that is scored needs a sentence "
                f"on both sides of every line: mend the line, or delete it from both sides{hint}"
            )
        yield pair


def by_reference(text: ParallelText) -> list[ParallelText]:
    """The text once for each of its references, with that as the only one."""
    if text.target is None or isinstance(text.target, str):
        return [text]
    return [text.model_copy(update={"target": target}) for target in text.target]
