"""What turns text into ids and ids into text, and how it is kept in a folder."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Literal, Protocol, Self

from mute.config import TokenizerConfig
from mute.data.lines import tidy
from mute.data.vocabulary import BYTE, SPECIALS
from mute.errors import MuteError
from mute.runtime import seed_of

Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")

TextPairs = Sequence[tuple[str, str]]
"""Sentences and their translations."""

LEARNING_PAIRS = 400_000
"""A tokenizer is learned from at most so many pairs: more cost gigabytes and change little."""

# Samples of a word are remembered: to cut it again each time it is met takes a good part of the
# time that a small model is trained in. Nothing long, which will not be met again.
_WAYS_IN_BITS, _REMEMBERED_WAYS, _LONGEST_REMEMBERED = 6, 500_000, 8

FORMAT = 1
SETTINGS = "tokenizer.json"


class Language(Protocol):
    """Text ↔ ids, for one language; `Tokenizer` says what its methods promise."""

    size: int
    """How many ids there are, the special ones included."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text that is tidy already."""

    def decode(self, ids: Sequence[int], copies: Mapping[int, Sequence[str]] | None = None) -> str:
        """The text of some ids, with words of another text put in behind some of them."""

    def unknown(self, text: str) -> list[tuple[int, str]]:
        """The words that have an UNK among their ids, each after the place of its first one."""

    def names(self, ids: Sequence[int]) -> list[str]:
        """What each id stands for."""

    def by_word(self, ids: Sequence[int]) -> Iterator[list[int]]:
        """The ids in parts that no piece reaches across, where the language has such."""

    def resplit(self, word: Sequence[int], rate: float, random: Random) -> Sequence[int]:
        """Other ids for one of those parts; the rate is above zero."""


class Tokenizer(ABC):
    """Text ↔ ids, for both languages of a system; learned once, then only read.

    Ids never include the beginning or the end of a sentence: who makes batches adds them.
    A subclass makes the two languages, and learns, saves and loads what they are made from.
    """

    kind: ClassVar[str]
    """The name a config calls it by."""
    source_size: int
    """How many ids the source side has, the special ones included."""
    target_size: int

    def __init__(
        self, config: TokenizerConfig, languages: tuple[str, str], sides: Mapping[Side, Language]
    ) -> None:
        self.config = config
        self.languages = languages
        self.source_size = sides["source"].size
        self.target_size = sides["target"].size
        self._sides = sides
        self._ways: dict[tuple[Side, tuple[int, ...], float, int], Sequence[int]] = {}

    @classmethod
    @abstractmethod
    def learn(cls, pairs: TextPairs, config: TokenizerConfig, languages: tuple[str, str]) -> Self:
        """Make one from sentences and their translations, always the same from the same.

        Raises:
            MuteError: the text does not yield what the config asks for.
        """

    @cached_property
    def takes(self) -> str:
        """What has to be done to a text before it comes here, in words; '' if nothing has.

        Whether the text it learned from was lower-cased shows in its vocabulary only.
        """
        names = self.pieces(range(len(SPECIALS), self.source_size), "source")
        letters = [c for name in names if not BYTE.fullmatch(name) for c in name if c.isalpha()]
        cased = [letter for letter in letters if letter.islower() or letter.isupper()]
        # Chinese has no cases, and the few words of other letters in it may be small by chance.
        small = 2 * len(cased) > len(letters) and all(map(str.islower, cased))
        lowercase = small and not self.config.lowercase
        done = [
            *(["tokenised"] if self.config.pretokenized else []),
            *(["lower-cased"] if lowercase else []),
        ]
        return f"text that is {' and '.join(done)} already" if done else ""

    def encode(self, text: str, side: Side) -> list[int]:
        """The ids of a text: none for an empty one, and UNK where the vocabulary has nothing."""
        return self._sides[side].encode(self._as_read(text))

    def decode(
        self, ids: Sequence[int], side: Side, copies: Mapping[int, Sequence[str]] | None = None
    ) -> str:
        """The text of some ids, as a person would write it; special ids but UNK are left out.

        Args:
            ids: as `encode` gives them.
            side: whose ids they are.
            copies: words to put in behind the word that the id at a place belongs to.
        """
        return self._sides[side].decode(ids, copies)

    def unknown(self, text: str, side: Side) -> list[tuple[int, str]]:
        """The words with an UNK among their ids, each after the place of its first one."""
        return self._sides[side].unknown(self._as_read(text))

    def _as_read(self, text: str) -> str:
        """The text as it would have been read for training: no white space at its ends."""
        return _fold(tidy(text).strip(), self.config)

    def pieces(self, ids: Sequence[int], side: Side) -> list[str]:
        """What each id stands for, one by one."""
        return self._sides[side].names(ids)

    def sample(self, ids: Sequence[int], side: Side, rate: float, seed: int) -> list[int]:
        """Other ids for the same text: the subword regularisation of training.

        A word has 64 ways to be cut, drawn once and for all, one of which is chosen each time; one
        of more than 8 pieces is cut anew.

        Args:
            ids: what `encode` returned.
            side: whose ids they are.
            rate: for BPE that of BPE-dropout; for unigrams each word's chance of another split.
            seed: equal seeds give equal samples.
        """
        if rate == 0:
            return list(ids)
        language, random = self._sides[side], Random(seed)  # noqa: S311 (no secret)
        sampled: list[int] = []
        for word in language.by_word(ids):
            if len(word) > _LONGEST_REMEMBERED:
                sampled += language.resplit(word, rate, random)
            else:
                sampled += self._way(side, tuple(word), rate, random.getrandbits(_WAYS_IN_BITS))
        return sampled

    def _way(self, side: Side, word: tuple[int, ...], rate: float, number: int) -> Sequence[int]:
        """One of the ways to cut a word, the same each time."""
        key = side, word, rate, number
        if key not in self._ways:
            if len(self._ways) >= _REMEMBERED_WAYS:
                self._ways = {}
            random = Random(seed_of(number, *word))  # noqa: S311 (no secret)
            self._ways[key] = self._sides[side].resplit(word, rate, random)
        return self._ways[key]

    def save(self, folder: Path) -> None:
        """Write everything `load_tokenizer` needs into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        files = self._files()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        settings = {
            "format": FORMAT,
            "languages": self.languages,
            "sizes": [self.source_size, self.target_size],
            "options": self.config.model_dump(mode="json"),
            "files": {name: _digest(content) for name, content in files.items()},
        }
        (folder / SETTINGS).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")

    @abstractmethod
    def _files(self) -> dict[str, bytes]:
        """What `_load_model` reads, by name."""

    @classmethod
    @abstractmethod
    def _load_model(
        cls, folder: Path, config: TokenizerConfig, languages: tuple[str, str]
    ) -> Self: ...


def learn_tokenizer(
    pairs: TextPairs, config: TokenizerConfig, languages: tuple[str, str]
) -> Tokenizer:
    """Learn the kind of tokenizer a config asks for; see `Tokenizer.learn`."""
    folded = [(_fold(source, config), _fold(target, config)) for source, target in pairs]
    return _class_of(config.kind).learn(folded, config, languages)


def tokenizer_files(folder: Path) -> list[Path]:
    """The files of a tokenizer folder by name, and nothing that somebody else has left there."""
    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    # Older versions did not tell; what they wrote is no secret and no folder.
    others = [file.name for file in folder.iterdir() if file.is_file() and file.name[0] != "."]
    return [folder / name for name in sorted({SETTINGS, *settings.get("files", others)})]


def load_tokenizer(folder: Path | str) -> Tokenizer:
    """Read what `Tokenizer.save` wrote.

    Raises:
        MuteError: something is missing, damaged or of another version of mute.
    """
    folder = Path(folder)
    path = folder / SETTINGS
    try:
        settings: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = settings["format"]
        if version != FORMAT:
            raise MuteError(
                f"{path}: format {version}, but this version of mute reads format {FORMAT}; "
                f"use the version that wrote it, or prepare the data again"
            )
        # Folders that older versions wrote have no digests.
        for name, digest in settings.get("files", {}).items():
            _check_file(folder / name, digest)
        config = TokenizerConfig.model_validate(settings["options"])
        source, target = settings["languages"]
        tokenizer = _class_of(config.kind)._load_model(folder, config, (source, target))
        sizes = settings["sizes"]
    except OSError as error:
        raise MuteError(
            f"{error.filename}: cannot be read ({error.strerror}); "
            f"a tokenizer folder is only whole with all its files"
        ) from None
    except MuteError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError):
        raise MuteError(f"{path}: not a tokenizer of mute, or damaged") from None
    if sizes != [tokenizer.source_size, tokenizer.target_size]:
        raise MuteError(
            f"{folder}: the vocabularies have {tokenizer.source_size:,} and "
            f"{tokenizer.target_size:,} pieces, but {SETTINGS} says {sizes}; the folder is damaged"
        )
    return tokenizer


def same_vocabulary(one: Tokenizer, other: Tokenizer) -> bool:
    """Whether the ids of both mean the same pieces, on both sides."""

    def pieces(tokenizer: Tokenizer) -> list[list[str]]:
        sizes = tokenizer.source_size, tokenizer.target_size
        return [
            tokenizer.pieces(range(size), side) for side, size in zip(SIDES, sizes, strict=True)
        ]

    return pieces(one) == pieces(other)


def _check_file(path: Path, digest: str) -> None:
    if _digest(path.read_bytes()) != digest:
        raise MuteError(f"{path}: damaged or cut short; get the whole folder again")


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def _fold(text: str, config: TokenizerConfig) -> str:
    return text.lower() if config.lowercase else text


def _class_of(kind: str) -> type[Tokenizer]:
    from mute.data.moses_bpe import MosesBpe
    from mute.data.sentencepiece_tokenizer import SentencePieceTokenizer

    kinds: tuple[type[Tokenizer], ...] = (SentencePieceTokenizer, MosesBpe)
    return next(each for each in kinds if each.kind == kind)
