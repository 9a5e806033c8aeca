"""Biased units: in training, every unit reads the layer's input through its own noise.

A bias is a re-indexing. Swap and disorder name, for every position, the position whose vector
stands there now; mask names a vector of its own. So the views of all units are one gather from
the sentence's vectors and the mask vectors, whatever the kinds.

All draws come from a CPU generator: they are few, and the same seed then gives the same noise
on every device.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mute.config import BiasKind
from mute.model.context import Context

REACH = 3  # how far apart swapped positions may be
WINDOW = 3  # how many positions are put into disorder


class Bias(nn.Module):
    """What each of I units gets to see: X_i = Bias_i(X), in training, at the sample rate."""

    def __init__(self, kinds: Sequence[BiasKind], units: int, d: int, sample_rate: float) -> None:
        super().__init__()
        self.sample_rate = sample_rate
        self.units = units
        self.swapped = _units_of("swap", kinds)
        self.disordered = _units_of("disorder", kinds)
        self.masked = _units_of("mask", kinds)
        self.acts = bool(self.swapped or self.disordered or self.masked)
        # One learnable vector for each masking unit.
        vectors = torch.randn(len(self.masked), d) * d**-0.5
        self.mask = nn.Parameter(vectors) if self.masked else None

    def forward(self, x: Tensor, context: Context) -> Tensor:
        """(B, L, d) → (I, B, L, d), or (1, B, L, d) untouched when all units read the same."""
        if not (self.training and self.acts):
            return x[None]
        if torch.rand((), generator=context.generator) >= self.sample_rate:
            return x[None]
        rows = x.flatten(0, 1)
        if self.mask is not None:
            rows = torch.cat([rows, self.mask])
        views = self._views(context.lengths, x.size(1), context.generator)
        # Not rows[views]: the gradient of that is several times as slow.
        seen = rows.index_select(0, views.flatten().to(x.device))
        return seen.view(self.units, *x.shape)

    def _views(self, lengths: Tensor, width: int, generator: torch.Generator | None) -> Tensor:
        """(I, B, L): for every unit and position, the row of its vector."""
        sentences = len(lengths)
        position = torch.arange(width).repeat(self.units, sentences, 1)
        position[self.swapped] = swap(len(self.swapped), lengths, width, generator)
        position[self.disordered] = disorder(len(self.disordered), lengths, width, generator)
        rows = position + torch.arange(0, sentences * width, width)[:, None]
        chosen = choose(len(self.masked), lengths, width, generator)
        masks = sentences * width + torch.arange(len(self.masked))[:, None, None]
        rows[self.masked] = torch.where(chosen, masks, rows[self.masked])
        return rows


def swap(units: int, lengths: Tensor, width: int, generator: torch.Generator | None) -> Tensor:
    """Two positions at most REACH apart exchange their vectors, once per sentence and unit.

    The distance is uniform over those that fit into the sentence, then the place is.

    Returns:
        (units, B, width): the position whose vector each position now holds; sentences of
        fewer than two positions stay as they are.
    """
    reach = (lengths - 1).clamp(0, REACH)  # 0: too short, and position 0 is swapped with itself
    distance = _draw(units, reach, generator) + (reach > 0)
    first = _draw(units, lengths - distance, generator)
    second = first + distance
    order = torch.arange(width).repeat(units, len(lengths), 1)
    order.scatter_(2, first[..., None], second[..., None])
    return order.scatter_(2, second[..., None], first[..., None])


def disorder(units: int, lengths: Tensor, width: int, generator: torch.Generator | None) -> Tensor:
    """One window of WINDOW positions is put into a random order, once per sentence and unit.

    Returns:
        (units, B, width): the position whose vector each position now holds; sentences shorter
        than a window stay as they are.
    """
    order = torch.arange(width).repeat(units, len(lengths), 1)
    start = _draw(units, lengths - WINDOW + 1, generator)
    shuffled = torch.rand(units, len(lengths), WINDOW, generator=generator).argsort(-1)
    still = torch.arange(WINDOW).expand_as(shuffled)
    shuffled = torch.where((lengths >= WINDOW)[:, None], shuffled, still)
    # A sentence shorter than the window may also be narrower than it: stay inside the tensor.
    window = (start[..., None] + torch.arange(WINDOW)).clamp(max=width - 1)
    moved = (start[..., None] + shuffled).clamp(max=width - 1)
    return order.scatter_(2, window, moved)


def choose(units: int, lengths: Tensor, width: int, generator: torch.Generator | None) -> Tensor:
    """One position of every sentence, for every unit: (units, B, width), true there."""
    position = _draw(units, lengths, generator)[..., None]
    return torch.arange(width) == torch.where(lengths[:, None] > 0, position, -1)


def _draw(units: int, bound: Tensor, generator: torch.Generator | None) -> Tensor:
    """(units, B) whole numbers, uniform below `bound` (B,) or (units, B); 0 where it is < 1."""
    uniform = torch.rand(units, bound.size(-1), generator=generator, dtype=torch.float64)
    return (uniform * bound.clamp(min=1)).long()


def _units_of(kind: BiasKind, kinds: Sequence[BiasKind]) -> list[int]:
    return [unit for unit, name in enumerate(kinds) if name == kind]
