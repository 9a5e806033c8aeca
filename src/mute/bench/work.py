"""How much is computed, and how fast that is."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, ParamSpec

import torch
from torch.utils.flop_counter import FlopCounterMode, conv_flop_count, sdpa_flop_count

import mute.model.fused
import mute.translate.compiled
import mute.translate.lookup  # noqa: F401 (all make their operations known)

Arguments = ParamSpec("Arguments")
_Shape = list[int]


def _added_product(_: _Shape, left: _Shape, right: _Shape, **__: Any) -> int:
    return 2 * left[0] * left[1] * right[1]


def _convolution_backward(slope: _Shape, x: _Shape, kernel: _Shape, *_: Any, **__: Any) -> int:
    """One more convolution for each of input and kernel."""
    return 2 * conv_flop_count(x, kernel, slope)


def _packed_product(x: _Shape, *_: Any, out_shape: _Shape, **__: Any) -> int:
    return 2 * prod(x) * out_shape[-1]


def _attention(queries: _Shape, keys: _Shape, values: _Shape, *_: Any, **__: Any) -> int:
    operations: int = sdpa_flop_count(queries, keys, values)
    return operations


def _kernel(queries: _Shape, memory: _Shape | None, *_: Any, **__: Any) -> int:
    """Scores, and the mix of values."""
    units, batch, length, width = queries
    d, keys = (width // 3, length) if memory is None else (width, memory[2])
    return 2 * 2 * units * batch * length * keys * d


def _kernel_backward(
    _: _Shape, __: _Shape, queries: _Shape, memory: _Shape | None, *___: Any, **____: Any
) -> int:
    return 2 * _kernel(queries, memory)


def _look_up(queries: _Shape, keys: _Shape, _: _Shape, hidden: _Shape, *__: Any, **___: Any) -> int:
    """Scores, and the mix of values, of what a query sees: its own of W keys a step, or all."""
    return 2 * 2 * prod(queries) * (keys[3] // hidden[2])


def _layer(
    x: _Shape, _: _Shape, __: int, memory: _Shape, ancestry: _Shape, *more: Any, **___: Any
) -> int:
    """Its products, and twice scores and the mix of values: of the own past, and of the source."""
    (sentences, width, d), (_padding, weights, _where) = x, more
    seen = ancestry[-1] // width + memory[-2]
    return 2 * sentences * width * (int(weights) + 2 * seen * d)


# PyTorch's counter passes over products in place, those with packed weights, the fused attention
# of CPUs and ours; and it takes every channel of the kernel's gradient for connected to every
# other, though here each is a group of its own.
_FORMULAS: dict[Any, Callable[..., int]] = {
    torch.ops.aten.addmm_: _added_product,
    torch.ops.aten.convolution_backward: _convolution_backward,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    torch.ops.mute.attention: _kernel,
    torch.ops.mute.attention_backward: _kernel_backward,
    torch.ops.mute.look_up: _look_up,
    torch.ops.mute.decode_layer: _layer,
}
if hasattr(torch.ops.mkldnn, "_linear_pointwise"):  # see `mute.translate.packed`
    _FORMULAS[torch.ops.mkldnn._linear_pointwise] = _packed_product


def count_work(
    call: Callable[Arguments, object], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> int:
    """Make a call, and count the operations (FLOP) of the matrix products in it.

    A multiplication and an addition are two; whatever is no product of matrices or convolution
    counts nothing. 8-bit products are not seen.
    """
    with FlopCounterMode(display=False, custom_mapping=_FORMULAS) as counter:
        call(*args, **kwargs)
    operations: int = counter.get_total_flops()
    return operations


@dataclass(frozen=True)
class Speed:
    """What was achieved in a stretch of time."""

    target_tokens_per_second: float
    gflops: float
    """Billions of operations per second, of those that `count_work` counts."""
    share_of_peak: float
    """Of the machine's large float32 products."""


def speed(tokens: int, work: int, seconds: float, peak: float) -> Speed:
    """The speed of so much in so many seconds, on a machine with this peak in GFLOP/s."""
    gflops = work / seconds / 1e9
    return Speed(tokens / seconds, gflops, gflops / peak)
