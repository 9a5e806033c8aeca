"""Linear layers whose weights are laid out for the processor once, instead of at every product.

What oneDNN does inside a product of a few rows is, for a good part, to reorder the weights. PyTorch
offers the two steps apart, for compilers; we use them where they are to be had.
"""

import torch
from torch import Tensor, nn

from mute.translate.replacing import Packed, replace_parts

_ROWS = 120  # of a typical product: 30 sentences, beam 4; any other number works as well


class PackedLinear(Packed):
    """A linear layer in float32 on a CPU: (..., n) → (..., m)."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(
            linear.weight.detach().contiguous(), _ROWS
        )
        self.bias = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """Multiply."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self.packed, self.bias, "none", [], ""
        )
        return product


def pack(model: nn.Module) -> None:
    """Replace every linear layer inside a model, where this machine and its numbers allow."""
    weight = next(model.parameters())
    suits = weight.device.type == "cpu" and weight.dtype == torch.float32
    known = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    if suits and known:
        with torch.inference_mode():
            replace_parts(
                model, lambda part: PackedLinear(part) if type(part) is nn.Linear else part
            )
