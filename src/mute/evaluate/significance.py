"""Is one system better than another, or was it luck? Two paired tests on BLEU.

Both work on the counts BLEU is made of, sentence by sentence, so that a thousand samples cost a
thousand sums and no new matching of words.

- *Paired bootstrap* (Koehn 2004): draw as many sentences as there are, with replacement, and score
  both systems on the same draw. The spread of the difference over draws gives its interval; p is
  how often a draw's difference is as far from the mean of all draws as the observed one from 0.
  That is two-sided, as the interval is. Moses' script, which the paper used, and sacreBLEU look at
  absolute differences: their p is about half of this one where it is small, else nearer a third.
  If all draws are alike, as those of a single sentence are, p is the other test's.
- *Approximate randomisation* (Riezler and Maxwell 2005): swap the two systems' translations of
  random sentences. p is how often the difference that is left is at least as large as observed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from mute.errors import MuteError
from mute.evaluate.counts import Counts, bleu_of, count_sentences
from mute.evaluate.score import Tokenization

if TYPE_CHECKING:
    from rich.table import Table

Method = Literal["bootstrap", "randomisation"]
Sums = Iterator[tuple[Counts, Counts]]
"""The summed counts of both systems, draw by draw."""

_LEVELS = (0.001, 0.01, 0.05)
_SAME = 1e-9
"""BLEU points by which rounding alone may make draws differ."""
_AT_A_TIME = 10_000_000
"""Numbers that are held in memory together: one for every sentence of a draw."""


@dataclass(frozen=True)
class Comparison:
    """A system against a baseline."""

    baseline: float
    system: float
    difference: float
    low: float
    """The ends of the 95 % interval of the difference, by bootstrap."""
    high: float
    p: float
    method: Method
    signature: str

    @property
    def dagger(self) -> str:
        """The paper's mark."""
        return dagger(self.difference, self.p)

    @property
    def verdict(self) -> str:
        """What it means, in words."""
        chance = f"(p {p_value(self.p, equals='= ')})"
        if self.p >= 0.05:
            return f"no significant difference {chance}"
        direction = "better" if self.difference > 0 else "worse"
        return f"significantly {direction} {chance}"


def dagger(difference: float, p: float) -> str:
    """The paper's mark: † for p < 0.05, †† for p < 0.01, of a system that is better."""
    if difference <= 0 or p >= 0.05:
        return ""
    return "††" if p < 0.01 else "†"


def p_value(p: float, *, equals: str = "") -> str:
    """With three digits; '< 0.05' where rounding would hide that it is below that level."""
    rounded = f"{p:.3f}"
    below = [level for level in _LEVELS if p < level <= max(float(rounded), min(_LEVELS))]
    return f"< {below[0]}" if below else f"{equals}{rounded}"


def compare(
    baseline: Sequence[str],
    system: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    method: Method = "bootstrap",
    samples: int = 1000,
    seed: int = 1,
    tokenize: Tokenization = "13a",
    lowercase: bool = False,
) -> Comparison:
    """Compare the BLEU of two systems on the same sentences.

    Args:
        baseline: its translations, line by line
        system: the other's
        references: one or more whole reference translations
        method: which test gives p
        samples: how many draws
        seed: equal seeds give equal results
        tokenize: see `bleu_metric`
        lowercase: ignore case

    Raises:
        MuteError: as `check_lines` and `compare_counts`.
    """
    (first, signature), (second, _) = (
        count_sentences(each, references, tokenize=tokenize, lowercase=lowercase)
        for each in (baseline, system)
    )
    return compare_counts(first, second, signature, method=method, samples=samples, seed=seed)


def compare_counts(
    baseline: Counts,
    system: Counts,
    signature: str,
    *,
    method: Method = "bootstrap",
    samples: int = 1000,
    seed: int = 1,
) -> Comparison:
    """`compare`, by what is left when the text is gone: (N, 10) of each, and BLEU's signature.

    Raises:
        MuteError: there is no such method, or nothing would be drawn.
    """
    if method not in get_args(Method):
        raise MuteError(f"method {method}: should be {' or '.join(get_args(Method))}")
    if samples < 1:
        raise MuteError(f"samples {samples}: should be at least 1")
    observed = _difference(baseline.sum(0), system.sum(0))
    random = np.random.default_rng(seed)
    drawn = np.array([_difference(*each) for each in _bootstrap(baseline, system, samples, random)])
    by_chance = drawn - drawn.mean()
    alike = np.ptp(drawn) < _SAME  # as those of a single sentence: they say nothing of chance
    if alike:
        method = "randomisation"
    if method == "randomisation":
        swapped = _swaps(baseline, system, samples, random)
        by_chance = np.array([_difference(*each) for each in swapped])
    low, high = np.percentile(drawn, [2.5, 97.5])
    as_large = int((np.abs(by_chance) >= abs(observed)).sum())
    return Comparison(
        bleu_of(baseline.sum(0)),
        bleu_of(system.sum(0)),
        observed,
        float(low),
        float(high),
        (as_large + 1) / (samples + 1),
        method,
        f"{signature}|test:{method}|samples:{samples}|seed:{seed}",
    )


def _difference(baseline: Counts, system: Counts) -> float:
    return bleu_of(system) - bleu_of(baseline)


def render(baseline: str, found: Mapping[str, Comparison]) -> Table:
    """The comparisons as a table for people."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("", overflow="fold")  # names often differ in their ends alone
    for heading in ("BLEU", "difference", "95 % interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    first = next(iter(found.values()))
    table.add_row(escape(baseline), f"{first.baseline:.2f}", "", "", "")
    for name, each in found.items():
        interval = f"{each.low:+.2f} … {each.high:+.2f}"
        score = f"{each.system:.2f}{each.dagger}"
        table.add_row(escape(name), score, f"{each.difference:+.2f}", interval, p_value(each.p))
    return table


def _bootstrap(first: Counts, second: Counts, samples: int, random: np.random.Generator) -> Sums:
    """Of `samples` draws of the sentences."""
    sentences = len(first)
    even = np.full(sentences, 1 / sentences)
    for size in _blocks(samples, sentences):
        times = random.multinomial(sentences, even, size=size)  # (size, sentences)
        yield from zip(times @ first, times @ second, strict=True)


def _swaps(first: Counts, second: Counts, samples: int, random: np.random.Generator) -> Sums:
    """After the systems have exchanged random sentences."""
    for size in _blocks(samples, len(first)):
        moved = random.integers(0, 2, size=(size, len(first))) @ (second - first)
        yield from zip(first.sum(0) + moved, second.sum(0) - moved, strict=True)


def _blocks(samples: int, sentences: int) -> Iterator[int]:
    most = max(1, _AT_A_TIME // sentences)
    for start in range(0, samples, most):
        yield min(most, samples - start)
