"""A layer of the decoder in one call, for steps of few translations.

Taken apart into PyTorch's operations, a step of a small model, or of a single sentence, spends more
time on starting them than on what they compute. The kernel does the same in one piece. With many
translations a library's products, which may be faster then, are worth their calls.
"""

import ctypes

import torch
from torch import Tensor, nn

from mute.model import kernels
from mute.model.attention import SelfAttention
from mute.model.bank import BankLinear, BankNorm
from mute.model.feedforward import FeedForward
from mute.model.kernels import LayerCall, NormLayer
from mute.model.layer import MultiUnitLayer
from mute.model.units import Units
from mute.translate.int8 import rounds_inputs
from mute.translate.operations import OPERATIONS, threads_for
from mute.translate.weights import Held, Weights

_MOST_FLOATS, _MOST_BYTES = (1 << 29, 3 << 24) if kernels.LANES == 16 else (1 << 27, 1 << 25)
"""A layer is compiled for steps of at most so many multiplications, with weights of either kind:
for larger ones the library's products are faster. With inputs of 8 bits it always is."""

_EPS = 1e-5
"""What the kernel adds to a variance."""

_Linear = BankLinear | nn.Linear  # a bank of one member is the plain layer by now


class CompiledLayer(Held):
    """A decoder layer's weights, laid out for the kernel: a second copy, which decodings share.

    Args:
        layer: one that `can_be_compiled`
        narrow: weights in 8 bits, each output with its own scale; the inputs, too, each row with
            its own, if the CPU can multiply such numbers
    """

    def __init__(self, layer: MultiUnitLayer, *, narrow: bool) -> None:
        super().__init__()
        mixer, linears = layer.units.mixer, _linears(layer.units)
        assert isinstance(mixer, SelfAttention), "the mixer of such units"
        assert layer.units.cross_norm is not None, "a decoder's units look at the memory"
        rounding = narrow and rounds_inputs()
        self._laid_out = {
            name: Weights(linear.weight, linear.bias, narrow=narrow, rounding=rounding)
            for name, linear in linears.items()
        }
        self._weights = sum(linear.weight.numel() for linear in linears.values())
        most = _MOST_BYTES if narrow else _MOST_FLOATS
        self._most = None if rounding else most
        self._call = LayerCall(
            heads=mixer.heads,
            size=mixer.output.weight.size(0) // mixer.heads,
            norm=self._norm(layer.norm),
            cross_norm=self._norm(layer.units.cross_norm),
            last_norm=self._norm(layer.units.feedforward.norm),
            **{name: weights.told for name, weights in self._laid_out.items()},
        )
        if mixer.relative is not None:
            self._call.clip = mixer.relative.clip
            self._call.key_table = self._hold(mixer.relative.keys)
            self._call.value_table = self._hold(mixer.relative.values)

    def pays(self, rows: int) -> bool:
        """Whether it is the faster way for so many translations."""
        return self._most is None or rows * self._weights <= self._most

    def step(
        self, x: Tensor, past: Tensor, used: int, memory: Tensor, hidden: tuple[Tensor, Tensor]
    ) -> Tensor:
        """A step of decoding.

        Args:
            x: (B, W, d)
            past: (2, 1, B, h, T · W or more, k), of keys and values; the step's are added
            used: how many it holds
            memory: (2, 1, B, h, S, k)
            hidden: below 0 where a query may not look, (B, 1, W, used + W) and (B, 1, 1, S)

        Returns:
            (B, W, d)
        """
        call = LayerCall.from_buffer_copy(self._call)  # other decodings may be under way
        arguments = (x.contiguous(), past, used, memory, *hidden)
        y: Tensor = torch.ops.mute.decode_layer(*arguments, self._weights, ctypes.addressof(call))
        return y

    def _norm(self, norm: BankNorm | nn.LayerNorm) -> NormLayer:
        return NormLayer(self._hold(norm.weight), self._hold(norm.bias))


def _linears(units: Units) -> dict[str, _Linear]:
    """All that a layer multiplies by in a step, by their names in the call."""
    mixer, cross, feedforward = units.mixer, units.cross, units.feedforward
    assert isinstance(mixer, SelfAttention), "the mixer of such units"
    assert cross is not None, "a decoder's units look at the memory"
    return {
        "input": mixer.input,
        "output": mixer.output,
        "query": cross.query,
        "cross_output": cross.output,
        "expand": feedforward.expand,
        "contract": feedforward.contract,
    }


def can_be_compiled(layer: MultiUnitLayer) -> bool:
    """Whether the kernel does what a layer of a tree does: one of a single unit, in float32."""
    units, cross = layer.units, layer.units.cross
    if type(units.feedforward) is not FeedForward or cross is None:
        return False
    linears = _linears(units)
    norms: tuple[object, ...] = (layer.norm, units.cross_norm, units.feedforward.norm)
    plain = all(type(linear) is nn.Linear for linear in linears.values())
    if not plain or not all(type(norm) is nn.LayerNorm and norm.eps == _EPS for norm in norms):
        return False  # of several units, or of other parts
    weight = linears["output"].weight
    suits = kernels.suit(weight, len(weight) // cross.heads, len(linears["expand"].weight))
    return suits and layer.fusion().tolist() == [1.0]


def _decode_layer(
    x: Tensor,
    past: Tensor,
    used: int,
    memory: Tensor,
    ancestry: Tensor,
    padding: Tensor,
    weights: int,
    where: int,
) -> Tensor:
    call, y = LayerCall.from_address(where), torch.empty_like(x)
    call.batch, call.width, d = x.shape
    call.source, call.room, call.used = memory.size(-2), past.size(-2), used
    rows = call.batch * call.width
    call.threads = threads_for(d // kernels.LANES, rows * weights // d)
    call.threads_back = threads_for(call.batch, call.width * ancestry.size(-1) * d)
    call.threads_across = threads_for(call.batch, call.width * call.source * d)
    call.past, call.memory = past.data_ptr(), memory.data_ptr()
    call.ancestry, call.padding = ancestry.data_ptr(), padding.data_ptr()
    call.x, call.y = x.data_ptr(), y.data_ptr()
    assert kernels.LIBRARY is not None
    if not kernels.LIBRARY.mute_layer(where):
        raise MemoryError("no memory for a layer of the decoder")
    return y


OPERATIONS.define(
    "decode_layer(Tensor x, Tensor(a!) past, int used, Tensor memory, Tensor ancestry, "
    "Tensor padding, int weights, int where) -> Tensor"
)
OPERATIONS.impl("decode_layer", _decode_layer, "CPU")
