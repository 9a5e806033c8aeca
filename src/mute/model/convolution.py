"""Gated depthwise convolution: a way for positions to exchange information without attention."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mute.model.bank import BankLinear
from mute.model.context import Context, LayerCache

WIDTH = 7  # positions a kernel spans


class Convolution(nn.Module):
    """P gated convolutions with one kernel of `WIDTH` per channel.

    In the encoder the kernel is centred; in the decoder (`causal`) it ends at its position.
    """

    def __init__(self, members: int, d: int, causal: bool) -> None:
        super().__init__()
        self.causal = causal
        self.input = BankLinear(members, d, d, blocks=2)
        self.kernel = nn.Parameter(torch.empty(members, d, WIDTH))
        self.output = BankLinear(members, d, d)
        nn.init.uniform_(self.kernel, -(WIDTH**-0.5), WIDTH**-0.5)

    def forward(self, seen: Tensor, context: Context, cache: LayerCache | None = None) -> Tensor:
        """(U, B, L, d) → (max(U, P), B, L, d); with a cache, L new positions after it."""
        gated = F.glu(self.input(seen))
        if self.causal:
            before = F.pad(gated, (0, 0, WIDTH - 1, 0))
            if cache is not None:
                if "before" in cache:
                    before = torch.cat([cache["before"], gated], dim=-2)
                cache["before"] = before[..., 1 - WIDTH :, :]
        else:
            # Padding must look like the outside of the sentence: nothing.
            before = F.pad(gated * context.real[..., None], (0, 0, WIDTH // 2, WIDTH // 2))
        convolved: Tensor = self.output(self._convolve(before))
        return convolved

    def _convolve(self, x: Tensor) -> Tensor:
        """(U, B, L + WIDTH - 1, d) → (U, B, L, d): every channel of every unit is a group."""
        units, _, _, d = x.shape
        kernel = self.kernel.expand(units, -1, -1).reshape(units * d, 1, WIDTH)
        channels = x.permute(1, 0, 3, 2).flatten(1, 2)  # (B, U · d, L + WIDTH - 1)
        convolved = F.conv1d(channels, kernel, groups=units * d)
        return torch.unflatten(convolved, 1, (units, d)).permute(1, 0, 3, 2)
