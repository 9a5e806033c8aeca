"""SentencePiece on raw text: nothing is lost on the way in, nothing unknown on the way out."""

import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Self

from mute.config import TokenizerConfig
from mute.data.bpe import drop_merges
from mute.data.tokenizer import TextPairs, Tokenizer
from mute.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK
from mute.errors import MuteError

# The sums over threads depend on their number, and a vocabulary must not depend on the machine.
_THREADS = 4
_CANDIDATES = 64
_SMOOTHING = 0.2
_SPACE = "▁"
_FIXED_PIECES = len(SPECIALS) + 256


class SentencePieceTokenizer(Tokenizer):
    """Unigram or BPE pieces; a character without a piece is spelled in bytes.

    Text comes back as it went in, spaces included, with one exception: SentencePiece's own sign
    for a space, U+2581, comes back as a space. Unicode normalisation is off because its usual
    form replaces the punctuation of Chinese by that of English.
    """

    kind = "sentencepiece"

    def __init__(
        self, config: TokenizerConfig, languages: tuple[str, str], models: Sequence[bytes]
    ) -> None:
        sides = [_Pieces(model, config) for model in models]
        super().__init__(config, languages, {"source": sides[0], "target": sides[-1]})
        self._models = models

    @classmethod
    def learn(cls, pairs: TextPairs, config: TokenizerConfig, languages: tuple[str, str]) -> Self:
        """See `Tokenizer.learn`."""
        sources, targets = zip(*pairs, strict=True)
        texts = [sources + targets] if config.joint else [sources, targets]
        return cls(config, languages, [_learn(text, config) for text in texts])

    def _files(self) -> dict[str, bytes]:
        return dict(zip(_file_names(self.config), self._models, strict=True))

    @classmethod
    def _load_model(cls, folder: Path, config: TokenizerConfig, languages: tuple[str, str]) -> Self:
        models = [(folder / name).read_bytes() for name in _file_names(config)]
        try:
            return cls(config, languages, models)
        except RuntimeError:
            raise MuteError(f"{folder}: a SentencePiece model is damaged") from None


class _Pieces:
    """One SentencePiece model. SentencePiece's own sampling is not used: it takes no seed."""

    def __init__(self, model: bytes, config: TokenizerConfig) -> None:
        from sentencepiece import SentencePieceProcessor

        self._processor = SentencePieceProcessor(model_proto=model)
        self.size: int = self._processor.get_piece_size()
        self._unigram = config.model == "unigram"

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._processor.encode(text)
        return ids

    def decode(self, ids: Iterable[int], copies: Mapping[int, Sequence[str]] | None = None) -> str:
        assert not copies, "nothing is unknown, so nothing needs to be copied"
        text: str = self._processor.decode([int(each) for each in ids])
        return text

    def unknown(self, text: str) -> list[tuple[int, str]]:  # noqa: ARG002 (bytes spell anything)
        return []

    def names(self, ids: Iterable[int]) -> list[str]:
        return [self._processor.id_to_piece(int(each)) for each in ids]

    def resplit(self, word: Sequence[int], rate: float, random: Random) -> Sequence[int]:
        return (self._draw if self._unigram else self._drop)(word, rate, random)

    def by_word(self, ids: Sequence[int]) -> Iterator[list[int]]:
        """The ids cut before each space; no piece reaches across one."""
        word: list[int] = []
        for each, piece in zip(ids, self.names(ids), strict=True):
            if word and piece.startswith(_SPACE):
                yield word
                word = []
            word.append(int(each))
        yield word

    def _draw(self, word: Sequence[int], rate: float, random: Random) -> Sequence[int]:
        """With probability `rate` one of its best splits, likelier ones more often (Kudo 2018)."""
        if random.random() >= rate or not self._is_spelled(word):
            return word
        splits = self._processor.nbest_encode_as_ids(self.decode(word), _CANDIDATES)
        scores = [sum(map(self._processor.get_score, split)) for split in splits]
        # Beside the best: of a long word, or a sentence without spaces, all would come out as 0.
        weights = [math.exp(_SMOOTHING * (score - max(scores))) for score in scores]
        drawn: list[int] = random.choices(splits, weights)[0]
        return drawn

    def _drop(self, word: Sequence[int], rate: float, random: Random) -> Sequence[int]:
        """The word with some of its merges left out."""
        if not self._is_spelled(word):
            return word
        pieces = drop_merges("".join(self.names(word)), self._rank, rate, random)
        return [self._processor.piece_to_id(piece) for piece in pieces]

    def _rank(self, left: str, right: str) -> float | None:
        merged = self._processor.piece_to_id(left + right)
        return -self._processor.get_score(merged) if self._is_text(merged) else None

    def _is_spelled(self, word: Sequence[int]) -> bool:
        """Whether the word consists of letters; bytes and lone spaces have one form only."""
        return len(word) > 0 and self.names(word) != [_SPACE] and all(map(self._is_text, word))

    def _is_text(self, piece_id: int) -> bool:
        return piece_id >= len(SPECIALS) and not self._processor.is_byte(piece_id)


def _learn(sentences: Iterable[str], config: TokenizerConfig) -> bytes:
    from sentencepiece import SentencePieceTrainer

    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            # Each once: text that repeats itself takes it hours to look for pieces in.
            sentence_iterator=iter(dict.fromkeys(sentences)),
            model_writer=model,
            model_type=config.model,
            vocab_size=config.size,
            byte_fallback=True,
            character_coverage=0.9995,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            pad_id=PAD,
            unk_id=UNK,
            bos_id=BOS,
            eos_id=EOS,
            unk_surface=SPECIALS[UNK],
            num_threads=_THREADS,
            minloglevel=2,
        )
    except RuntimeError as error:
        if "sentences_.empty()" in str(error):
            raise MuteError(
                "data.train: no line is short enough to learn a vocabulary from; text needs one "
                "sentence per line"
            ) from None
        raise MuteError(f"data.tokenizer.size: {_explain(str(error), config.size)}") from None
    return model.getvalue()


def _explain(error: str, size: int) -> str:
    if size <= _FIXED_PIECES:
        return f"must be above {_FIXED_PIECES}, as many pieces are special or stand for bytes"
    if most := re.search(r"size too high.*<= (\d+)", error):
        return f"this text yields at most {most[1]} pieces, not {size}; lower it, or add text"
    if least := re.search(r"smaller than required_chars\. \d+ vs (\d+)", error):
        return f"this text has more characters than {size} pieces can hold; at least {least[1]}"
    return f"SentencePiece cannot make {size} pieces of this text ({error})"


def _file_names(config: TokenizerConfig) -> list[str]:
    return ["joint.model"] if config.joint else ["source.model", "target.model"]
