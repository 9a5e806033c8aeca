"""Translations as a tree of steps, seen through their ancestry.

The W partial translations of a sentence are to the decoder what the words of a sentence are in
training: positions of one batch row, (B, W, d). So cross-attention reads one copy of a sentence's
keys and values for all of them. The self-attention's keys and values never move either: every
step writes W new ones behind the old, and a mask, the *ancestry*, says which of them are a
translation's own past. To go on with other translations is to reorder the mask.

A step of a small model is over so soon that the number of operations counts, and not only their
size: masks are numbers to be added, made once for all layers, and keys and values one tensor.

B sentences, W translations of each, T steps, S source positions, U units, h heads of k numbers.
"""

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mute.model import kernels
from mute.model.attention import CrossAttention, SelfAttention
from mute.model.bank import bank_product
from mute.model.decoder import Decoder
from mute.model.fusion import fuse
from mute.model.layer import MultiUnitLayer, multi_unit_layers
from mute.model.relative import RelativePositions
from mute.model.units import Units
from mute.translate.compiled import CompiledLayer
from mute.translate.lookup import looked_up

FIRST_ROOM = 16
"""Steps there is room for at first; when they are used up, the room is doubled."""
_HIDDEN = -1e9
"""Added to the score of what a query may not see; not -inf, which would make NaN of a sum."""


def can_be_tree(layer: MultiUnitLayer) -> bool:
    """Whether a decoder's layer has the paper's units, whose parts are known here."""
    units = layer.units
    if type(units) is not Units or type(units.cross) is not CrossAttention:
        return False
    mixer = units.mixer
    if type(mixer) is not SelfAttention:
        return False
    return mixer.relative is None or type(mixer.relative) is RelativePositions


class TreeDecoding:
    """A `Decoding` for decoders whose layers `can_be_tree`."""

    def __init__(
        self,
        decoder: Decoder,
        output: nn.Module,
        memory: Tensor,
        mask: Tensor,
        width: int,
        compiled: Sequence[CompiledLayer | None],
    ) -> None:
        self.decoder, self.output = decoder, output
        self.layers = [
            _LayerState(layer, memory, fast)
            for layer, fast in zip(multi_unit_layers(decoder.layers), compiled, strict=True)
        ]
        self.length = 0
        self.padding = _hidden(~mask, memory)  # (B, 1, 1, S)
        others = ~torch.eye(width, dtype=torch.bool, device=memory.device)
        self.newborn = _hidden(others, memory).expand(len(memory), 1, width, width)
        self.ancestry = self.newborn[..., :0]  # (B, 1, W, T · W)

    def step(self, words: Tensor) -> Tensor:
        """See `Decoding.step`."""
        self.ancestry = torch.cat([self.ancestry, self.newborn], dim=-1)
        x = self.decoder.embedding(words.flatten()[:, None], self.length).view(*words.shape, -1)
        for layer in self.layers:
            x = layer.step(x, self.ancestry, self.padding)
        self.length += 1
        logits: Tensor = self.output(self.decoder.norm(x))
        return logits

    def select(self, parents: Tensor) -> None:
        """See `Decoding.select`."""
        chosen = parents[:, None, :, None].expand_as(self.ancestry)
        self.ancestry = self.ancestry.gather(2, chosen)

    def keep(self, sentences: Tensor) -> None:
        """See `Decoding.keep`."""
        self.ancestry, self.padding = self.ancestry[sentences], self.padding[sentences]
        self.newborn = self.newborn[: len(sentences)]
        for layer in self.layers:
            layer.keep(sentences)


def _hidden(mask: Tensor, like: Tensor) -> Tensor:
    """A true/false mask as numbers to add."""
    return like.new_zeros(mask.shape).masked_fill_(mask, _HIDDEN)


class _LayerState:
    """A decoder layer, with what it knows of the sentences that are being translated."""

    def __init__(
        self, layer: MultiUnitLayer, memory: Tensor, compiled: CompiledLayer | None
    ) -> None:
        assert layer.units.cross is not None, "a decoder's units look at the memory"
        assert isinstance(layer.units.mixer, SelfAttention), "a tree is for attention"
        self.layer, self.units = layer, layer.units
        self.attention, self.cross = layer.units.mixer, layer.units.cross
        self.coefficients = layer.fusion()
        self.stands_alone = self.coefficients.tolist() == [1.0]
        # Keys and values: (2, U, B, h, S, k).
        self.memory = self.cross.split(self.cross.memory(memory[None]), 2).contiguous()
        self.past = _Growing()
        self.compiled = compiled

    def step(self, x: Tensor, ancestry: Tensor, padding: Tensor) -> Tensor:
        """(B, W, d) → (B, W, d)."""
        sentences, width, _ = x.shape
        if self.compiled and self.compiled.pays(sentences * width):
            used, past = self.past.used, self.past.reserve(self.memory, width)
            return self.compiled.step(x, past, used, self.memory, (ancestry, padding))
        s = x + self._look_back(self.layer.norm(x)[None], ancestry)
        assert self.units.cross_norm is not None, "it comes with the cross-attention"
        (queries,) = self.cross.split(self.cross.query(self.units.cross_norm(s)), 1)
        keys, values = self.memory
        s = s + self.cross.project(_attend(queries, keys, values, padding))
        outputs: Tensor = s + self.units.feedforward(s)
        return outputs[0] if self.stands_alone else fuse(self.coefficients, outputs)

    def _look_back(self, seen: Tensor, ancestry: Tensor) -> Tensor:
        """Self-attention over the own past: (1, B, W, d) → (U, B, W, d)."""
        projected = self.attention.split(self.attention.input(seen), 3)
        queries, (keys, values) = projected[0], self.past.append(projected[1:])
        relative = self.attention.relative
        if relative is None:
            mixed = _attend(queries, keys, values, ancestry)
        else:
            mixed = _attend_by_distance(queries, keys, values, ancestry, relative)
        return self.attention.project(mixed)

    def keep(self, sentences: Tensor) -> None:
        """Go on with some of the sentences."""
        self.memory = self.memory[:, :, sentences]
        self.past.keep(sentences)


def _attend(queries: Tensor, keys: Tensor, values: Tensor, hidden: Tensor) -> Tensor:
    """softmax(QKᵀ/√k) V.

    Args:
        queries: (U, B, h, W, k)
        keys: (U, B, h, S, k)
        values: (U, B, h, S, k)
        hidden: (B, 1, W or 1, S), added to the scores

    Returns:
        (U, B, W, d)
    """
    if kernels.suit(queries, queries.size(-1)):
        return looked_up(queries, keys, values, hidden)
    units, width = len(queries), queries.size(-2)
    hidden = hidden.repeat(units, 1, 1, 1) if units > 1 else hidden
    # PyTorch's fast kernel knows of sentences and heads only: the units' sentences side by side.
    mixed = F.scaled_dot_product_attention(
        queries.flatten(0, 1), keys.flatten(0, 1), values.flatten(0, 1), attn_mask=hidden
    )
    return mixed.transpose(1, 2).reshape(units, -1, width, mixed.size(1) * mixed.size(3))


def _attend_by_distance(
    queries: Tensor, keys: Tensor, values: Tensor, hidden: Tensor, relative: RelativePositions
) -> Tensor:
    """`_attend` with relative positions: what was written in one step is equally far away."""
    if kernels.suit(queries, queries.size(-1)):
        return looked_up(queries, keys, values, hidden, relative.keys, relative.values)
    units, sentences, heads, width, k = queries.shape
    steps = keys.size(-2) // width
    scale = k**-0.5
    by_step = bank_product(queries, _by_step(relative.keys, steps, relative.clip))
    # (U, B, h, W, T, 1) + (B, 1, W, T, W)
    added = by_step[..., None] + hidden.unflatten(-1, (steps, width))
    scores = torch.baddbmm(
        added.view(-1, width, steps * width),
        queries.reshape(-1, width, k),
        keys.flatten(0, 2).mT,
        beta=scale,
        alpha=scale,
    )
    weights = scores.softmax(-1)
    by_step = weights.view(units, sentences, heads, width, steps, width).sum(-1)
    by_distance = bank_product(by_step, _by_step(relative.values, steps, relative.clip).mT)
    mixed = torch.baddbmm(by_distance.view(-1, width, k), weights, values.flatten(0, 2))
    return mixed.view(units, sentences, heads, width, k).transpose(2, 3).flatten(3)


def _by_step(table: Tensor, steps: int, clip: int) -> Tensor:
    """(P, 2 · clip + 1, k) → (P, T, k): the last step is now, at distance 0."""
    return table[:, _rows(clip, steps, table.device)]


@lru_cache(maxsize=512)
def _rows(clip: int, steps: int, device: torch.device) -> Tensor:
    """(T,): where a table has the vectors of the last T steps; the same in all layers."""
    return torch.arange(1 - steps, 1, device=device).clamp(min=-clip) + clip


class _Growing:
    """Keys and values, (2, U, B, h, T · W, k), written one step behind the other."""

    def __init__(self) -> None:
        self.buffer: Tensor | None = None
        self.used = 0

    def append(self, new: Tensor) -> Tensor:
        """Add those of a step, (2, U, B, h, W, k); returns all there are."""
        start, buffer = self.used, self.reserve(new, new.size(-2))
        buffer[..., start : self.used, :] = new
        return buffer[..., : self.used, :]

    def reserve(self, like: Tensor, width: int) -> Tensor:
        """Make room for those of a step, which are as `like` but for their number; returns all."""
        start = self.used
        self.used += width
        if self.buffer is None:
            self.buffer = _room(like, FIRST_ROOM * width)
        elif self.used > self.buffer.size(-2):
            full, self.buffer = self.buffer, _room(like, 2 * start)
            self.buffer[..., :start, :] = full
        return self.buffer

    def keep(self, sentences: Tensor) -> None:
        """Go on with some of the sentences."""
        if self.buffer is not None:
            kept = self.buffer[:, :, sentences, :, : self.used]
            self.buffer = _room(kept, self.buffer.size(-2))
            self.buffer[..., : self.used, :] = kept


def _room(like: Tensor, length: int) -> Tensor:
    return like.new_empty(*like.shape[:-2], length, like.size(-1))
