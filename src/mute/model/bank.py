"""Banks: the parameters of all units of a layer, stacked, applied in one product.

A bank has P members: one for each unit, or a single one that all units share. Its input has a
unit axis of size U: I, or 1 where all units read the same. Any pair of the two gives an output
with max(U, P) units, and never a Python loop over them. A bank of one member *is* the plain
layer of the same name, which is how a one-unit model costs no more than a Transformer.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mute.model.precision import precision_of_products


def bank_product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply each unit's vectors by its own matrix.

    Args:
        x: (U, ..., n)
        weight: (P, m, n)
        bias: (P, m)

    Returns:
        (max(U, P), ..., m)
    """
    members, m, n = weight.shape
    if members == 1:  # shared by all units: no unit needs to know of the others
        # Not weight[0], whose gradient would be a table of zeros with the real one copied into it.
        return F.linear(x, weight.squeeze(0), None if bias is None else bias.squeeze(0))
    if x.size(0) == 1:  # all units read the same: one product with all matrices side by side
        flat_bias = None if bias is None else bias.flatten()
        product = F.linear(x.squeeze(0), weight.reshape(members * m, n), flat_bias)
        return torch.unflatten(product, -1, (members, m)).movedim(-2, 0)
    flat = x.reshape(members, -1, n)
    if bias is None:
        product = torch.bmm(flat, weight.mT)
    else:
        low = precision_of_products(x)
        product = _Products.apply(flat.to(low), weight.to(low), bias.to(low))  # type: ignore[no-untyped-call]
    return torch.unflatten(product, 1, x.shape[1:-1])


class _Products(torch.autograd.Function):
    """x Wᵀ + b of every member: (P, N, n), (P, m, n), (P, m) → (P, N, m).

    PyTorch's own gradient of W would lie transposed in memory, and be copied to lie as W does.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return torch.baddbmm(bias[:, None], x, weight.mT)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, ...]:
        (slope,), (x, weight) = upstream, ctx.saved_tensors
        return torch.bmm(slope, weight), torch.bmm(slope.mT, x), slope.sum(1)


class BankLinear(nn.Module):
    """P linear layers: (U, B, L, n) → (max(U, P), B, L, blocks · m).

    `blocks` counts matrices that are stored side by side because they read the same input
    (queries, keys and values); each is initialised by itself, as if it stood alone.
    """

    def __init__(self, members: int, n: int, m: int, blocks: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(members, blocks * m, n))
        self.bias = nn.Parameter(torch.zeros(members, blocks * m))
        # Glorot's bound, from the size of one matrix and not of the stack.
        bound = (6 / (n + m)) ** 0.5
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        """Apply every member to its unit's vectors."""
        return bank_product(x, self.weight, self.bias)


class BankNorm(nn.Module):
    """P layer normalisations: (U, B, L, d) → (max(U, P), B, L, d)."""

    def __init__(self, members: int, d: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(members, d))
        self.bias = nn.Parameter(torch.zeros(members, d))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise each vector, then scale and shift it as its unit has learned."""
        members, d = self.weight.shape
        if members == 1:
            return F.layer_norm(x, (d,), self.weight.squeeze(0), self.bias.squeeze(0))
        normal = F.layer_norm(x, (d,))
        return torch.addcmul(self.bias[:, None, None], normal, self.weight[:, None, None])
