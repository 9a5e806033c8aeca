"""Models with some of their units muted."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from mute.errors import MuteError
from mute.serve.served import Served
from mute.translate.translator import Translator

VARIANTS = 8
"""Ways of muting that are kept ready, for all models together; their weights are shared."""

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
        """The model itself if nothing is muted, else one that shares its weights."""
        if not muted:
            return served.translator
        key = served, muted
        if key not in self._kept:
            units = range(served.config.units)
            self._kept[key] = served.translator.with_units(
                {layer: [u for u in units if u not in out] for layer, out in muted}
            )
        self._kept.move_to_end(key)
        if len(self._kept) > VARIANTS:
            self._kept.popitem(last=False)
        return self._kept[key]
