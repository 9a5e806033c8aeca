"""Muting units: a trained model that goes on without some of them, to see what they do."""

from collections.abc import Collection, Mapping, Sequence
from numbers import Integral

import torch
from torch import Tensor

from mute.errors import MuteError
from mute.model.fusion import Fusion, constant_fusion
from mute.model.transformer import Transformer

Kept = Sequence[int] | Mapping[int, Sequence[int]]
"""Units that stay, from 0: in every encoder layer, or by the layer, also from 0."""
_CANCELLED = 0.1
"""Weights cancel each other out if their sum is less than this share of that of their sizes."""


def keep_units(model: Transformer, kept: Kept) -> None:
    """Mute all units of the encoder but those kept; layers not named stay whole.

    Raises:
        MuteError: there is no such layer or unit, none would be left, or what is given are no
            numbers.
    """
    layers = model.encoder.layers
    by_layer = kept if isinstance(kept, Mapping) else dict.fromkeys(range(len(layers)), kept)
    if not all(map(_are_numbers, (by_layer, *by_layer.values()))):
        raise MuteError(
            f"units {kept!r}: should be a list of numbers, as in [0, 2], or lists by the layer, as "
            f"in {{0: [0, 2]}}"
        )
    for index, units in by_layer.items():
        if not 0 <= index < len(layers):
            raise MuteError(
                f"units: there is no encoder layer {index}, only 0 to {len(layers) - 1}"
            )
        fusion = layers[index].fusion  # of a layer as it is trained, or as it translates
        assert isinstance(fusion, Fusion)
        layers[index].fusion = _without_the_others(fusion, list(units), index)


def _are_numbers(units: object) -> bool:
    """A string is a sequence too, and True and False are numbers: neither means units."""
    return isinstance(units, Collection) and all(
        isinstance(unit, Integral) and not isinstance(unit, bool) for unit in units
    )


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
    if not coefficients[list(units)].any():
        raise MuteError(f"units: encoder layer {layer}: those to keep are muted already")
    return constant_fusion(renormalised(coefficients, units))


def renormalised(coefficients: Tensor, units: Sequence[int]) -> Tensor:
    """(I,) → (I,): zero for muted units; the others are scaled to the sum that all had.

    The sum is what the layer's residual path is multiplied by, so it must stay. Weights can be
    negative, though. If those kept cancel each other out, or sum up to the other sign, scaling
    would blow them up or turn every unit into its opposite: then they count alike. If all weights
    together cancel out, there is no sum to scale to that would not mute the kept units as well:
    then these stay as they are.
    """
    kept = torch.zeros_like(coefficients)
    kept[list(units)] = coefficients[list(units)]
    total, left = coefficients.sum(), kept.sum()
    if _cancel_out(coefficients):
        return kept
    if left * total < 0 or _cancel_out(kept):
        kept[list(units)] = total / len(set(units))
        return kept
    return kept * (total / left)


def _cancel_out(weights: Tensor) -> bool:
    """Whether nearly nothing is left of the weights in their sum; nothing is of zeros, either."""
    return bool(weights.sum().abs() <= _CANCELLED * weights.abs().sum())
