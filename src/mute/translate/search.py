"""Beam search: the most probable translations a model can be found to have."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from mute.data.vocabulary import BOS, EOS, PAD
from mute.errors import MuteError
from mute.model import kernels
from mute.translate import constraints
from mute.translate.arguments import check_at_least, check_whole
from mute.translate.decoding import Decoding, check_finite

_BLOCK = 64


@dataclass(frozen=True)
class SearchOptions:
    """How to search."""

    beam: int = 4
    """Partial translations kept of each sentence; 1 is greedy."""
    length_penalty: float = 0.6
    """The exponent of GNMT's length penalty; 0 for none."""
    nbest: int = 1
    """How many translations to return of each sentence."""
    min_length: int = 0
    """How many words a translation has at least."""
    max_length: int | None = None
    """How many words it has at most; if None, twice the source's and ten, both ends counted."""
    no_repeat: int = 0
    """The length of word sequences that may occur once only; 0 for no such rule."""

    def __post_init__(self) -> None:
        lengths = {"min_length": self.min_length, "no_repeat": self.no_repeat}
        check_whole(beam=self.beam, nbest=self.nbest, **lengths)
        check_at_least(1, beam=self.beam, nbest=self.nbest)
        check_at_least(0, length_penalty=self.length_penalty, **lengths)
        if self.max_length is None:
            return
        check_whole(max_length=self.max_length)
        if self.max_length < self.min_length:
            raise MuteError(
                f"max_length {self.max_length} is less than min_length {self.min_length}"
            )


class Hypothesis(NamedTuple):
    """A finished translation."""

    ids: list[int]
    """Its words, without the end."""
    score: float
    """The log-probability of all words and the end, divided by the length penalty."""
    cut_off: bool = False
    """Whether it ends because it may not go on."""


def length_penalty(length: Tensor | int, exponent: float) -> Tensor:
    """GNMT's ((5 + length) / 6) ^ exponent, the end counted."""
    return ((5 + torch.as_tensor(length)) / 6) ** exponent


def penalised(log_probability: float, length: int, exponent: float) -> float:
    """The score of a finished translation of `length` words, the end counted."""
    return log_probability / float(length_penalty(length, exponent))


def longest_translation(source: Tensor, prefixes: Tensor, options: SearchOptions) -> Tensor:
    """(B,): how many words each translation may have, its prefix and its end counted.

    Args:
        source: (B, S) ids with their ends
        prefixes: (B, P) ids; one that is longer than the limit is all there will be
        options: may set a limit; otherwise it is twice the source's and ten, ends counted, and
            the prefix
    """
    lengths, given = (source != PAD).sum(1), (prefixes != PAD).sum(1)
    if options.max_length is None:
        return (2 * lengths + 10).clamp(min=options.min_length + 10) + given
    return given.clamp(min=options.max_length) + 1


@torch.inference_mode()
def beam_search(
    decoding: Decoding, source: Tensor, options: SearchOptions, prefixes: Tensor | None = None
) -> list[list[Hypothesis]]:
    """Translate a batch.

    Args:
        decoding: of this batch, `options.beam` wide, just begun
        source: (B, S) ids with their ends, padded behind
        options: how to search
        prefixes: (B, P) ids that the translations begin with, padded behind

    Returns:
        for each sentence up to `nbest` translations, best first
    """
    if prefixes is None:
        prefixes = source[:, :0]
    search = _Search(decoding, source, options, prefixes)
    while search.sentences:
        search.advance()
    return [sorted(found, key=lambda h: -h.score)[: options.nbest] for found in search.found]


def apply_rules(
    logits: Tensor, words: Tensor, limits: Tensor, options: SearchOptions, prefixes: Tensor
) -> None:
    """Rule out what may not come next.

    Args:
        logits: (B, W, V), changed in place
        words: (B, W, T + 1), from BOS on
        limits: (B,), the words a translation may have, its end counted
        options: the rules
        prefixes: (B, P)
    """
    position = words.size(-1) - 1
    prescribing = position < prefixes.size(1)
    original = logits.clone() if prescribing else logits
    constraints.rule_out(logits, constraints.NEVER)
    if options.no_repeat:
        constraints.repeat_nothing(logits, words[..., 1:], options.no_repeat)
    if position < options.min_length:
        constraints.rule_out(logits, (EOS,))
    constraints.end_here(logits, limits <= position + 1)
    if prescribing:
        constraints.prescribe(logits, original, prefixes, position)


def log_sum_exp(logits: Tensor) -> Tensor:
    """`logits.logsumexp(-1, keepdim=True)`.

    Raises:
        NotFiniteError: a logit is NaN or infinite, before any rule has made it so.
    """
    if not kernels.suit(logits):
        found = logits.logsumexp(-1, keepdim=True)
    else:  # PyTorch writes all exponentials down before it sums them
        assert kernels.LIBRARY is not None
        logits, found = logits.contiguous(), logits.new_empty(*logits.shape[:-1], 1)
        kernels.LIBRARY.mute_log_sum_exp(
            *(logits.data_ptr(), found.numel(), logits.size(-1)),
            *(found.data_ptr(), torch.get_num_threads()),
        )
    check_finite(found)
    return found


def best_words(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """`logits.topk(count)` of the last axis, several times as fast for a large vocabulary.

    The best `count` of all stand in the `count` blocks with the highest maxima.
    """
    size = logits.size(-1)
    blocks = size // _BLOCK
    if blocks <= count:
        return logits.topk(min(count, size), dim=-1)
    whole = torch.unflatten(logits[..., : blocks * _BLOCK], -1, (blocks, _BLOCK))
    highest = whole.amax(-1).topk(count, dim=-1, sorted=False).indices
    within = whole.gather(-2, highest[..., None].expand(*highest.shape, _BLOCK)).flatten(-2)
    ids = (highest[..., None] * _BLOCK + torch.arange(_BLOCK, device=logits.device)).flatten(-2)
    rest = torch.arange(blocks * _BLOCK, size, device=logits.device)
    ids = torch.cat([ids, rest.expand(*ids.shape[:-1], -1)], dim=-1)
    values = torch.cat([within, logits[..., blocks * _BLOCK :]], dim=-1)
    best, chosen = values.topk(count, dim=-1)
    return best, ids.gather(-1, chosen)


class _Search:
    """B sentences that are still being translated, W partial translations of each."""

    def __init__(
        self, decoding: Decoding, source: Tensor, options: SearchOptions, prefixes: Tensor
    ) -> None:
        self.decoding, self.options, self.prefixes = decoding, options, prefixes
        self.limits = longest_translation(source, prefixes, options)
        self.sentences = list(range(len(source)))
        self.found: list[list[Hypothesis]] = [[] for _ in source]
        self.words = source.new_full((len(source), options.beam, 1), BOS)  # (B, W, T + 1)
        # All W are the same at first: only one of them counts.
        self.scores = torch.full((len(source), options.beam), -torch.inf, device=source.device)
        self.scores[:, 0] = 0

    def advance(self) -> None:
        """Add a word to every partial translation and let go of the sentences that are done."""
        scores, parents, words = self._candidates()
        length = self.words.size(2)  # of a candidate: BOS out, the new word in
        ends = words == EOS
        self._collect(scores, parents, ends, length)

        # The best `beam` that go on: of 2 · beam at most half end.
        order = ends.long().argsort(dim=1, stable=True)[:, : self.options.beam]
        self.scores = scores.gather(1, order)
        self._go_on_with(parents.gather(1, order), words.gather(1, order))
        self._let_go(self._unfinished(length))

    def _candidates(self) -> tuple[Tensor, Tensor, Tensor]:
        """The 2 · beam best continuations of each sentence: scores, parents and words."""
        logits = self.decoding.step(self.words[..., -1])
        normaliser = log_sum_exp(logits)
        apply_rules(logits, self.words, self.limits, self.options, self.prefixes)
        best, words = best_words(logits, 2 * self.options.beam)
        scores = (self.scores[..., None] + best - normaliser).flatten(1)
        scores, chosen = scores.topk(min(2 * self.options.beam, scores.size(1)), dim=1)
        return scores, chosen // best.size(-1), words.flatten(1).gather(1, chosen)

    def _collect(self, scores: Tensor, parents: Tensor, ends: Tensor, length: int) -> None:
        """Take down the candidates that end, if they are among the best `beam`."""
        ended = ends[:, : self.options.beam] & scores[:, : self.options.beam].isfinite()
        for index, candidate in ended.nonzero().tolist():
            words = self.words[index, parents[index, candidate], 1:].tolist()
            score = penalised(float(scores[index, candidate]), length, self.options.length_penalty)
            cut_off = length >= int(self.limits[index])
            self.found[self.sentences[index]].append(Hypothesis(words, score, cut_off))

    def _unfinished(self, length: int) -> list[int]:
        """The sentences in which a partial translation may still beat what has been found.

        Its score can only fall as it grows, and dividing by the penalty of the longest possible
        translation raises it most: what cannot win so cannot win at all. A greedy search takes the
        end when it is the best word, whatever might have come of the second best.
        """
        greedy = self.options.beam == 1
        longest = length_penalty(self.limits, self.options.length_penalty)
        bounds = (self.scores[:, 0] / longest.to(self.scores)).tolist()
        limits = self.limits.tolist()
        going_on = []
        for index, sentence in enumerate(self.sentences):
            found = sorted((h.score for h in self.found[sentence]), reverse=True)
            enough = len(found) >= self.options.nbest
            beaten = enough and (greedy or found[self.options.nbest - 1] >= bounds[index])
            if not beaten and length < limits[index]:
                going_on.append(index)
        return going_on

    def _go_on_with(self, parents: Tensor, words: Tensor) -> None:
        """Replace the partial translations by the chosen candidates."""
        self.decoding.select(parents)
        past = self.words.gather(1, parents[..., None].expand(-1, -1, self.words.size(2)))
        self.words = torch.cat([past, words[..., None]], dim=2)

    def _let_go(self, going_on: list[int]) -> None:
        """Keep the sentences that are not done."""
        if len(going_on) == len(self.sentences):
            return
        kept = torch.tensor(going_on, dtype=torch.long, device=self.words.device)
        self.decoding.keep(kept)
        self.words, self.scores = self.words[kept], self.scores[kept]
        self.limits, self.prefixes = self.limits[kept], self.prefixes[kept]
        self.sentences = [self.sentences[index] for index in going_on]
