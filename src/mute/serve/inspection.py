"""Looking into a model while it translates, some of its units muted."""

from typing import Any

import torch
from torch import Tensor

from mute.analysis.attention import unit_attention
from mute.analysis.permutation import find_orders
from mute.data.batching import pad
from mute.data.vocabulary import EOS, SPECIALS
from mute.model.layer import MultiUnitLayer, multi_unit_layers
from mute.serve.work import Asked
from mute.translate.render import as_text
from mute.translate.translator import Translator

DIGITS = 4
"""Of attention weights: more cannot be seen, and would double the answer."""


class Inspect(Asked):
    """A task for the batcher: lines are looked into one by one."""

    def __call__(self, lines: list[str]) -> list[dict[str, Any]]:
        """What `POST /v1/inspect` answers, for each line."""
        translator = self.translator
        found = translator.translate(lines, self.beam, nbest=self.nbest, attention=True)
        answers = []
        for line, translation in zip(lines, found, strict=True):
            source = [*translator.tokenizer.encode(line, "source"), EOS]
            answers.append(
                {
                    "text": as_text(translation),
                    "score": translation.score,
                    "tokens": translation.tokens,
                    "source_tokens": _names(translator, source),
                    "attention": _rounded(torch.tensor(translation.attention or [])),
                    "alternatives": [
                        {"text": as_text(other), "score": other.score}
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
        stacks = [multi_unit_layers(each.encoder.layers) for each in (model, whole)]
        return [_layer(*each) for each in zip(*stacks, maps, strict=True)]


def _layer(layer: MultiUnitLayer, original: MultiUnitLayer, weights: Tensor) -> dict[str, Any]:
    """An encoder layer, the same before units were muted, and its attention (I, 1, h, S, S)."""
    learned = [order for order in find_orders([original]) if order.learned]
    has_heads = weights.size(2) > 0
    return {
        "weights": _rounded(layer.fusion().detach(), digits=6),
        "order": learned[0].units if learned else None,
        "settled": learned[0].is_permutation if learned else None,
        "attention": _rounded(weights[:, 0].mean(1)) if has_heads else [],
    }


def _names(translator: Translator, source: list[int]) -> list[str]:
    return [*translator.tokenizer.pieces(source[:-1], "source"), SPECIALS[EOS]]


def _rounded(values: Tensor, digits: int = DIGITS) -> list[Any]:
    rounded: list[Any] = values.double().round(decimals=digits).tolist()
    return rounded
