"""The paper's pieces: words, cut by a BPE learned on both languages together."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Self

from mute.config import TokenizerConfig
from mute.data.bpe import GOES_ON, Bpe, learn_codes
from mute.data.tokenizer import SIDES, TextPairs, Tokenizer
from mute.data.vocabulary import SPECIALS, UNK
from mute.data.words import Words, words_of
from mute.errors import MuteError

_CODES = "bpe.codes"


class MosesBpe(Tokenizer):
    """Moses tokens (or jieba's words, or tokens as they are), then subword-nmt's BPE.

    A character becomes UNK if it was not in the text it learned from, or never at such a place: at
    the end of a word, or before it.
    """

    kind = "moses-bpe"

    def __init__(
        self,
        config: TokenizerConfig,
        languages: tuple[str, str],
        codes: str,
        vocabularies: Sequence[Sequence[str]],
    ) -> None:
        both = vocabularies[0], vocabularies[-1]
        sides = {
            side: _Language(words_of(language, config), codes, vocabulary)
            for side, language, vocabulary in zip(SIDES, languages, both, strict=True)
        }
        super().__init__(config, languages, sides)
        self._codes = codes
        self._vocabularies = vocabularies

    @classmethod
    def learn(cls, pairs: TextPairs, config: TokenizerConfig, languages: tuple[str, str]) -> Self:
        """See `Tokenizer.learn`."""
        counts = []
        for side, language in enumerate(languages):
            words = words_of(language, config)
            counts.append(Counter(word for pair in pairs for word in words.split(pair[side])))
        both = counts[0] + counts[1]
        codes = learn_codes(both, config.size)
        texts = [both] if config.joint else counts
        return cls(config, languages, codes, [_vocabulary(text, codes) for text in texts])

    def _files(self) -> dict[str, bytes]:
        texts = ["".join(f"{piece}\n" for piece in each) for each in self._vocabularies]
        names = [_CODES, *_file_names(self.config)]
        return {
            name: text.encode() for name, text in zip(names, [self._codes, *texts], strict=True)
        }

    @classmethod
    def _load_model(cls, folder: Path, config: TokenizerConfig, languages: tuple[str, str]) -> Self:
        codes = (folder / _CODES).read_bytes().decode()
        for number, merge in enumerate(codes.rstrip("\n").split("\n"), 1):
            pieces = merge.split(" ")
            if len(pieces) != 2 or not all(pieces):
                raise MuteError(f"{folder / _CODES}:{number}: not a merge of two pieces; damaged")
        texts = [(folder / name).read_bytes().decode() for name in _file_names(config)]
        return cls(config, languages, codes, [text.split("\n")[:-1] for text in texts])


class _Language:
    """One side: its words, the common BPE, and its vocabulary."""

    def __init__(self, words: Words, codes: str, vocabulary: Sequence[str]) -> None:
        self.size = len(vocabulary)
        self._words = words
        self._vocabulary = vocabulary
        # Without the special ones: a text that says "</s>" must not end the sentence.
        self._ids = {
            piece: piece_id
            for piece_id, piece in enumerate(vocabulary)
            if piece_id >= len(SPECIALS)
        }
        self._bpe = Bpe(codes, self._ids)

    def encode(self, text: str) -> list[int]:
        return [each for word in self._words.split(text) for each in self._look_up(word)]

    def _look_up(self, word: str) -> list[int]:
        """The ids of a word's pieces; one at its end that looks as if it went on is UNK."""
        *before, last = self._bpe.split(word)
        ids = [self._ids.get(piece, UNK) for piece in before]
        return [*ids, UNK if last.endswith(GOES_ON) else self._ids.get(last, UNK)]

    def decode(self, ids: Iterable[int], copies: Mapping[int, Sequence[str]] | None = None) -> str:
        text = [each for each in ids if each == UNK or each >= len(SPECIALS)]
        left, words, place = dict(copies or {}), [], 0
        for word in self.by_word(text):
            words.append(self._spell(word))
            for _ in word:
                words += left.pop(place, ())
                place += 1
        return self._words.join([*words, *(word for each in left.values() for word in each)])

    def unknown(self, text: str) -> list[tuple[int, str]]:
        found, place = [], 0
        for word in self._words.split(text):
            ids = self._look_up(word)
            if UNK in ids:
                found.append((place + ids.index(UNK), word))
            place += len(ids)
        return found

    def names(self, ids: Iterable[int]) -> list[str]:
        return [self._vocabulary[each] for each in ids]

    def resplit(self, word: Sequence[int], rate: float, random: Random) -> Sequence[int]:
        pieces = self._bpe.drop(self._spell(word), rate, random)
        # The vocabulary holds what BPE made of the text, not all that dropout can make of it.
        possible = UNK not in word and all(piece in self._ids for piece in pieces)
        return [self._ids[piece] for piece in pieces] if possible else word

    def by_word(self, ids: Iterable[int]) -> Iterator[list[int]]:
        word: list[int] = []
        for each in ids:
            word.append(int(each))
            if not self._vocabulary[each].endswith(GOES_ON):
                yield word
                word = []
        if word:
            yield word

    def _spell(self, word: Sequence[int]) -> str:
        return "".join(piece.removesuffix(GOES_ON) for piece in self.names(word))


def _vocabulary(words: Mapping[str, int], codes: str) -> list[str]:
    """The special pieces, then those of the text, the most frequent first."""
    bpe, counts = Bpe(codes), Counter[str]()
    for word, count in words.items():
        *before, last = bpe.split(word)
        for piece in before if last.endswith(GOES_ON) else (*before, last):
            counts[piece] += count
    learned = sorted(counts.keys() - set(SPECIALS), key=lambda piece: (-counts[piece], piece))
    return [*SPECIALS, *learned]


def _file_names(config: TokenizerConfig) -> list[str]:
    return ["joint.vocabulary"] if config.joint else ["source.vocabulary", "target.vocabulary"]
