"""Looking into a model while it translates, some of its units muted."""

import copy
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mute.analysis.attention import unit_attention
from mute.data.batching import pad
from mute.data.vocabulary import EOS, SPECIALS
from mute.errors import MuteError
from mute.model.fusion import SequentialFusion
from mute.model.layer import MultiUnitLayer
from mute.model.muting import keep_units
from mute.serve.served import Served
from mute.translate.translator import Translator

VARIANTS = 8
"""Ways of muting that are kept ready, for all models together."""
DIGITS = 4
"""Of attention weights: more cannot be seen, and would double the answer."""

Muted = tuple[tuple[int, tuple[int, ...]], ...]
"""Layers, each with the units of it that are muted, in order: a value to compare."""


def muted_units(served: Served, muted: Mapping[int, Sequence[int]]) -> Muted:
    """What a request wants muted, checked and in order.

    Raises:
        MuteError: there is no such layer or unit, or a layer would have none left.
    """
    layers, units = served.config.encoder_layers, served.config.units
    for layer, chosen in muted.items():
        if not 0 <= layer < layers:
            raise MuteError(f"muted: there is no encoder layer {layer}, only 0 to {layers - 1}")
        unknown = [unit for unit in chosen if not 0 <= unit < units]
        if unknown:
            raise MuteError(f"muted: layer {layer} has no unit {unknown[0]}, only 0 to {units - 1}")
        if len(set(chosen)) == units:
            raise MuteError(f"muted: layer {layer} would have no unit left; keep at least one")
    return tuple(
        (layer, tuple(sorted(set(muted[layer])))) for layer in sorted(muted) if muted[layer]
    )


class Variants:
    """Translators with muted units: the last few, so that going back and forth is quick."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Served, Muted], Translator] = OrderedDict()

    def get(self, served: Served, muted: Muted) -> Translator:
        """The model itself if nothing is muted, else a copy that shares its weights."""
        if not muted:
            return served.translator
        key = served, muted
        if key not in self._kept:
            self._kept[key] = _muted_copy(served.translator, dict(muted))
        self._kept.move_to_end(key)
        if len(self._kept) > VARIANTS:
            self._kept.popitem(last=False)
        return self._kept[key]


def _muted_copy(translator: Translator, muted: Mapping[int, Sequence[int]]) -> Translator:
    (model,) = translator.models
    copied = copy.deepcopy(model, {id(weight): weight for weight in model.parameters()})
    units = range(model.config.units)
    keep_units(copied, {layer: [u for u in units if u not in out] for layer, out in muted.items()})
    compute = translator.engines[0].compute
    return Translator(
        copied, translator.tokenizer, translator.max_length, compute, translator.shortlist
    )


@dataclass(frozen=True)
class Inspect:
    """A task for the batcher: lines are looked into one by one."""

    variants: Variants
    served: Served
    muted: Muted
    beam: int
    nbest: int

    def __call__(self, lines: list[str]) -> list[dict[str, Any]]:
        """What `POST /v1/inspect` answers, for each line."""
        translator = self.variants.get(self.served, self.muted)
        found = translator.translate(lines, self.beam, nbest=self.nbest, attention=True)
        answers = []
        for line, translation in zip(lines, found, strict=True):
            source = [*translator.tokenizer.encode(line, "source"), EOS]
            answers.append(
                {
                    "text": translation.text,
                    "score": translation.score,
                    "tokens": translation.tokens,
                    "source_tokens": _names(translator, source),
                    "attention": _rounded(torch.tensor(translation.attention or [])),
                    "alternatives": [
                        {"text": other.text, "score": other.score}
                        for other in translation.alternatives
                    ],
                    "warnings": translation.warnings,
                    "layers": self._layers(translator, source),
                }
            )
        return answers

    def _layers(self, translator: Translator, source: list[int]) -> list[dict[str, Any]]:
        model, whole = translator.models[0], self.served.translator.models[0]
        maps = unit_attention(model, pad([source]).to(translator.device))
        layers = zip(model.encoder.layers, whole.encoder.layers, maps, strict=True)
        return [_layer(layer, original, weights) for layer, original, weights in layers]


def _layer(layer: object, original: object, weights: Tensor) -> dict[str, Any]:
    """An encoder layer, the same before units were muted, and its attention (I, 1, h, S, S)."""
    assert isinstance(layer, MultiUnitLayer)
    assert isinstance(original, MultiUnitLayer)
    order = original.fusion.order() if isinstance(original.fusion, SequentialFusion) else None
    has_heads = weights.size(2) > 0
    return {
        "weights": _rounded(layer.fusion().detach(), digits=6),
        "order": order,
        "attention": _rounded(weights[:, 0].mean(1)) if has_heads else [],
    }


def _names(translator: Translator, source: list[int]) -> list[str]:
    return [*translator.tokenizer.pieces(source[:-1], "source"), SPECIALS[EOS]]


def _rounded(values: Tensor, digits: int = DIGITS) -> list[Any]:
    rounded: list[Any] = values.double().round(decimals=digits).tolist()
    return rounded
