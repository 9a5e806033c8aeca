"""Scores of translations, by sacrebleu, each with the signature that makes it comparable."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Tokenization = Literal["none", "13a", "zh", "char", "intl"]


@dataclass(frozen=True)
class Score:
    """A number and how it was computed."""

    value: float
    signature: str


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    tokenize: Tokenization = "13a",
    lowercase: bool = False,
) -> Score:
    """Corpus BLEU, from 0 to 100.

    Args:
        hypotheses: the translations, line by line
        references: one or more whole reference translations, each as many lines
        tokenize: how sacrebleu cuts words: "none" for text that is tokenised already, as
            multi-bleu.perl expects it; "13a" as mteval-v13a does
        lowercase: ignore case
    """
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    value = metric.corpus_score(list(hypotheses), [list(each) for each in references]).score
    return Score(value, str(metric.get_signature()))
