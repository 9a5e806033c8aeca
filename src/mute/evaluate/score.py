"""Scores of translations, by sacrebleu, each with the signature that makes it comparable."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from mute.errors import MuteError
from mute.languages import is_chinese, writes_spaces

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

    from mute.config import TokenizerConfig

Tokenization = Literal["none", "13a", "zh", "char", "intl", "ja-mecab", "ko-mecab", "flores200"]
TOKENIZATIONS: tuple[str, ...] = get_args(Tokenization)


def tokenization_for(tokenizer: "TokenizerConfig", language: str) -> Tokenization:
    """How words of a language are to be cut in text that a tokenizer puts out."""
    if tokenizer.pretokenized:
        return "none"
    if is_chinese(language):
        return "zh"
    return "13a" if writes_spaces(language) else "char"


@dataclass(frozen=True)
class Score:
    """A number and how it was computed."""

    value: float
    signature: str


def bleu_metric(tokenize: Tokenization, *, lowercase: bool) -> "BLEU":
    """Sacrebleu's BLEU.

    Args:
        tokenize: how it cuts words: "none" for text that is tokenised already, as
            multi-bleu.perl expects it; "13a" as mteval-v13a does; "zh" for Chinese; "char", every
            character a word, for other languages without spaces between words
        lowercase: ignore case; with "none", what multi-bleu.perl -lc does

    Raises:
        MuteError: what cuts words that way is not installed or cannot be fetched.
    """
    from sacrebleu.metrics.bleu import BLEU

    try:
        # force: text that looks tokenised is scored all the same, without a warning
        return BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    except (RuntimeError, OSError) as error:
        if tokenize in ("ja-mecab", "ko-mecab"):
            extra = f"pip install 'sacrebleu[{tokenize[:2]}]'"
            raise MuteError(f"--tokenize {tokenize}: needs MeCab and its words: {extra}") from None
        if tokenize == "flores200":
            raise MuteError(
                f"--tokenize flores200: its model cannot be fetched or read ({error}); connect to "
                f"the internet, or put it where sacrebleu looks, below ~/.sacrebleu/models"
            ) from None
        raise


def check_lines(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Make sure that there is something to score; sacreBLEU would score the shortest.

    Raises:
        MuteError: there is no line or no reference, a reference has more or fewer lines than
            there are translations, or one string is given as lines.
    """
    if isinstance(hypotheses, str):
        raise MuteError("hypotheses: should be a list of lines, not one string; write [text]")
    if any(isinstance(each, str) for each in references):  # its characters would be the lines
        raise MuteError(
            "references: should be a list of references, each a list of lines; write [lines] for "
            "a single one"
        )
    if not hypotheses:
        raise MuteError("there is no translation to score")
    if not references:
        raise MuteError("there is no reference to score against; give at least one")
    for reference in references:
        if len(reference) != len(hypotheses):
            raise MuteError(
                f"there are {len(hypotheses):,} translations, but a reference has "
                f"{len(reference):,} lines; a score needs a line of each for every sentence"
            )


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
        tokenize: see `bleu_metric`
        lowercase: ignore case

    Raises:
        MuteError: as `check_lines`.
    """
    check_lines(hypotheses, references)
    metric = bleu_metric(tokenize, lowercase=lowercase)
    value = metric.corpus_score(list(hypotheses), [list(each) for each in references]).score
    return Score(value, str(metric.get_signature()))


def chrf(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> Score:
    """Corpus chrF2, from 0 to 100; it compares characters and needs no tokenisation.

    Raises:
        MuteError: as `check_lines`.
    """
    from sacrebleu.metrics.chrf import CHRF

    check_lines(hypotheses, references)
    metric = CHRF(lowercase=lowercase)
    value = metric.corpus_score(list(hypotheses), [list(each) for each in references]).score
    return Score(value, str(metric.get_signature()))
