"""The pairs of the embedded corpus, and which split each is in."""

import hashlib
import random
from collections.abc import Iterator

from mute.data.toy.drawing import draw_sentence
from mute.data.toy.english import english
from mute.data.toy.german import german
from mute.errors import MuteError

SPLITS = ("train", "dev", "test")
_LONGEST = 25
"""Words in an English sentence of the corpus."""


def _fingerprint(english_text: str) -> int:
    return int.from_bytes(hashlib.blake2b(english_text.encode(), digest_size=8).digest())


def _split_of(fingerprint: int) -> str:
    percentile = fingerprint % 100
    return "train" if percentile < 90 else "dev" if percentile < 95 else "test"


def _distinct_pairs(count: int, seed: int, split: str) -> Iterator[tuple[str, str]]:
    # As text, since Random takes a seed and its negative for the same.
    rng = random.Random(str(seed))  # noqa: S311 - reproducible, not secret
    seen: set[int] = set()
    while len(seen) < count:
        sentence = draw_sentence(rng)
        source = english(sentence)
        fingerprint = _fingerprint(source)
        wanted = _split_of(fingerprint) == split and len(source.split()) <= _LONGEST
        if wanted and fingerprint not in seen:
            seen.add(fingerprint)
            yield source, german(sentence)


def pairs(count: int, seed: int = 1, split: str = "train") -> Iterator[tuple[str, str]]:
    """Yield `count` distinct (English, German) pairs of one split.

    A sentence alone decides which split it is in, so that splits are disjoint whatever the seeds.
    """
    if split not in SPLITS:
        raise MuteError(f"there is no split called '{split}'; known splits: {', '.join(SPLITS)}")
    if count < 0:
        raise MuteError(f"the number of pairs must not be negative, but is {count}")
    return _distinct_pairs(count, seed, split)
