"""Attention in one piece, for training on a CPU: the plain form's numbers by a compiled kernel.

Taken apart into PyTorch's operations, the attention of a small model spends most of its time on
laying out heads, on products too small for their calls, and on skewing relative positions.
"""

import ctypes
from typing import Any

import torch
from torch import Tensor

from mute.model import kernels


def fused_attention(
    queries: Tensor,
    memory: Tensor | None,
    heads: int,
    mask: Tensor,
    tables: Tensor | None = None,
) -> Tensor:
    """softmax(QKᵀ/√k) V without the output projection.

    Args:
        queries: (U, B, L, d), or (U, B, L, 3 · d) with keys and values beside them
        memory: (U, B, S, 2 · d), keys and values, if they are not beside the queries
        heads: h
        mask: true where a query may look, (B or 1, 1, L or 1, S)
        tables: (2, U or 1, 2 · clip + 1, k), what each distance adds to keys and to values

    Returns:
        (U, B, L, d)
    """
    if queries.size(2) == 0:  # and no address of a row to give to the kernel
        return queries[..., : queries.size(-1) // (3 if memory is None else 1)]
    queries, memory = _in_rows(queries), None if memory is None else _in_rows(memory)
    mixed: Tensor = _attention(queries, memory, heads, mask, tables)[0]
    return mixed


# As operations of PyTorch's, so that its tools see them; `mute bench` counts what they compute.
@torch.library.custom_op("mute::attention", mutates_args=())
def _attention(
    queries: Tensor, memory: Tensor | None, heads: int, mask: Tensor, tables: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The output, and the weights for the way back: (U, B, h, L, S rounded up)."""
    mixed, weights = _outputs(queries, memory, heads)
    _call("mute_attention_forward", queries, memory, mask, tables, weights=weights, mixed=mixed)
    return mixed, weights


@torch.library.custom_op("mute::attention_backward", mutates_args=())
def _attention_backward(
    to_mixed: Tensor,
    weights: Tensor,
    queries: Tensor,
    memory: Tensor | None,
    mask: Tensor,
    tables: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of queries, memory and tables; without elements where there are none."""
    to_queries, to_memory = torch.empty_like(queries), None  # in memory as the queries are
    if memory is not None:
        to_memory = torch.empty_like(memory)
    to_q, to_k, to_v = _parts(to_queries, to_memory)
    shape = (0,) if tables is None else tables.shape
    to_tables = queries.new_zeros(_threads(queries), *shape)  # to be summed in their order
    _call(
        "mute_attention_backward",
        queries,
        memory,
        mask,
        tables,
        weights=weights,
        to_mixed=to_mixed.contiguous(),
        to_q=to_q,
        to_k=to_k,
        to_v=to_v,
        to_tables=to_tables,
    )
    return to_queries, queries.new_empty(0) if to_memory is None else to_memory, to_tables.sum(0)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.set_materialize_grads(False)  # else zeros as large as the weights, for nobody
    queries, memory, _, mask, tables = inputs
    ctx.save_for_backward(output[1], queries, memory, mask, tables)


def _back(ctx: Any, to_mixed: Tensor, _: None) -> tuple[Tensor | None, ...]:
    saved = ctx.saved_tensors  # once: checkpoints of activations bring them back one time only
    to_queries, to_memory, to_tables = _attention_backward(to_mixed, *saved)
    _, _, memory, _, tables = saved
    return (
        to_queries,
        None if memory is None else to_memory,
        None,
        None,
        None if tables is None else to_tables,
    )


_attention.register_autograd(_back, setup_context=_keep)


@_attention.register_fake
def _attention_shapes(
    queries: Tensor, memory: Tensor | None, heads: int, *_: Tensor | None
) -> tuple[Tensor, Tensor]:
    """What comes out, without its numbers: for `torch.compile`."""
    return _outputs(queries, memory, heads)


@_attention_backward.register_fake
def _gradient_shapes(
    _: Tensor,
    __: Tensor,
    queries: Tensor,
    memory: Tensor | None,
    ___: Tensor,
    tables: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    like = queries.new_empty(0)
    return (
        torch.empty_like(queries),
        like if memory is None else torch.empty_like(memory),
        like if tables is None else torch.empty_like(tables),
    )


def _outputs(queries: Tensor, memory: Tensor | None, heads: int) -> tuple[Tensor, Tensor]:
    """Room for the output and the weights."""
    q, k, _ = _parts(queries, memory)
    units, batch, length, d = q.shape
    weights = q.new_empty(units, batch, heads, length, k.size(2) + -k.size(2) % kernels.LANES)
    return q.new_empty(units, batch, length, d), weights


def _call(
    kernel: str,
    queries: Tensor,
    memory: Tensor | None,
    mask: Tensor,
    tables: Tensor | None,
    *,
    weights: Tensor,
    **others: Tensor,
) -> None:
    """Call a kernel with all its inputs and outputs, the latter by their names there."""
    q, k, v = _parts(queries, memory)
    units, batch, length, d = q.shape
    keys, heads = k.size(2), weights.size(2)
    assert len(k) == units, "every unit has its keys"
    assert mask.dtype == torch.bool, "a mask is true or false"
    mask = mask.expand(-1, -1, -1, keys).contiguous().expand(batch, 1, length, keys)
    tensors = {"mask": mask, "q": q, "k": k, "v": v, "weights": weights, **others}
    if tables is not None:
        tensors["key_table"], tensors["value_table"] = tables.contiguous()
    call = kernels.AttentionCall(
        units=units,
        batch=batch,
        heads=heads,
        queries=length,
        keys=keys,
        size=d // heads,
        tables=0 if tables is None else tables.size(1),
        clip=0 if tables is None else tables.size(2) // 2,
        threads=_threads(queries),
        **_steps("q", queries),
        **_steps("k", queries if memory is None else memory),
        mask_batch=mask.stride(0),
        mask_row=mask.stride(2),
        **{name: tensor.data_ptr() for name, tensor in tensors.items()},
    )
    if not getattr(kernels.LIBRARY, kernel)(ctypes.byref(call)):
        raise MemoryError("no memory for attention")


def _threads(queries: Tensor) -> int:
    """As many as PyTorch would take, but none without a sentence."""
    return min(torch.get_num_threads(), queries.size(0) * queries.size(1))


def _in_rows(x: Tensor) -> Tensor:
    """(U, B, L, n), the units one after the other, or side by side in every row."""
    return x if x.movedim(0, -2).is_contiguous() else x.contiguous()


def _steps(name: str, x: Tensor) -> dict[str, int]:
    """From one unit and one row to the next, in numbers.

    Not by their strides, which mean nothing where there is one sentence of one word.
    """
    units, batch, length, n = x.shape
    if x.is_contiguous():
        return {f"{name}_unit": batch * length * n, f"{name}_row": n}
    assert x.movedim(0, -2).is_contiguous(), "rows lie one after the other"
    return {f"{name}_unit": n, f"{name}_row": units * n}


def _parts(queries: Tensor, memory: Tensor | None) -> tuple[Tensor, ...]:
    """Queries, keys and values: views of (U, B, L, d) and twice (U, B, S, d)."""
    if memory is None:
        return queries.chunk(3, -1)
    return queries, *memory.chunk(2, -1)
