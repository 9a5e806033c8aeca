"""Dropout that spends one random number on four elements.

On a CPU, PyTorch's dropout draws one slow number per element, which is a quarter of a small
model's training time. A 64-bit draw holds four independent 16-bit ones, and a keep probability
that is right to 1/65536 is as good as any.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_STEPS = 1 << 16  # values of a 16-bit draw
_DRAWS = 4  # 16-bit draws in a 64-bit one


class Dropout(nn.Module):
    """Zero each element with probability p in training and scale up the rest."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """(...) → (...), from the device's default generator."""
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        return x * keep_mask(x, self.p)

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        """Add forward(y) to x in one pass; x may lack leading axes of y."""
        if not self.training or self.p == 0 or y.device.type != "cpu":
            return x + self.forward(y)
        return torch.addcmul(x, y, keep_mask(y, self.p))

    def extra_repr(self) -> str:
        """Show p when the module is printed."""
        return f"p={self.p}"


def keep_mask(x: Tensor, p: float) -> Tensor:
    """A tensor like x: 0 with probability p, else the reciprocal of the keep probability."""
    dropped = min(round(p * _STEPS), _STEPS - 1)  # of the 65536 values, these say "drop"
    words = torch.empty(-(-x.numel() // _DRAWS), dtype=torch.int64)
    draws = words.random_(-(2**63), None).view(torch.int16)[: x.numel()].view(x.shape)
    keep = torch.empty_like(x, memory_format=torch.contiguous_format, requires_grad=False)
    torch.ge(draws, dropped - _STEPS // 2, out=keep)  # int16 starts at -32768
    return keep.mul_(_STEPS / (_STEPS - dropped))
