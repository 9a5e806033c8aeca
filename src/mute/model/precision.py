"""Mixed precision, where autocast has no say: gradients of our own, and products with `out=`."""

import torch
from torch import Tensor


def precision_of_products(x: Tensor) -> torch.dtype:
    """What autocast multiplies in; without it, the precision that x is in."""
    kind = x.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype
