"""All analyses of one model, as numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mute.analysis.captions import bias_of_units
from mute.analysis.diversity import Diversity, measure_diversity
from mute.analysis.maps import AttentionMaps, attention_maps, choose_lines
from mute.analysis.muting import Muting, mute_each, translations_needed
from mute.analysis.permutation import Course, Order, find_orders, read_course
from mute.analysis.sentences import batches, encode_sentences
from mute.analysis.weights import UnitWeights, unit_weights
from mute.config import UnitsConfig
from mute.errors import MuteError
from mute.files import name_as_text
from mute.model.layer import MultiUnitLayer
from mute.model.transformer import Transformer
from mute.translate.loading import load
from mute.translate.translator import Translator


@dataclass(frozen=True)
class Text:
    """What the model is looked at with."""

    name: str
    sources: list[str]
    references: list[str] | None = None
    """A translation of each source."""


@dataclass(frozen=True)
class Stack:
    """The layers of the encoder, or of the decoder."""

    name: Literal["encoder", "decoder"]
    units: int
    bias: list[str]
    """The noise of each unit in training; none if no unit had any."""
    weights: list[UnitWeights]
    orders: list[Order]
    """By layer; none if the units have no order."""
    course: Course | None
    """How both came about; None without the log of a run, and for a single unit."""


@dataclass(frozen=True)
class Analysis:
    """Everything the page shows."""

    model: str
    text: str
    sentences: int
    """That diversity was measured on."""
    left_out: int
    """Sentences with more pieces than the model takes."""
    stacks: list[Stack]
    """The encoder, and the decoder if it has several units."""
    diversity: Diversity | None
    """None for a single unit."""
    muting: Muting | None
    """None for a single unit, or if it was not asked for."""
    maps: list[AttentionMaps]
    """None if the units do not attend."""


def analyze(
    path: Path | str,
    text: Text,
    *,
    show: str = "",
    sentences: int = 200,
    diagonal: bool = False,
    tell: Callable[[int, int], None] = lambda _done, _total: None,
) -> Analysis:
    """Look at a model from all sides.

    Args:
        path: a run folder or a model folder; a run's log tells of its training
        text: sentences of the source language, perhaps with translations
        show: the lines whose attention is shown, "1,5"; "" for the first three
        sentences: of the text, to translate with each unit muted; 0 for none
        diagonal: average diversity as the authors' code does
        tell: is called with how many lines have been translated, and how many will be

    Raises:
        MuteError: there is no such model, no sentence in the text, or no such line.
    """
    translator = load(path)
    model, tokenizer = translator.models[0], translator.tokenizer
    ids, left_out = encode_sentences(tokenizer, text.sources, translator.max_length)
    if not ids:
        raise MuteError(f"{text.name}: has no sentence that the model takes; choose another text")
    numbers = choose_lines(show, text.sources, tokenizer, translator.max_length)
    return Analysis(
        name_as_text(path),
        text.name,
        len(ids),
        left_out,
        _stacks(model, Path(path)),
        measure_diversity(model, batches(ids, translator.device), diagonal=diagonal),
        _muting(translator, text, sentences, tell),
        attention_maps(model, tokenizer, text.sources, numbers),
    )


def _stacks(model: Transformer, path: Path) -> list[Stack]:
    layers = list(model.multi_unit_layers())
    border = len(model.encoder.layers)
    config = model.config
    stacks = [_stack("encoder", config, layers, slice(border), path)]
    if config.decoder.units > 1:
        stacks.append(_stack("decoder", config.decoder, layers, slice(border, None), path))
    return stacks


def _stack(
    name: Literal["encoder", "decoder"],
    config: UnitsConfig,
    layers: Sequence[MultiUnitLayer],
    own: slice,
    path: Path,
) -> Stack:
    units = config.units
    return Stack(
        name,
        units,
        bias_of_units(config.bias, units),
        unit_weights(layers[own]),
        find_orders(layers[own]),
        read_course(path, own) if units > 1 else None,
    )


def _muting(
    translator: Translator, text: Text, sentences: int, tell: Callable[[int, int], None]
) -> Muting | None:
    if translator.models[0].config.units == 1 or not sentences:
        return None
    sources = text.sources[:sentences]
    references = text.references[:sentences] if text.references is not None else None
    total = translations_needed(translator) * len(sources)
    tell(0, total)
    return mute_each(translator, sources, references, lambda done: tell(done, total))
