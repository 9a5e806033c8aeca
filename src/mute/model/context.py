"""What the layers of a stack need besides their input."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

LayerCache = dict[str, Tensor]
"""What a layer keeps between the steps of a step-by-step decoding."""


@dataclass(frozen=True)
class Context:
    """Made once per pass through a stack, and read by every layer of it."""

    real: Tensor
    """(B, L): true where there is a word, false where there is padding, always behind it."""
    mask: Tensor
    """True where a position may look: (B, 1, 1, L) in the encoder, (1, 1, L, S) causal."""
    generator: torch.Generator | None = None
    """The CPU generator of the bias's draws; PyTorch's default one if None, which
    `torch.utils.checkpoint` needs: no other is set back for a second pass."""
    memory: Tensor | None = None
    """(B, S, d): the encoder's output, for the decoder."""
    memory_mask: Tensor | None = None
    """(B, 1, 1, S): true where the memory is real."""

    @cached_property
    def lengths(self) -> Tensor:
        """(B,) on the CPU, where the bias draws; worked out only when it acts."""
        return self.real.sum(1).cpu()
