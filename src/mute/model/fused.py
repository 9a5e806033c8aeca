"""Attention in one piece, for training: the same numbers as the plain form, in far fewer passes.

Taken apart into PyTorch's operations, the attention of a small model spends most of its time on
copying: every product wants its heads side by side in memory, every skew of relative positions
is two paddings and a slice, and the way back does all of it again. Here each head is laid out once,
both ways, and a skew is another look at the same memory.

N = U · B · h heads in all, L query positions, S key positions, k numbers per head, and L + S
distances, of which -(S - 1) … L - 1 occur (see `relative.py`).
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

# PyTorch's softmax takes ten times as long on rows that do not fill a register of the processor.
_SHORTEST_ROW = 16


def fused_attention(
    queries: Tensor,
    memory: Tensor | None,
    heads: int,
    mask: Tensor,
    key_table: Tensor | None = None,
    value_table: Tensor | None = None,
) -> Tensor:
    """softmax(QKᵀ/√k) V without the output projection.

    Args:
        queries: (U, B, L, d), or (U, B, L, 3 · d) with keys and values beside them
        memory: (U, B, S, 2 · d), keys and values, if they are not beside the queries
        heads: h
        mask: true where a query may look, broadcastable to (B, h, L, S)
        key_table: (U or 1, L + S, k), what each distance adds to the keys, if anything
        value_table: likewise, to the values; both or none

    Returns:
        (U, B, L, d)
    """
    mixed: Tensor = _Attention.apply(queries, memory, heads, mask, key_table, value_table)  # type: ignore[no-untyped-call]
    return mixed


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        memory: Tensor | None,
        heads: int,
        mask: Tensor,
        key_table: Tensor | None,
        value_table: Tensor | None,
    ) -> Tensor:
        units, batch = queries.shape[:2]
        if memory is None:
            q, k, v = _apart(queries, 3, heads)
        else:
            (q,), (k, v) = _apart(queries, 1, heads), _apart(memory, 2, heads)
        q *= q.size(-1) ** -0.5
        keys = k.size(1)
        wide = _long_enough(torch.bmm(q, k.mT), -torch.inf)
        scores = wide[..., :keys]
        if key_table is not None:
            scores += _skewed(_with_table(q, key_table.mT), keys)
        by_head = torch.unflatten(scores, 0, (units, batch, heads))
        by_head.masked_fill_(~mask, torch.finfo(scores.dtype).min)
        wide = wide.softmax(-1)
        weights = wide[..., :keys]
        mixed = torch.bmm(weights, v)
        spread = None
        if value_table is not None:
            spread = _unskewed(weights)
            mixed += _with_table(spread, value_table)
        ctx.save_for_backward(q, k, v, wide, spread, key_table, value_table)
        ctx.shape = units, batch, heads
        ctx.beside = memory is None
        return _together(mixed[None], units, batch, heads)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, wide, spread, key_table, value_table = ctx.saved_tensors
        keys = k.size(1)
        (to_mixed,) = _apart(upstream[0], 1, ctx.shape[2])
        to_wide = _long_enough(torch.bmm(to_mixed, v.mT), 0)
        to_key_table = to_value_table = None
        if value_table is not None:
            to_wide[..., :keys] += _skewed(_with_table(to_mixed, value_table.mT), keys)
            to_value_table = _of_table(spread, to_mixed, len(value_table))
        to_wide = torch._softmax_backward_data(to_wide, wide, -1, wide.dtype)
        weights, to_scores = wide[..., :keys], to_wide[..., :keys]
        gradients = q.new_empty(3, *q.shape) if ctx.beside else q.new_empty(1, *q.shape)
        to_memory = gradients[1:] if ctx.beside else k.new_empty(2, *k.shape)
        torch.bmm(to_scores, k, out=gradients[0])
        torch.bmm(to_scores.mT, q, out=to_memory[0])
        torch.bmm(weights.mT, to_mixed, out=to_memory[1])
        if key_table is not None:
            spread = _unskewed(to_scores)
            gradients[0] += _with_table(spread, key_table)
            to_key_table = _of_table(spread, q, len(key_table))
        gradients[0] *= q.size(-1) ** -0.5
        return (
            _together(gradients, *ctx.shape),
            None if ctx.beside else _together(to_memory, *ctx.shape),
            None,
            None,
            to_key_table,
            to_value_table,
        )


def _apart(x: Tensor, parts: int, heads: int) -> Tensor:
    """(U, B, L, parts · d) → (parts, N, L, k), a copy with every head by itself in memory."""
    by_head = torch.unflatten(x, -1, (parts, heads, -1)).permute(3, 0, 1, 4, 2, 5)
    return by_head.clone(memory_format=torch.contiguous_format).flatten(1, 3)


def _together(x: Tensor, units: int, batch: int, heads: int) -> Tensor:
    """The way back: (parts, N, L, k) → (U, B, L, parts · d)."""
    by_head = torch.unflatten(x, 1, (units, batch, heads))
    return by_head.permute(1, 2, 4, 0, 3, 5).flatten(3)


def _long_enough(rows: Tensor, filling: float) -> Tensor:
    """(N, L, S) → (N, L, max(S, 16)), with columns of `filling` behind its own."""
    missing = _SHORTEST_ROW - rows.size(-1)
    return F.pad(rows, (0, missing), value=filling) if missing > 0 else rows


def _with_table(x: Tensor, table: Tensor) -> Tensor:
    """Each unit's vectors times its table: (N, L, n), (U or 1, n, m) → (N, L, m)."""
    product = torch.bmm(x.view(len(table), -1, x.size(-1)), table)
    return product.view(*x.shape[:2], -1)


def _of_table(x: Tensor, to_product: Tensor, tables: int) -> Tensor:
    """The gradient of a table that x was multiplied by: (U or 1, n, m)."""
    by_unit = x.view(tables, -1, x.size(-1))
    return torch.bmm(by_unit.mT, to_product.reshape(tables, -1, to_product.size(-1)))


def _skewed(by_distance: Tensor, keys: int) -> Tensor:
    """(N, L, L + S), a column per distance → (N, L, S), a column per position: the same memory."""
    heads, queries, width = by_distance.shape
    strides = (queries * width, width - 1, 1)
    return by_distance.as_strided((heads, queries, keys), strides, queries - 1)


def _unskewed(by_position: Tensor) -> Tensor:
    """(N, L, S) → (N, L, L + S), zero where a distance has no position."""
    heads, queries, keys = by_position.shape
    by_distance = by_position.new_zeros(heads, queries, queries + keys)
    _skewed(by_distance, keys).copy_(by_position)
    return by_distance
