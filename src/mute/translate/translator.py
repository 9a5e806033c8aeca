"""Text in one language → text in another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mute.data.batching import pad
from mute.data.tokenizer import Tokenizer
from mute.data.vocabulary import EOS
from mute.model.folder import load_model
from mute.model.transformer import Transformer
from mute.runtime import keep_freed_memory
from mute.translate.search import Hypothesis, SearchOptions, beam_search

BATCH_TOKENS = 2048
"""Source positions that are translated together."""


@dataclass(frozen=True)
class Translation:
    """What a line became."""

    text: str
    score: float
    """The log-probability divided by the length penalty; 0 for an empty line."""
    tokens: list[str]
    """The pieces of the text."""
    alternatives: list["Translation"]
    """The next best translations, if they were asked for."""


class Translator:
    """A model with its tokenizer."""

    def __init__(self, model: Transformer, tokenizer: Tokenizer) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer

    def translate(
        self,
        lines: Sequence[str],
        beam: int = 4,
        length_penalty: float = 0.6,
        nbest: int = 1,
    ) -> list[Translation]:
        """Translate lines; there are as many translations, in the same order.

        Args:
            lines: sentences of the source language; an empty one stays empty
            beam: partial translations kept in the search; 1 is greedy and fastest
            length_penalty: the exponent of GNMT's length penalty
            nbest: how many translations of each line, the further ones as alternatives
        """
        options = SearchOptions(max(beam, nbest), length_penalty, nbest)
        sources = [self.tokenizer.encode(line, "source") for line in lines]
        translations = [Translation("", 0.0, [], [])] * len(lines)
        for batch in _batches(sources):
            found = beam_search(self.model, pad([[*sources[i], EOS] for i in batch]), options)
            for index, hypotheses in zip(batch, found, strict=True):
                translations[index] = self._translation(hypotheses)
        return translations

    def _translation(self, hypotheses: list[Hypothesis]) -> Translation:
        best, *others = hypotheses
        return Translation(
            self.tokenizer.decode(best.ids, "target"),
            best.score,
            self.tokenizer.pieces(best.ids, "target"),
            [self._translation([other]) for other in others],
        )


def _batches(sources: list[list[int]]) -> Iterator[list[int]]:
    """The lines that are not empty, by length, in groups of about BATCH_TOKENS positions."""
    order = sorted((i for i, ids in enumerate(sources) if ids), key=lambda i: len(sources[i]))
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) + 1) * (len(sources[index]) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def load(path: Path | str) -> Translator:
    """Open a model folder or a run folder.

    Raises:
        MuteError: there is no whole model in it.
    """
    keep_freed_memory()
    return Translator(*load_model(path))
