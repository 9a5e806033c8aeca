"""How much each unit counts (the paper's Figure 3).

`alpha` is what the paper plots. In the sequential form it weighs accumulated outputs, not units;
there, what multiplies a unit's output in the end is the effective weight c = M w. Both are given.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from mute.model.layer import MultiUnitLayer


@dataclass(frozen=True)
class UnitWeights:
    """Those of one layer, by unit."""

    alpha: list[float]
    """By unit; in the sequential form, by place."""
    effective: list[float]


def unit_weights(layers: Iterable[MultiUnitLayer]) -> list[UnitWeights]:
    """The weights of each layer's units."""
    return [UnitWeights(layer.fusion.alpha.tolist(), layer.fusion().tolist()) for layer in layers]
