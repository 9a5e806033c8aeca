"""Which pairs have been met before, in memory that tens of millions of pairs do not fill."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from mute.data.corpus import Pair


class Duplicates:
    """Remembers pairs by digests of 64 bits, most of them in one sorted array.

    That is 8 bytes a pair, twice that while the array grows, and some 70 bytes for each of the
    newest ninth: 18.4 million pairs stay below half a gigabyte. The chance that such a corpus
    loses even one pair to a digest it shares with a different one is 1 in 100,000.
    """

    def __init__(self) -> None:
        self._settled = np.empty(0, np.uint64)
        self._recent: set[int] = set()

    def check(self, pairs: Sequence[Pair]) -> list[bool]:
        """For each pair, whether an equal one came before it, in this call or an earlier one."""
        digests = [_digest(pair) for pair in pairs]
        repeated = []
        for digest, settled in zip(digests, self._is_settled(digests), strict=True):
            repeated.append(bool(settled) or digest in self._recent)
            if not repeated[-1]:
                self._recent.add(digest)
        if len(self._recent) > max(1 << 16, len(self._settled) // 8):
            self._settle()
        return repeated

    def _is_settled(self, digests: list[int]) -> NDArray[np.bool_]:
        wanted = np.array(digests, np.uint64)
        if not len(self._settled):
            return np.zeros(len(wanted), np.bool_)
        places = np.searchsorted(self._settled, wanted).clip(max=len(self._settled) - 1)
        settled: NDArray[np.bool_] = self._settled[places] == wanted
        return settled

    def _settle(self) -> None:
        recent = np.fromiter(self._recent, np.uint64, len(self._recent))
        self._settled = np.concatenate([self._settled, recent])
        self._settled.sort()
        self._recent.clear()


def _digest(pair: Pair) -> int:
    # A pair holds no control characters, so the newline keeps ("a b", "c") from ("a", "b c").
    text = f"{pair.source}\n{pair.target}".encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
