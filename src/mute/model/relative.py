"""Relative positions on keys and values (Shaw et al. 2018), clipped.

A learned vector for every distance is added to the keys, and another one to the values. Both
terms depend on the distance only, so they are computed per distance and then *skewed*: a matrix
with one column per distance and one with one column per position hold the same numbers, each
row shifted by one against the row above.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mute.model.bank import bank_product


class RelativePositions(nn.Module):
    """P tables of key and value vectors for the distances -clip … clip, common to all heads."""

    def __init__(self, members: int, k: int, clip: int) -> None:
        super().__init__()
        self.clip = clip
        self.keys = nn.Parameter(torch.empty(members, 2 * clip + 1, k))
        self.values = nn.Parameter(torch.empty(members, 2 * clip + 1, k))
        for table in (self.keys, self.values):
            bound = (6 / (2 * clip + 1 + k)) ** 0.5
            nn.init.uniform_(table, -bound, bound)

    def scores(self, queries: Tensor, length: int) -> Tensor:
        """What the key vectors add to the scores: (U, B, h, L, k) → (U, B, h, L, S)."""
        table = self._by_distance(self.keys, queries.size(-2), length)
        return to_positions(bank_product(queries, table), length)

    def mixed(self, weights: Tensor) -> Tensor:
        """What the value vectors add to the output: (U, B, h, L, S) → (U, B, h, L, k)."""
        table = self._by_distance(self.values, *weights.shape[-2:])
        return bank_product(to_distances(weights), table.mT)

    def tables(self) -> Tensor:
        """The vectors of keys and of values: (2, P, 2 · clip + 1, k)."""
        return torch.stack([self.keys, self.values])

    def _by_distance(self, table: Tensor, queries: int, keys: int) -> Tensor:
        """(P, 2 · clip + 1, k) → (P, L + S, k), for the distances -(S-1) … L.

        The queries are the last L of S positions, as they are in cached decoding. The distance
        L itself does not occur; its column makes all rows of the skew equally long.
        """
        distances = torch.arange(1 - keys, queries + 1, device=table.device)
        return table[:, distances.clamp(-self.clip, self.clip) + self.clip]


def to_positions(by_distance: Tensor, keys: int) -> Tensor:
    """(..., L, L + S), a column per distance → (..., L, S), a column per key position."""
    queries, width = by_distance.shape[-2:]
    shifted = by_distance.flatten(-2)[..., queries - 1 : -1]
    return torch.unflatten(shifted, -1, (queries, width - 1))[..., :keys]


def to_distances(by_position: Tensor) -> Tensor:
    """The way back: (..., L, S) → (..., L, L + S), zero where a distance has no position."""
    queries, keys = by_position.shape[-2:]
    flat = F.pad(by_position, (0, queries - 1)).flatten(-2)
    padded = F.pad(flat, (queries - 1, 1))
    return torch.unflatten(padded, -1, (queries, queries + keys))
