"""Muting units: a trained model that goes on without some of them, to see what they do."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from mute.errors import MuteError
from mute.model.fusion import Fusion, constant_fusion
from mute.model.transformer import Transformer

Kept = Sequence[int] | Mapping[int, Sequence[int]]
"""Units that stay, from 0: in every encoder layer, or by the layer, also from 0."""


def keep_units(model: Transformer, kept: Kept) -> None:
    """Mute all units of the encoder but those kept; layers not named stay whole.

    Raises:
        MuteError: there is no such layer or unit, or none would be left.
    """
    layers = model.encoder.layers
    by_layer = kept if isinstance(kept, Mapping) else dict.fromkeys(range(len(layers)), kept)
    for index, units in by_layer.items():
        if not 0 <= index < len(layers):
            raise MuteError(
                f"units: there is no encoder layer {index}, only 0 to {len(layers) - 1}"
            )
        fusion = layers[index].fusion  # of a layer as it is trained, or as it translates
        assert isinstance(fusion, Fusion)
        layers[index].fusion = _without_the_others(fusion, units, index)


def _without_the_others(fusion: Fusion, units: Sequence[int], layer: int) -> Fusion:
    coefficients = fusion().detach()
    unknown = sorted(set(units) - set(range(len(coefficients))))
    if unknown:
        raise MuteError(
            f"units: encoder layer {layer} has no unit {unknown[0]}, only 0 to "
            f"{len(coefficients) - 1}"
        )
    if not units:
        raise MuteError(f"units: encoder layer {layer} would have none left; keep at least one")
    return constant_fusion(renormalised(coefficients, units))


def renormalised(coefficients: Tensor, units: Sequence[int]) -> Tensor:
    """(I,) → (I,): zero for muted units; the others are scaled to the sum that all had.

    The sum is what the layer's residual path is multiplied by, so it must stay. Weights that
    cancel each other out cannot be scaled to it: then the kept units count alike.
    """
    kept = torch.zeros_like(coefficients)
    kept[list(units)] = coefficients[list(units)]
    total, left = coefficients.sum(), kept.sum()
    if left / total < 1e-3:
        kept[list(units)] = 1 / len(set(units))
        left = torch.ones_like(total)
    return kept * (total / left)
