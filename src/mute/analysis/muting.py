"""What a translation loses with a unit: each is muted in turn, in one layer and in all.

The weight of a muted unit is shared out among the others, see `mute.model.muting`. With reference
translations, what is lost is BLEU. Without, it is what the model thinks of the whole model's
translations: the mean of their scores, which are log-probabilities divided by the length penalty.
A muted model's own translations would not do, since a model may be sure of bad ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from mute.errors import MuteError
from mute.evaluate.score import bleu, tokenization_for
from mute.evaluate.significance import compare
from mute.translate.translator import Translator


@dataclass(frozen=True)
class Muted:
    """What is left without a unit."""

    value: float
    difference: float
    """From the whole model's."""
    p: float | None = None
    """How likely so large a difference is by chance, by paired bootstrap; of BLEU only."""

    @property
    def is_significant(self) -> bool:
        """Whether the difference is more than chance, p < 0.05."""
        return self.p is not None and self.p < 0.05


@dataclass(frozen=True)
class Muting:
    """What is left without each unit, of a measure that is better when higher."""

    measure: Literal["BLEU", "score"]
    signature: str
    """How it was computed."""
    sentences: int
    whole: float
    """The measure of the model with all its units."""
    everywhere: list[Muted]
    """By unit, muted in all encoder layers."""
    layers: list[list[Muted]]
    """By encoder layer and unit, muted there only."""


def translations_needed(translator: Translator) -> int:
    """How often the text is worked through: once whole, and once for each unit and place."""
    config = translator.models[0].config
    return 1 + (config.encoder_layers + 1) * config.units


def mute_each(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str] | None,
    tell: Callable[[int], None],
) -> Muting:
    """Mute every unit of the encoder in turn.

    Args:
        translator: of one model with several units
        sources: sentences
        references: a translation of each, for BLEU; None for the model's own scores
        tell: is called with the number of lines done, from time to time

    Raises:
        MuteError: the model cannot translate, or has nothing to score.
    """
    config = translator.models[0].config
    units, done = range(config.units), len(sources)
    judge: _BleuJudge | _ScoreJudge
    if references is None:
        judge = _ScoreJudge(translator, sources)
    else:
        judge = _BleuJudge(translator, sources, references)
    tell(done)

    def without(unit: int, layer: int | None) -> Muted:
        nonlocal done
        kept = [other for other in units if other != unit]
        muted = judge(translator.with_units(kept if layer is None else {layer: kept}))
        done += len(sources)
        tell(done)
        return muted

    everywhere = [without(unit, None) for unit in units]
    layers = [[without(unit, layer) for unit in units] for layer in range(config.encoder_layers)]
    return Muting(
        judge.measure, judge.signature, len(judge.sources), judge.whole, everywhere, layers
    )


class _BleuJudge:
    """BLEU of a model's translations, against the whole model's."""

    measure: Literal["BLEU"] = "BLEU"

    def __init__(
        self, translator: Translator, sources: Sequence[str], references: Sequence[str]
    ) -> None:
        self.sources, self.references = sources, [references]
        tokenizer = translator.tokenizer
        self.tokenize = tokenization_for(tokenizer.config, tokenizer.languages[1])
        self.lowercase = tokenizer.config.lowercase
        self.translations = self._translate(translator)
        score = bleu(
            self.translations, self.references, tokenize=self.tokenize, lowercase=self.lowercase
        )
        self.whole, self.signature = score.value, score.signature

    def __call__(self, muted: Translator) -> Muted:
        found = compare(
            self.translations,
            self._translate(muted),
            self.references,
            tokenize=self.tokenize,
            lowercase=self.lowercase,
        )
        return Muted(found.system, found.difference, found.p)

    def _translate(self, translator: Translator) -> list[str]:
        return [translation.text for translation in translator.translate(self.sources)]


class _ScoreJudge:
    """The mean score that a model gives to the whole model's translations."""

    measure: Literal["score"] = "score"
    signature = "mean of log p / length penalty (0.6) of the whole model's translations"

    def __init__(self, translator: Translator, sources: Sequence[str]) -> None:
        # An empty line has nothing to score, and one that is translated in parts not as a whole.
        self.sources = [
            source
            for source in sources
            if 0 < len(translator.tokenizer.encode(source, "source")) <= translator.max_length
        ]
        if not self.sources:
            raise MuteError(
                f"none of the first {len(sources)} lines is a sentence that the model takes; "
                f"choose another text, or more lines of it with --sentences"
            )
        self.translations = [each.text for each in translator.translate(self.sources)]
        self.whole = self._score(translator)

    def __call__(self, muted: Translator) -> Muted:
        value = self._score(muted)
        return Muted(value, value - self.whole)

    def _score(self, translator: Translator) -> float:
        scored = translator.score(self.sources, self.translations)
        return sum(each.score for each in scored) / len(scored)
