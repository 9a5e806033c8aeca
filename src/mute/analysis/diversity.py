"""Diversity: how differently the units of an encoder layer work (the paper's Table 6).

The diversity of two units is exp(−cos) between what they compute for the same token, averaged over
pairs, tokens and layers. It is 1/e = 0.37 for units that do the same and 1 for outputs at right
angles. Compared are

- the attention weights: a token's distribution over the sentence, averaged over heads;
- the attention outputs and the FFN outputs, each before it is added to the residual path, whose
  input all units share, and which would make them look alike.

The end of a sentence counts as a token, padding never does. Outputs are read through hooks and
summed up batch by batch, so that the text may be of any length.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.hooks import RemovableHandle

from mute.data.vocabulary import PAD
from mute.errors import MuteError
from mute.model.attention import SelfAttention
from mute.model.layer import MultiUnitLayer
from mute.model.transformer import Transformer

PARTS: Mapping[str, str] = {
    "attention_weights": "attention weights",
    "attention_outputs": "attention outputs",
    "ffn_outputs": "FFN outputs",
}
"""What is compared, and what people call it."""

Pairs = list[list[float]]
"""The diversity of unit i and unit j, at [i][j]."""


@dataclass(frozen=True)
class Diversity:
    """Scores by part; a part that the units share, or do not have, is missing."""

    overall: dict[str, float]
    layers: dict[str, list[float]]
    pairs: dict[str, list[Pairs]]
    """For each layer, that of every two units."""
    tokens: int
    diagonal: bool
    """Whether the averages are the authors', in which each unit also meets itself."""


def measure_diversity(
    model: Transformer, sources: Iterable[Tensor], *, diagonal: bool = False
) -> Diversity | None:
    """Compare the units of all encoder layers with each other.

    Args:
        model: ready to translate, that is, not in training
        sources: batches of ids with their ends, (B, S), padded behind; at least one token
        diagonal: average as the authors' code does, over all I² pairs instead of those i ≠ j

    Returns:
        None if there is a single unit, and so no pair
    """
    assert not model.training, "in training units are biased, and outputs dropped"
    if model.config.units == 1:
        return None
    totals, tokens = _totals(model, sources)
    pairs = {
        part: [totals[part, layer] / tokens for layer in range(len(model.encoder.layers))]
        for part in PARTS
        if (part, 0) in totals
    }
    layers = {part: [_average(each, diagonal) for each in found] for part, found in pairs.items()}
    return Diversity(
        {part: sum(values) / len(values) for part, values in layers.items()},
        layers,
        {part: [each.tolist() for each in found] for part, found in pairs.items()},
        tokens,
        diagonal,
    )


def _totals(
    model: Transformer, sources: Iterable[Tensor]
) -> tuple[dict[tuple[str, int], Tensor], int]:
    """The sums over all tokens by part and layer, each (I, I), and the number of tokens."""
    totals: dict[tuple[str, int], Tensor] = {}
    tokens, real = 0, torch.empty(0)

    def observe(module: nn.Module, part: str, layer: int) -> RemovableHandle:
        def add(_module: nn.Module, _given: object, output: Tensor) -> None:
            # The weights come as (U, B, h, L, S), everything else as (U, B, L, d).
            vectors = output.mean(2) if part == "attention_weights" else output
            if len(vectors) > 1:  # else all units share this part
                totals[part, layer] = totals.get((part, layer), 0) + pair_sums(vectors, real)

        return module.register_forward_hook(add)

    hooks = [
        observe(module, part, index)
        for index, layer in enumerate(model.encoder.layers)
        for part, module in _observed(layer).items()
    ]
    try:
        with torch.inference_mode():
            for source in sources:
                real = source != PAD
                tokens += int(real.sum())
                model.encoder(source)
    finally:
        for hook in hooks:
            hook.remove()
    return totals, tokens


def pair_sums(vectors: Tensor, real: Tensor) -> Tensor:
    """Σ over real tokens of exp(−cos): (U, B, L, n), (B, L) → (U, U), float64 on the CPU."""
    by_token = F.normalize(vectors[:, real].double(), dim=-1).transpose(0, 1)  # (N, U, n)
    return (-(by_token @ by_token.mT)).exp().sum(0).cpu()


def _average(pairs: Tensor, diagonal: bool) -> float:
    if diagonal:
        return float(pairs.mean())
    units = len(pairs)
    return float((pairs.sum() - pairs.trace()) / (units * (units - 1)))


def _observed(layer: nn.Module) -> dict[str, nn.Module]:
    assert isinstance(layer, MultiUnitLayer)
    if not (hasattr(layer.units, "mixer") and hasattr(layer.units, "feedforward")):
        kind = type(layer.units).__name__
        raise MuteError(f"{kind}: cannot be analysed without a `mixer` and a `feedforward`")
    mixer = layer.units.mixer
    found = {"attention_outputs": mixer, "ffn_outputs": layer.units.feedforward}
    if isinstance(mixer, SelfAttention):  # another kind of unit has no such weights
        found["attention_weights"] = mixer.dropout
    return found
