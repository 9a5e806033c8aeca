"""Products with 8-bit weights: a quarter of the memory traffic, and several times the speed.

Each row of a weight matrix has its own scale. Sums are 32-bit and the result is float32 again, so
only the products themselves lose precision. Where a CPU with AVX-512 can sum four products at once
(VNNI), the products are ours, and each row of the input has its own scale as well. Elsewhere they
are those of FBGEMM, which PyTorch brings along for x86 processors: the input has one scale, found
anew for every call, so what a sentence becomes may depend a little on what is beside it.
"""

import warnings
from functools import cache, cached_property
from typing import Any

import torch
from torch import Tensor, nn

from mute.errors import MuteError
from mute.model import kernels
from mute.model.bank import BankLinear
from mute.probe import survives
from mute.translate.decoding import check_finite
from mute.translate.replacing import Packed, replace_parts
from mute.translate.weights import Weights

_ENGINE = "fbgemm"
_PROBE = """
import torch
from mute.translate.int8 import FbgemmLinear, int8_linear
torch.inference_mode().__enter__()
for linear in (FbgemmLinear, int8_linear):
    print(linear(torch.ones(64, 64), torch.ones(64))(torch.ones(64, 64)).sum())
"""


@cache
def has_wide_sums() -> bool:
    """Whether the CPU sums products of 8 bits in 32 (VNNI)."""
    return bool(torch.cpu.get_capabilities().get("avx512_vnni"))


def rounds_inputs() -> bool:
    """Whether our own products are the ones to use."""
    return kernels.LIBRARY is not None and kernels.LANES == 16 and has_wide_sums()


def int8_linear(weight: Tensor, bias: Tensor | None) -> Packed:
    """A linear layer in 8 bits: (..., n) → (..., m)."""
    fits = rounds_inputs() and weight.size(1) % kernels.LANES == 0
    return Int8Linear(weight, bias) if fits else FbgemmLinear(weight, bias)


class Int8Linear(Packed):
    """A linear layer by our own products, in which no row depends on another."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self._weights = Weights(weight.float(), bias, narrow=True, rounding=True)

    def forward(self, x: Tensor) -> Tensor:
        """Multiply."""
        return self._weights.multiply(x)


class FbgemmLinear(Packed):
    """A linear layer by FBGEMM's products."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        scales = (weight.abs().amax(1).double() / 127).clamp(min=1e-12)
        zeros = torch.zeros(len(weight), dtype=torch.long)
        with warnings.catch_warnings():  # that these types will go, with a later PyTorch
            warnings.simplefilter("ignore")
            quantized = torch.quantize_per_channel(weight.float(), scales, zeros, 0, torch.qint8)
        torch.backends.quantized.engine = _ENGINE
        self.packed: Any = torch.ops.quantized.linear_prepack(
            quantized, None if bias is None else bias.detach().float()
        )

    def forward(self, x: Tensor) -> Tensor:
        """Multiply; without VNNI, sums of two products have 16 bits, so the input gets 7 only."""
        narrow = not has_wide_sums()
        try:
            product: Tensor = torch.ops.quantized.linear_dynamic(
                x, self.packed, reduce_range=narrow
            )
        except RuntimeError:  # there is no scale for what is no number
            check_finite(x)
            raise
        return product


class Int8Bank(Packed):
    """A `BankLinear` of several members in 8 bits."""

    def __init__(self, bank: BankLinear) -> None:
        super().__init__()
        self._weight, self._bias = bank.weight.detach(), bank.bias.detach()

    @cached_property
    def _side_by_side(self) -> Packed:
        return int8_linear(self._weight.flatten(0, 1), self._bias.flatten())

    @cached_property
    def _members(self) -> list[Packed]:
        return [int8_linear(*member) for member in zip(self._weight, self._bias, strict=True)]

    def forward(self, x: Tensor) -> Tensor:
        """(U, ..., n) → (max(U, P), ..., m), as `bank_product` does."""
        if x.size(0) == 1:
            product: Tensor = self._side_by_side(x[0])
            return torch.unflatten(product, -1, (len(self._weight), -1)).movedim(-2, 0)
        return torch.stack([member(each) for member, each in zip(self._members, x, strict=True)])


def to_int8(model: nn.Module) -> None:
    """Replace every linear layer and bank inside a model.

    Raises:
        MuteError: this machine has no such arithmetic, or dies of it.
    """
    if _ENGINE not in torch.backends.quantized.supported_engines or not survives(_PROBE):
        raise MuteError("--compute int8: this machine cannot; use float32")

    def rounded(part: nn.Module) -> nn.Module:
        if type(part) is BankLinear:
            return Int8Bank(part)
        if type(part) is nn.Linear:
            return int8_linear(part.weight.detach(), part.bias)
        return part

    replace_parts(model, rounded)
