"""Fusion: one coefficient per unit.

MUTE sums its units with learned weights, out = Σ alpha_u F_u. The sequential form orders the
units, accumulates them and sums the accumulations:

    G = Mᵀ [F_1 … F_I]        Ĝ_i = Ĝ_{i-1} + G_i        out = Σ alpha_i Ĝ_i / i

All of it is linear in F. Collecting the terms gives G_j the weight w_j = Σ_{i≥j} alpha_i / i, so

    out = Σ_u c_u F_u   with   c = M w

and the sequential dependency costs I² multiplications instead of passes over the data. c_u is
also the honest answer to how much unit u counts. M is learned, as in the paper, or the identity:
then the units are accumulated in the order they are listed, and c = w.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mute.config import UnitsConfig


def fuse(coefficients: Tensor, outputs: Tensor) -> Tensor:
    """Σ_u c_u F_u: (I,), (I, B, L, d) → (B, L, d)."""
    return torch.einsum("u,ubld->bld", coefficients, outputs)


class Fusion(nn.Module):
    """MUTE: the coefficients are the unit weights alpha themselves, 1/I at the start.

    A single unit has nothing to be weighed against: its weight stays 1.
    """

    def __init__(self, units: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.full((units,), 1 / units), requires_grad=units > 1)

    def forward(self) -> Tensor:
        """The coefficients c: (I,)."""
        return self.alpha

    def penalty(self) -> Tensor:
        """How far the order is from a true one: nothing to order, so 0."""
        return self.alpha.new_zeros(())

    def project_(self) -> None:
        """Bring the order back to the relaxed permutations: nothing to do."""

    def round_(self) -> None:
        """Replace the order by the nearest true one: nothing to do."""


def constant_fusion(coefficients: Tensor) -> Fusion:
    """The coefficients that a model has come to, (I,), not to be learned any further."""
    constant = Fusion(len(coefficients))
    constant.alpha = nn.Parameter(coefficients.detach(), requires_grad=False)
    return constant


class SequentialFusion(Fusion):
    """The sequential form, whichever way M comes about.

    Row u of M says at which places unit u stands: M is a permutation matrix when every row and
    every column holds a single 1.
    """

    matrix: Tensor
    """M: (I, I)."""

    def place_weights(self) -> Tensor:
        """The weight w of the unit at each place: (I,)."""
        places = torch.arange(1, len(self.alpha) + 1, device=self.alpha.device)
        return (self.alpha / places).flip(0).cumsum(0).flip(0)

    def order(self) -> list[int]:
        """The unit at each place, in the permutation nearest to M (linear assignment)."""
        from scipy.optimize import linear_sum_assignment  # slow to import, and seldom needed

        places, units = linear_sum_assignment(self.matrix.detach().cpu().numpy().T, maximize=True)
        assert list(places) == list(range(len(units))), "every place has its unit"
        return [int(unit) for unit in units]


class FixedOrder(SequentialFusion):
    """The units are accumulated in the order they are listed: M is the identity."""

    def __init__(self, units: int) -> None:
        super().__init__(units)
        # For reports alone: neither a parameter nor a buffer, so nothing trains or sends it.
        self.matrix = torch.eye(units)

    def forward(self) -> Tensor:
        """The coefficients c = w: (I,)."""
        return self.place_weights()


class LearnedOrder(SequentialFusion):
    """AutoShuffle: M is a relaxed permutation, learned with the rest.

    It starts near the middle, where all orders are alike, with noise that lets the gradient
    prefer one.
    """

    def __init__(self, units: int) -> None:
        super().__init__(units)
        self.matrix = nn.Parameter(torch.rand(units, units) + 0.5)
        for _ in range(20):  # columns and rows both sum to 1 after that, to float precision
            self.project_()

    def forward(self) -> Tensor:
        """The coefficients c = M w: (I,)."""
        return self.matrix @ self.place_weights()

    def penalty(self) -> Tensor:
        """Σ_rows (‖·‖₁ − ‖·‖₂) + Σ_columns (‖·‖₁ − ‖·‖₂): 0 just for permutations."""
        total = self.alpha.new_zeros(())
        for axis in (0, 1):
            one_norm = torch.linalg.vector_norm(self.matrix, 1, dim=axis)
            two_norm = torch.linalg.vector_norm(self.matrix, 2, dim=axis)
            total = total + (one_norm - two_norm).sum()
        return total

    @torch.no_grad()
    def project_(self) -> None:
        """After an optimizer step: clip at 0, divide columns by their sums, then rows."""
        self.matrix.clamp_(min=0)
        for axis in (0, 1):
            total = self.matrix.sum(axis, keepdim=True)
            # Nothing left to divide: such a unit or place is open to all alike.
            even = torch.full_like(self.matrix, 1 / len(self.matrix))
            self.matrix.copy_(torch.where(total > 0, self.matrix / total, even))

    @torch.no_grad()
    def round_(self) -> None:
        """Replace M by the permutation matrix nearest to it."""
        self.set_order_(self.order())

    @torch.no_grad()
    def set_order_(self, order: Sequence[int]) -> None:
        """Put these units into the places, the first into the first."""
        self.matrix.copy_(permutation_matrix(order))


def permutation_matrix(order: Sequence[int]) -> Tensor:
    """M with unit order[i] at place i: (I, I)."""
    return F.one_hot(torch.tensor(order)).mT.float()


def make_fusion(units: UnitsConfig) -> Fusion:
    """The fusion that a config asks for."""
    if not units.sequential:
        return Fusion(units.units)
    return LearnedOrder(units.units) if units.order == "learned" else FixedOrder(units.units)
