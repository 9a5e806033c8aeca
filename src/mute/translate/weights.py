"""Weights of linear layers as our own products read them, in float32 or in 8 bits."""

import ctypes

import torch
from torch import Tensor
from torch.nn import functional as F

from mute.model import kernels
from mute.model.kernels import LinearLayer
from mute.translate.operations import OPERATIONS, threads_for

_FOUR = 4  # weights of 8 bits in a number of 32
_MIDDLE = 128  # what stands for 0 among inputs of 8 bits


class Held:
    """Holds the tensors whose addresses a kernel is told."""

    def __init__(self) -> None:
        self._held: list[Tensor] = []

    def _hold(self, value: Tensor) -> int:
        """The address of its numbers, one behind the other, which stay as long as this does."""
        self._held.append(value.detach().contiguous())
        return self._held[-1].data_ptr()


class Weights(Held):
    """Laid out in panels; see `linear.h`.

    Args:
        weight: (m, n); n a multiple of a register's floats, m is filled up to one
        bias: (m,), or none
        narrow: 8 bits, each output with its own scale
        rounding: inputs become numbers of 8 bits as well, each row with its own scale
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None, *, narrow: bool, rounding: bool
    ) -> None:
        super().__init__()
        self.outputs, inputs = weight.shape
        filling = -self.outputs % kernels.LANES
        weight = F.pad(weight.detach(), (0, 0, 0, filling))
        added = weight.new_zeros(self.outputs) if bias is None else bias.detach().float()
        self.told = LinearLayer(inputs, len(weight), bias=self._hold(F.pad(added, (0, filling))))
        if narrow:
            scale = (weight.abs().amax(1, keepdim=True) / 127).clamp(min=1e-12)
            weight, self.told.scales = (weight / scale).round().char(), self._hold(scale)
            if rounding:
                self.told.middles = self._hold(_MIDDLE * weight.sum(1, dtype=torch.int32))
        panels = weight.view(-1, kernels.LANES, inputs).transpose(1, 2)
        if narrow:
            panels = panels.unflatten(1, (-1, _FOUR)).transpose(2, 3)
        self.told.weights = self._hold(panels)

    def multiply(self, x: Tensor) -> Tensor:
        """W x + b: (..., n) → (..., m)."""
        where = ctypes.addressof(self.told)
        product: Tensor = torch.ops.mute.linear(x.contiguous(), self.told.outputs, where)
        return product[..., : self.outputs]


def _linear(x: Tensor, outputs: int, where: int) -> Tensor:
    y = x.new_empty(*x.shape[:-1], outputs)
    rows = x.numel() // x.size(-1)
    threads = threads_for(outputs // kernels.LANES, rows * x.size(-1) * kernels.LANES)
    assert kernels.LIBRARY is not None
    if not kernels.LIBRARY.mute_linear(where, rows, x.data_ptr(), y.data_ptr(), threads):
        raise MemoryError("no memory for a product")
    return y


OPERATIONS.define("linear(Tensor x, int outputs, int where) -> Tensor")
OPERATIONS.impl("linear", _linear, "CPU")
