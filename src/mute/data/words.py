"""Text ↔ words, the step before BPE, for each language its own way."""

import re
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any

from mute.config import TokenizerConfig
from mute.languages import base_language, is_chinese

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# One Chinese character, a run of other letters and digits, or one sign.
_CHARACTERS = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+|[^\w\s]")
_SPACED = re.compile(rf"[^\W{_HAN}]")
# What sacremoses does to a quotation that ends with dots, and the same without trying every dot of
# a run as its beginning, which would cost the square of its length.
_DOTS = (r'(\.+)"(\s*[^<])', r'"\g<1>\g<2>')
_DOTS_AT_ONCE = (r'(\.++)(?:(")(\s*[^<]))?', r"\g<2>\g<1>\g<3>")


class Words(ABC):
    """How one language's sentences are taken apart and put together again."""

    @abstractmethod
    def split(self, text: str) -> list[str]:
        """The words of a text; none contains whitespace."""

    @abstractmethod
    def join(self, words: Sequence[str]) -> str:
        """The text of some words, as a person would write it."""


def words_of(language: str, config: TokenizerConfig) -> Words:
    """The way that fits a language and what a config says about its text."""
    if config.pretokenized:
        return SpacedWords()
    if is_chinese(language):
        return ChineseWords() if config.chinese == "words" else ChineseCharacters()
    return MosesWords(language)


class SpacedWords(Words):
    """Words that stand between spaces already, and stay so."""

    def split(self, text: str) -> list[str]:
        """See `Words.split`."""
        return text.split()

    def join(self, words: Sequence[str]) -> str:
        """See `Words.join`."""
        return " ".join(words)


class MosesWords(Words):
    """The scripts of Moses: normalised punctuation, tokens, and the way back."""

    def __init__(self, language: str) -> None:
        from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer

        language = base_language(language)
        self._normalizer = MosesPunctNormalizer(language)
        self._normalizer.substitutions = [
            _DOTS_AT_ONCE if each == _DOTS else each for each in self._normalizer.substitutions
        ]
        self._tokenizer = MosesTokenizer(language)
        # Left alone, it makes a set of all letters anew for every word with dots in it.
        letters, small = frozenset(self._tokenizer.IsAlpha), frozenset(self._tokenizer.IsLower)
        self._tokenizer.isanyalpha = lambda word: not letters.isdisjoint(word)
        self._tokenizer.islower = small.issuperset
        self._detokenizer = MosesDetokenizer(language)

    def split(self, text: str) -> list[str]:
        """See `Words.split`."""
        # Not escaped: "&quot;" for a quotation mark helps Moses, but no neural model.
        words: list[str] = self._tokenizer.tokenize(self._normalizer.normalize(text), escape=False)
        return words

    def join(self, words: Sequence[str]) -> str:
        """See `Words.join`."""
        text: str = self._detokenizer.detokenize(words, unescape=False)
        return text


class ChineseCharacters(Words):
    """Every Chinese character is a word; so is every run of other letters or digits."""

    def split(self, text: str) -> list[str]:
        """See `Words.split`."""
        return _CHARACTERS.findall(text)

    def join(self, words: Sequence[str]) -> str:
        """Without spaces, but for those between words of other scripts, such as "New York"."""
        text = ""
        for word in words:
            apart = text and _SPACED.match(text[-1]) and _SPACED.match(word)
            text += f" {word}" if apart else word
        return text


# Of a run of unknown characters, jieba's cost grows with the square, so it is given a thousand at
# once; a part ends before a space, if there is one in its second half.
_IN_PARTS = re.compile(r".{500,1000}(?=\s)|.{1,1000}", re.DOTALL)


class ChineseWords(ChineseCharacters):
    """The words that jieba finds."""

    def __init__(self) -> None:
        self._jieba = _load_jieba()

    def split(self, text: str) -> list[str]:
        """See `Words.split`."""
        words: Iterable[str] = chain.from_iterable(map(self._jieba.cut, _IN_PARTS.findall(text)))
        return " ".join(words).split()


@cache
def _load_jieba() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of old escapes in its source, while it is compiled
        import jieba
    jieba.setLogLevel("WARNING")
    tokenizer = jieba.Tokenizer()
    # Left alone, it would trust a cache in the temporary folder, where anyone may write.
    with tempfile.TemporaryDirectory() as tokenizer.tmp_dir:
        tokenizer.initialize()
    return tokenizer
