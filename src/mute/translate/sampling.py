"""Sampling: translations drawn from a model instead of searched for."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mute.data.vocabulary import BOS, EOS
from mute.errors import MuteError
from mute.translate.decoding import Decoding
from mute.translate.search import (
    Hypothesis,
    SearchOptions,
    apply_rules,
    log_sum_exp,
    longest_translation,
    penalised,
)

TEMPERATURES = (0.01, 100.0)
"""Below the first, only the likeliest word is ever drawn; above the second, all words are alike."""


@dataclass(frozen=True)
class Sampling:
    """From which words to draw, and how boldly."""

    temperature: float = 1.0
    """Below 1 likely words become likelier still, above 1 all become more alike."""
    top_k: int = 0
    """Draw from so many of the most probable words; 0 for all."""
    top_p: float = 1.0
    """Draw from the fewest words that have this share of the probability."""
    seed: int = 1

    def __post_init__(self) -> None:
        low, high = TEMPERATURES
        suits = low <= self.temperature <= high, self.top_k >= 0, 0 < self.top_p <= 1
        wanted = (
            f"temperature from {low} to {high}",
            "top_k of 0 or more",
            "top_p above 0, at most 1",
        )
        for fine, what in zip(suits, wanted, strict=True):
            if not fine:
                raise MuteError(f"{self}: sampling needs a {what}")


@torch.inference_mode()
def sample(
    decoding: Decoding,
    source: Tensor,
    options: SearchOptions,
    sampling: Sampling,
    prefixes: Tensor | None = None,
) -> list[list[Hypothesis]]:
    """Draw `options.nbest` translations of each sentence, independently.

    Args:
        decoding: of this batch, `options.nbest` wide, just begun
        source: (B, S) ids with their ends, padded behind
        options: lengths and rules; the beam plays no part
        sampling: how to draw
        prefixes: (B, P) ids that the translations begin with, padded behind

    Returns:
        the translations of each sentence, by falling score: the model's own log-probability,
        whatever they were drawn from, divided by the length penalty; fewer where a rule left one
        of them no word
    """
    if prefixes is None:
        prefixes = source[:, :0]
    generator = torch.Generator(source.device).manual_seed(sampling.seed)
    limits = longest_translation(source, prefixes, options)
    words = source.new_full((len(source), options.nbest, 1), BOS)
    scores = torch.zeros(len(source), options.nbest, device=source.device)
    done = torch.zeros_like(scores, dtype=torch.bool)
    stuck = torch.zeros_like(done)
    while not done.all():
        logits = decoding.step(words[..., -1])
        normaliser = log_sum_exp(logits)
        apply_rules(logits, words, limits, options, prefixes)
        # What is done waits with one end after the other, which is no repetition.
        stuck |= ~done & (logits.amax(-1) == -torch.inf)
        logits[..., EOS].masked_fill_(done | stuck, 0)
        drawn = draw(logits, sampling, generator)
        gain = (logits.gather(-1, drawn) - normaliser)[..., 0]
        scores = torch.where(done, scores, scores + gain)
        words = torch.cat([words, drawn.masked_fill(done[..., None], EOS)], dim=-1)
        done = done | (words[..., -1] == EOS)
    return [
        sorted(
            (
                _hypothesis(ids, score, limit, options)
                for ids, score, lost in zip(*drawn, strict=True)
                if not lost
            ),
            key=lambda h: -h.score,
        )
        for *drawn, limit in zip(
            words.tolist(), scores.tolist(), stuck.tolist(), limits.tolist(), strict=True
        )
    ]


def draw(logits: Tensor, sampling: Sampling, generator: torch.Generator) -> Tensor:
    """A word for each row of logits: (B, W, V) → (B, W, 1)."""
    best, words = (logits / sampling.temperature).sort(dim=-1, descending=True)
    if sampling.top_k:
        best[..., sampling.top_k :] = -torch.inf
    probabilities = best.softmax(-1)
    # A word stays if those before it do not reach the share yet: the first always does.
    before = probabilities.cumsum(-1) - probabilities
    probabilities = probabilities.masked_fill(before >= sampling.top_p, 0)
    chosen = torch.multinomial(probabilities.flatten(0, 1), 1, generator=generator)
    return words.gather(-1, chosen.view(*logits.shape[:-1], 1))


def _hypothesis(
    words: list[int], log_probability: float, limit: int, options: SearchOptions
) -> Hypothesis:
    length = words.index(EOS)  # the end counted, and not the beginning
    score = penalised(log_probability, length, options.length_penalty)
    return Hypothesis(words[1:length], score, cut_off=length >= limit)
