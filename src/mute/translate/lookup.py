"""Attention of a step of decoding in one piece: the plain form's numbers by a compiled kernel.

The plain form looks at every key and hides most of them behind a mask: of T · W that the
translations of a sentence have written, each may see its own T. The kernel reads those alone.
"""

import ctypes

import torch
from torch import Tensor

from mute.model import kernels
from mute.translate.operations import OPERATIONS, threads_for


def looked_up(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    hidden: Tensor,
    key_table: Tensor | None = None,
    value_table: Tensor | None = None,
) -> Tensor:
    """softmax(QKᵀ/√k) V, where it is not hidden.

    Args:
        queries: (U, B, h, W, k)
        keys: (U, B, h, S, k)
        values: (U, B, h, S, k), in memory as the keys are
        hidden: (B, 1, W or 1, S), below 0 where a query may not look
        key_table: (U or 1, 2 · clip + 1, k), what each distance adds; S is W for every step then
        value_table: the same for values

    Returns:
        (U, B, W, d)
    """
    mixed: Tensor = torch.ops.mute.look_up(queries, keys, values, hidden, key_table, value_table)
    return mixed


def _look_up(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    hidden: Tensor,
    key_table: Tensor | None,
    value_table: Tensor | None,
) -> Tensor:
    units, batch, heads, width, k = queries.shape
    hidden = hidden.contiguous()
    keys, values = _in_rows(keys), _in_rows(values)
    assert keys.stride() == values.stride(), "they come from one tensor"
    queries = queries if queries.stride(-1) == 1 else queries.contiguous()
    mixed = queries.new_empty(units, batch, width, heads * k)
    call = kernels.LookUpCall(
        units=units,
        batch=batch,
        heads=heads,
        queries=width,
        keys=keys.size(-2),
        size=k,
        threads=threads_for(units * batch, heads * width * keys.size(-2) * k),
        q_unit=queries.stride(0),
        q_batch=queries.stride(1),
        q_head=queries.stride(2),
        q_row=queries.stride(3),
        k_unit=keys.stride(0),
        k_batch=keys.stride(1),
        k_head=keys.stride(2),
        hidden_batch=hidden.stride(0),
        hidden_row=hidden.stride(2) if hidden.size(2) > 1 else 0,
        q=queries.data_ptr(),
        k=keys.data_ptr(),
        v=values.data_ptr(),
        hidden=hidden.data_ptr(),
        mixed=mixed.data_ptr(),
    )
    if key_table is not None and value_table is not None:
        key_table, value_table = key_table.contiguous(), value_table.contiguous()
        call.tables, call.clip, call.step = len(key_table), key_table.size(1) // 2, width
        call.key_table, call.value_table = key_table.data_ptr(), value_table.data_ptr()
    assert kernels.LIBRARY is not None
    if not kernels.LIBRARY.mute_look_up(ctypes.byref(call)):
        raise MemoryError("no memory for attention")
    return mixed


def _in_rows(x: Tensor) -> Tensor:
    """(U, B, h, S, k), the S rows of a head one after the other."""
    rows = x.stride(-1) == 1 and (x.stride(-2) == x.size(-1) or x.size(-2) == 1)
    return x if rows else x.contiguous()


OPERATIONS.define(
    "look_up(Tensor queries, Tensor keys, Tensor values, Tensor hidden, "
    "Tensor? key_table, Tensor? value_table) -> Tensor"
)
OPERATIONS.impl("look_up", _look_up, "CPU")
