"""Multi-head attention for all units and heads at once."""

import torch
from torch import Tensor, nn

from mute.model import kernels
from mute.model.bank import BankLinear
from mute.model.context import Context, LayerCache
from mute.model.dropout import Dropout
from mute.model.fused import fused_attention
from mute.model.relative import RelativePositions


class Attention(nn.Module):
    """What self- and cross-attention have in common; P members, h heads each.

    Outside training, the attention weights pass through `self.dropout`: a hook there sees them all.
    """

    def __init__(self, members: int, d: int, heads: int, dropout: float, clip: int = 0) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = Dropout(dropout)
        self.relative = RelativePositions(members, d // heads, clip) if clip else None
        self.output = BankLinear(members, d, d)

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        """softmax(QKᵀ/√k) V, and the output projection.

        Args:
            queries: (U, B, h, L, k)
            keys: (U, B, h, S, k)
            values: (U, B, h, S, k)
            mask: true where a query may look, broadcastable to (B, 1, L, S)

        Returns:
            (U, B, L, d)
        """
        queries = queries * queries.size(-1) ** -0.5
        scores = queries @ keys.mT
        if self.relative:
            scores = scores + self.relative.scores(queries, keys.size(-2))
        # Not -inf: a row without any real position would become NaN.
        scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
        weights: Tensor = self.dropout(scores.softmax(-1))
        mixed = weights @ values
        if self.relative:
            mixed = mixed + self.relative.mixed(weights)
        return self.project(mixed.transpose(2, 3).flatten(3))

    def project(self, mixed: Tensor) -> Tensor:
        """The output projection: (U, B, L, d) → (max(U, P), B, L, d)."""
        projected: Tensor = self.output(mixed)
        return projected

    @property
    def can_be_fused(self) -> bool:
        """Whether `fused_attention` may stand in: in training, where nothing looks in between.

        Not for a subclass that attends in another way.
        """
        own = type(self).attend is Attention.attend
        usual = self.relative is None or type(self.relative) is RelativePositions
        if not (self.training and own and usual) or self.dropout.p > 0:
            return False
        weight = self.output.weight
        head = weight.size(-1) // self.heads
        return kernels.suit(weight, head) and not torch.is_autocast_enabled(weight.device.type)

    def split(self, x: Tensor, parts: int) -> Tensor:
        """(U, B, L, parts · d) → (parts, U, B, h, L, k)."""
        by_head = torch.unflatten(x, -1, (parts, self.heads, -1))
        return by_head.permute(3, 0, 1, 4, 2, 5)


class SelfAttention(Attention):
    """Every unit attends to its own view of the layer's input."""

    def __init__(self, members: int, d: int, heads: int, dropout: float, clip: int) -> None:
        super().__init__(members, d, heads, dropout, clip)
        self.input = BankLinear(members, d, d, blocks=3)

    def forward(self, seen: Tensor, context: Context, cache: LayerCache | None = None) -> Tensor:
        """(U, B, L, d) → (max(U, P), B, L, d); with a cache, L new positions after it."""
        projected: Tensor = self.input(seen)
        if cache is None and self.can_be_fused:
            tables = self.relative.tables() if self.relative else None
            return self.project(fused_attention(projected, None, self.heads, context.mask, tables))
        queries, keys, values = self.split(projected, 3)
        if cache is not None:
            if "keys" in cache:
                keys = torch.cat([cache["keys"], keys], dim=-2)
                values = torch.cat([cache["values"], values], dim=-2)
            cache["keys"], cache["values"] = keys, values
        return self.attend(queries, keys, values, context.mask)


class CrossAttention(Attention):
    """Every unit of the decoder attends to the encoder's output."""

    def __init__(self, members: int, d: int, heads: int, dropout: float) -> None:
        super().__init__(members, d, heads, dropout)
        self.query = BankLinear(members, d, d)
        self.memory = BankLinear(members, d, d, blocks=2)

    def forward(self, x: Tensor, context: Context, cache: LayerCache | None = None) -> Tensor:
        """(U, B, T, d) → (max(U, P), B, T, d); a cache keeps the memory's keys and values."""
        assert context.memory is not None, "the decoder gives its units a memory"
        assert context.memory_mask is not None, "a memory comes with its mask"
        if cache is None and self.can_be_fused:
            queries: Tensor = self.query(x)
            memory: Tensor = self.memory(context.memory[None])
            # Units may share this attention and yet come with inputs of their own.
            memory, mask = memory.expand(len(queries), -1, -1, -1), context.memory_mask
            return self.project(fused_attention(queries, memory, self.heads, mask))
        if cache is not None and "memory_keys" in cache:
            keys, values = cache["memory_keys"], cache["memory_values"]
        else:
            keys, values = self.split(self.memory(context.memory[None]), 2)
            if cache is not None:
                cache["memory_keys"], cache["memory_values"] = keys, values
        (asked,) = self.split(self.query(x), 1)
        return self.attend(asked, keys, values, context.memory_mask)
