"""Beam search: the most probable translations a model can be found to have."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from mute.data.vocabulary import BOS, EOS, PAD, UNK
from mute.model.decoder import Cache
from mute.model.transformer import Transformer

NEVER = torch.tensor([PAD, UNK, BOS])
"""What no translation may contain."""


@dataclass(frozen=True)
class SearchOptions:
    """How to search."""

    beam: int = 4
    """Partial translations kept of each sentence; 1 is greedy."""
    length_penalty: float = 0.6
    """The exponent of GNMT's length penalty; 0 for none."""
    nbest: int = 1
    """How many translations to return of each sentence."""


class Hypothesis(NamedTuple):
    """A finished translation."""

    ids: list[int]
    """Its words, without the end."""
    log_probability: float
    """Of all words and the end."""
    score: float
    """The log-probability divided by the length penalty."""


def length_penalty(length: Tensor | int, exponent: float) -> Tensor:
    """GNMT's ((5 + length) / 6) ^ exponent, the end counted."""
    return ((5 + torch.as_tensor(length)) / 6) ** exponent


def longest_translation(source_lengths: Tensor) -> Tensor:
    """How many words a translation may have, its end counted, given its source's length."""
    return 2 * source_lengths + 10


@torch.inference_mode()
def beam_search(
    model: Transformer, source: Tensor, options: SearchOptions
) -> list[list[Hypothesis]]:
    """Translate a batch.

    Args:
        model: in evaluation mode
        source: (B, S) ids with their ends, padded behind
        options: how to search

    Returns:
        for each sentence up to `nbest` translations, best first
    """
    search = _Search(model, source, options)
    while search.sentences:
        search.advance()
    return [sorted(found, key=lambda h: -h.score)[: options.nbest] for found in search.found]


class _Search:
    """Sentences that are still being translated, each with `width` partial translations.

    Rows of all tensors are sentence by sentence, the better partial translation first.
    """

    def __init__(self, model: Transformer, source: Tensor, options: SearchOptions) -> None:
        self.model, self.options = model, options
        self.memory, self.mask = model.encoder(source)
        self.cache: Cache = model.decoder.start()
        self.limits = longest_translation((source != PAD).sum(1))
        self.sentences = list(range(len(source)))
        self.found: list[list[Hypothesis]] = [[] for _ in source]
        self.width = 1
        self.words = source.new_full((len(source), 1), BOS)  # (rows, length + 1)
        self.scores = self.memory.new_zeros(len(source))  # (rows,)

    def advance(self) -> None:
        """Add a word to every partial translation and let go of the sentences that are done."""
        scores, rows, words = self._candidates()
        length = self.words.size(1)  # of a candidate: BOS out, the new word in
        ends = words == EOS
        self._collect(scores, rows, ends, length)

        # The best `beam` that go on: of 2 · beam at most half end.
        order = ends.long().argsort(dim=1, stable=True)[:, : self.options.beam]
        self.scores = scores.gather(1, order)
        going_on = self._unfinished(self.scores, length)
        self._keep(rows.gather(1, order), words.gather(1, order), going_on)

    def _candidates(self) -> tuple[Tensor, Tensor, Tensor]:
        """The 2 · beam best continuations of each sentence: scores, rows and words."""
        logits = self.model.step(self.words[:, -1], self.memory, self.mask, self.cache)
        normaliser = logits.logsumexp(1)
        logits.index_fill_(1, NEVER.to(logits.device), -torch.inf)
        at_limit = (self.limits <= self.words.size(1)).repeat_interleave(self.width)
        other = torch.arange(logits.size(1), device=logits.device) != EOS
        logits.masked_fill_(at_limit[:, None] & other, -torch.inf)
        count = min(2 * self.options.beam, logits.size(1))
        best, words = logits.topk(count, dim=1)
        scores = self.scores[:, None] + best - normaliser[:, None]

        sentences = len(self.sentences)
        at_most = min(2 * self.options.beam, self.width * count)
        scores, chosen = scores.view(sentences, -1).topk(at_most, dim=1)
        first_row = torch.arange(sentences, device=scores.device)[:, None] * self.width
        rows = first_row + chosen // count
        return scores, rows, words.view(sentences, -1).gather(1, chosen)

    def _collect(self, scores: Tensor, rows: Tensor, ends: Tensor, length: int) -> None:
        """Take down the candidates that end, if they are among the best `beam`."""
        penalty = float(length_penalty(length, self.options.length_penalty))
        ended = ends[:, : self.options.beam] & scores[:, : self.options.beam].isfinite()
        for index, candidate in ended.nonzero().tolist():
            words = self.words[rows[index, candidate], 1:].tolist()
            score = float(scores[index, candidate])
            found = self.found[self.sentences[index]]
            found.append(Hypothesis(words, score, score / penalty))

    def _unfinished(self, scores: Tensor, length: int) -> list[int]:
        """The sentences in which a partial translation may still beat what has been found.

        Its score can only fall as it grows, and dividing by the penalty of the longest possible
        translation raises it most: what cannot win so cannot win at all.
        """
        best = scores[:, 0] / length_penalty(self.limits, self.options.length_penalty).to(scores)
        going_on = []
        for index, (sentence, bound) in enumerate(zip(self.sentences, best.tolist(), strict=True)):
            found = sorted((h.score for h in self.found[sentence]), reverse=True)
            enough = len(found) >= self.options.nbest
            beaten = enough and found[self.options.nbest - 1] >= bound
            if not beaten and length < self.limits[index]:
                going_on.append(index)
        return going_on

    def _keep(self, rows: Tensor, words: Tensor, going_on: list[int]) -> None:
        """Go on with the chosen rows of the sentences that are not done."""
        kept = torch.tensor(going_on, dtype=torch.long, device=rows.device)
        same = len(going_on) == len(self.sentences) and self.width == rows.size(1)
        self.width = rows.size(1)
        rows, words = rows[kept].flatten(), words[kept].flatten()
        self.cache.select(rows, same_sentences=same)
        if not same:
            self.memory, self.mask = self.memory[rows], self.mask[rows]
        self.words = torch.cat([self.words[rows], words[:, None]], dim=1)
        self.scores = self.scores[kept].flatten()
        self.limits = self.limits[kept]
        self.sentences = [self.sentences[index] for index in going_on]
