"""Dropout that is a small part of the time on a CPU.

There PyTorch's own draws one slow number per element, and keeps a mask for the way back: a quarter
of a small model's training time. The kernel works out from a seed and an element's place whether it
is dropped, in the same pass, and once more on the way back.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mute.model import kernels

_DRAWS = 1 << 32  # the numbers that a draw may be, from -2^31 on


class Dropout(nn.Module):
    """Zero each element with probability p in training and scale up the rest."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """(...) → (...), from the device's default generator."""
        if not self.training or self.p == 0:
            return x
        return _drop(None, x, self.p) if kernels.suit(x) else F.dropout(x, self.p)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Add forward(y) to x in one pass; x may lack leading axes of y."""
        suits = kernels.suit(x) and kernels.suit(y) and _repeats(x.shape, y.shape)
        if not self.training or self.p == 0 or not suits:
            return x + self.forward(y)
        return _drop(x, y, self.p)

    def extra_repr(self) -> str:
        """Show p when the module is printed."""
        return f"p={self.p}"


def _repeats(x: torch.Size, y: torch.Size) -> bool:
    """Whether y has the elements of x, all of them over and over again."""
    axes = len(x)
    if axes > len(y):
        return False
    while axes and x[-axes] == 1 < y[-axes]:
        axes -= 1
    return x[len(x) - axes :] == y[len(y) - axes :]


def _drop(x: Tensor | None, y: Tensor, p: float) -> Tensor:
    """The sum of x, if any, and what dropout leaves of y."""
    seed = int(torch.empty((), dtype=torch.int64).random_())
    added: Tensor = _Drop.apply(x, y, p, seed)  # type: ignore[no-untyped-call]
    return added


class _Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor | None, y: Tensor, p: float, seed: int) -> Tensor:
        ctx.p, ctx.seed = p, seed
        ctx.shape = None if x is None else x.shape
        return _dropped(x, y, p, seed)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        to_x = None if ctx.shape is None else _summed(upstream[0], ctx.shape)
        to_y: Tensor = _Drop.apply(None, upstream[0], ctx.p, ctx.seed)  # type: ignore[no-untyped-call]
        return to_x, to_y, None, None


def _summed(y: Tensor, shape: torch.Size) -> Tensor:
    """The sum over what repeats the shape; not for `sum_to_size` to copy where nothing does."""
    return y.reshape(shape) if y.numel() == shape.numel() else y.sum_to_size(shape)


def _dropped(x: Tensor | None, y: Tensor, p: float, seed: int) -> Tensor:
    """What the seed leaves of y, added to x, which may lack leading axes of y."""
    assert kernels.LIBRARY is not None
    y, dropped = y.contiguous(), torch.empty_like(y, memory_format=torch.contiguous_format)
    repeated = None if x is None else x.contiguous()
    kernels.LIBRARY.mute_dropout(
        None if repeated is None else repeated.data_ptr(),
        0 if repeated is None else repeated.numel(),
        y.data_ptr(),
        dropped.data_ptr(),
        y.numel(),
        min(round(p * _DRAWS), _DRAWS - 1) - _DRAWS // 2,
        1 / (1 - p),
        seed,
        torch.get_num_threads(),
    )
    return dropped
