"""Byte pair encoding of single words, by the merges that subword-nmt learns."""

import contextlib
import io
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import pairwise
from random import Random

from mute.errors import MuteError

GOES_ON = "@@"
"""What a piece ends in when its word goes on."""

_END = "</w>"
# The cost grows with the square of a word's length, and what is longer is no word.
_LONGEST_WORD = 100
# So much is remembered, and nothing of what is too long to be met again soon.
_CACHED_WORDS, _LONGEST_CACHED = 200_000, 30


class Bpe:
    """Cuts words into pieces of a vocabulary.

    Args:
        codes: the merges, as `learn_codes` returns them.
        vocabulary: a piece outside it is cut further, as far as the merges it is made of allow;
            None lets every piece pass.
    """

    def __init__(self, codes: str, vocabulary: Container[str] | None = None) -> None:
        from subword_nmt.apply_bpe import BPE

        self._bpe = BPE(io.StringIO(codes), separator=GOES_ON, vocab=vocabulary)

    def split(self, word: str) -> list[str]:
        """The pieces of a word, all but the last marked with `GOES_ON`."""
        if len(self._bpe.cache) > _CACHED_WORDS:
            self._bpe.cache = {}  # a new one: another thread may be reading the old
        *parts, last = _cut(word)
        pieces = self._segment(last)
        for part in reversed(parts):
            *begin, end = self._segment(part)
            pieces = [*begin, end + GOES_ON, *pieces]
        return pieces

    def _segment(self, part: str) -> list[str]:
        pieces: list[str] = self._bpe.segment_tokens([part])
        if len(part) > _LONGEST_CACHED:
            self._bpe.cache.pop(part, None)
        return pieces

    def drop(self, word: str, rate: float, random: Random) -> list[str]:
        """The pieces of a word with merges left out at random; they may miss the vocabulary."""
        pieces = []
        for part in _cut(word):
            *begin, end = drop_merges([*part[:-1], part[-1] + _END], self._rank, rate, random)
            pieces += [*begin, end.removesuffix(_END)]
        return [*(piece + GOES_ON for piece in pieces[:-1]), pieces[-1]]

    def _rank(self, left: str, right: str) -> int | None:
        rank: int | None = self._bpe.bpe_codes.get((left, right))
        return rank


def learn_codes(words: Mapping[str, int], merges: int) -> str:
    """Learn at most so many merges from words and their counts, in subword-nmt's file format.

    Raises:
        MuteError: no two characters occur together twice.
    """
    from subword_nmt.learn_bpe import learn_bpe

    # Sorted, so that the result depends on the counts alone.
    counts = [f"{word} {words[word]}" for word in sorted(words) if len(word) <= _LONGEST_WORD]
    codes = io.StringIO()
    # It reports its progress, and that it has run out of merges, to stderr.
    with contextlib.suppress(ValueError), contextlib.redirect_stderr(io.StringIO()):
        learn_bpe(counts, codes, merges, is_dict=True)
    if codes.getvalue().count("\n") < 2:
        raise MuteError("the training text is too short to learn BPE from; add text")
    return codes.getvalue()


def drop_merges(
    symbols: Sequence[str],
    rank: Callable[[str, str], float | None],
    rate: float,
    random: Random,
) -> list[str]:
    """BPE-dropout: merge neighbours, each merge left out of a round with probability `rate`.

    Args:
        symbols: the characters of a word.
        rank: of the merge of two neighbours, the lower the earlier; None if there is none.
        rate: 0 gives plain BPE, 1 the characters.
        random: where chance comes from.
    """
    word = list(symbols)
    while True:
        merges = [
            (order, place)
            for place, (left, right) in enumerate(pairwise(word))
            if (order := rank(left, right)) is not None and random.random() >= rate
        ]
        if not merges:
            return word
        _, place = min(merges)
        word[place : place + 2] = [word[place] + word[place + 1]]


def _cut(word: str) -> list[str]:
    return [word[at : at + _LONGEST_WORD] for at in range(0, len(word), _LONGEST_WORD)]
