"""The fast form of a model, for step-by-step translation with a beam.

The W partial translations of a sentence are to the decoder what the words of a sentence are in
training: positions of one batch row, (B, W, d). So cross-attention reads one copy of a sentence's
keys and values for all of them. The self-attention's keys and values never move either: every
step writes W new ones behind the old, and a mask, the *ancestry*, says which of them are a
translation's own past. To go on with other translations is to reorder the mask.

B sentences, W translations of each, T steps, S source positions, U units, h heads of k numbers.
"""

import copy
from functools import lru_cache
from typing import Literal

import torch
from torch import Tensor, nn

from mute.errors import MuteError
from mute.model.attention import SelfAttention
from mute.model.bank import bank_product
from mute.model.decoder import Decoder
from mute.model.encoder import Encoder
from mute.model.fusion import fuse
from mute.model.layer import MultiUnitLayer
from mute.model.relative import RelativePositions
from mute.model.transformer import Transformer
from mute.model.units import Units
from mute.translate.decoding import Decoding, PlainDecoding
from mute.translate.folded import FoldedLayer, linear, unstack
from mute.translate.int8 import Int8Linear, to_int8
from mute.translate.packed import pack

Compute = Literal["float32", "int8"]

FIRST_ROOM = 16
"""Steps there is room for at first; when they are used up, the room is doubled."""


class Engine:
    """A model made ready to translate; the model itself stays as it is."""

    def __init__(self, model: Transformer, compute: Compute = "float32") -> None:
        # A copy of the modules, not of the weights in them.
        own_weights = {id(weight): weight for weight in model.parameters()}
        self.model = copy.deepcopy(model, own_weights).eval()
        self.as_tree = all(type(layer.units) is Units for layer in _layers(self.model.decoder))
        for index, layer in enumerate(_layers(self.model.encoder)):
            if type(layer.units) is Units:
                self.model.encoder.layers[index] = FoldedLayer(layer)
        self.compute = compute
        self.plain_output = self.model.output
        unstack(self.model)
        if compute == "int8":
            to_int8(self.model)
        else:
            pack(self.model)

    def start(self, source: Tensor, width: int, vocabulary: Tensor | None = None) -> Decoding:
        """Begin to translate a batch.

        Args:
            source: (B, S) ids with their ends, padded behind
            width: how many partial translations of each sentence there are
            vocabulary: (V,), the words that logits are wanted of; all if None

        Raises:
            MuteError: the model's weights are not numbers.
        """
        memory, mask = self.model.encoder(source)
        if not memory.isfinite().all():
            raise MuteError("the model computes NaN or infinity: its weights are damaged")
        decoding = TreeDecoding if self.as_tree else PlainDecoding
        return decoding(self.model.decoder, self._output(vocabulary), memory, mask, width)

    def _output(self, vocabulary: Tensor | None) -> nn.Module:
        if vocabulary is None:
            return self.model.output
        weight, bias = self.plain_output.weight[vocabulary], self.plain_output.bias[vocabulary]
        return Int8Linear(weight, bias) if self.compute == "int8" else linear(weight, bias)


def _layers(stack: Encoder | Decoder) -> list[MultiUnitLayer]:
    return [layer for layer in stack.layers if isinstance(layer, MultiUnitLayer)]


class TreeDecoding:
    """Translations as a tree of steps, seen through their ancestry; for attention units."""

    def __init__(
        self, decoder: Decoder, output: nn.Module, memory: Tensor, mask: Tensor, width: int
    ) -> None:
        self.decoder, self.output, self.mask = decoder, output, mask
        self.layers = [_LayerState(layer, memory) for layer in _layers(decoder)]
        self.length = 0
        newborn = torch.eye(width, dtype=torch.bool, device=memory.device)
        self.newborn = newborn.expand(len(memory), 1, width, width)
        self.ancestry = self.newborn[..., :0]  # (B, 1, W, T · W)

    def step(self, words: Tensor) -> Tensor:
        """See `Decoding.step`."""
        self.ancestry = torch.cat([self.ancestry, self.newborn], dim=-1)
        x = self.decoder.embedding(words.flatten()[:, None], self.length).view(*words.shape, -1)
        for layer in self.layers:
            x = layer.step(x, self.ancestry, self.mask)
        self.length += 1
        logits: Tensor = self.output(self.decoder.norm(x))
        return logits

    def select(self, parents: Tensor) -> None:
        """See `Decoding.select`."""
        chosen = parents[:, None, :, None].expand_as(self.ancestry)
        self.ancestry = self.ancestry.gather(2, chosen)

    def keep(self, sentences: Tensor) -> None:
        """See `Decoding.keep`."""
        self.ancestry, self.mask = self.ancestry[sentences], self.mask[sentences]
        self.newborn = self.newborn[: len(sentences)]
        for layer in self.layers:
            layer.keep(sentences)


class _LayerState:
    """A decoder layer, with what it knows of the sentences that are being translated."""

    def __init__(self, layer: MultiUnitLayer, memory: Tensor) -> None:
        assert layer.units.cross is not None, "a decoder's units look at the memory"
        assert isinstance(layer.units.mixer, SelfAttention), "a tree is for attention"
        self.layer, self.units = layer, layer.units
        self.attention, self.cross = layer.units.mixer, layer.units.cross
        self.coefficients = layer.fusion()
        self.stands_alone = self.coefficients.tolist() == [1.0]
        memory_parts = self.cross.split(self.cross.memory(memory[None]), 2)
        self.memory_keys, self.memory_values = (part.contiguous() for part in memory_parts)
        self.keys, self.values = _Growing(), _Growing()

    def step(self, x: Tensor, ancestry: Tensor, memory_mask: Tensor) -> Tensor:
        """(B, W, d) → (B, W, d)."""
        s = x + self._look_back(self.layer.norm(x)[None], ancestry)
        assert self.units.cross_norm is not None, "it comes with the cross-attention"
        (queries,) = self.cross.split(self.cross.query(self.units.cross_norm(s)), 1)
        s = s + self.cross.attend(queries, self.memory_keys, self.memory_values, memory_mask)
        outputs: Tensor = s + self.units.feedforward(s)
        return outputs[0] if self.stands_alone else fuse(self.coefficients, outputs)

    def _look_back(self, seen: Tensor, ancestry: Tensor) -> Tensor:
        """Self-attention over the own past: (1, B, W, d) → (U, B, W, d)."""
        queries, new_keys, new_values = self.attention.split(self.attention.input(seen), 3)
        keys, values = self.keys.append(new_keys), self.values.append(new_values)
        relative = self.attention.relative
        steps = relative and StepDistances(relative, width=seen.size(2))
        return self.attention.attend(queries, keys, values, ancestry, steps)

    def keep(self, sentences: Tensor) -> None:
        """Go on with some of the sentences."""
        self.memory_keys = self.memory_keys[:, sentences]
        self.memory_values = self.memory_values[:, sentences]
        self.keys.keep(sentences)
        self.values.keep(sentences)


class _Growing:
    """Keys or values, (U, B, h, T · W, k), written one step behind the other."""

    def __init__(self) -> None:
        self.buffer: Tensor | None = None
        self.used = 0

    def append(self, new: Tensor) -> Tensor:
        """Add those of a step, (U, B, h, W, k); returns all there are."""
        start, end = self.used, self.used + new.size(-2)
        if self.buffer is None:
            self.buffer = _room(new, FIRST_ROOM * new.size(-2))
        elif end > self.buffer.size(-2):
            full, self.buffer = self.buffer, _room(new, 2 * start)
            self.buffer[..., :start, :] = full
        self.buffer[..., start:end, :] = new
        self.used = end
        return self.buffer[..., :end, :]

    def keep(self, sentences: Tensor) -> None:
        if self.buffer is not None:
            kept = self.buffer[:, sentences, :, : self.used]
            self.buffer = _room(kept, self.buffer.size(-2))
            self.buffer[..., : self.used, :] = kept


def _room(like: Tensor, length: int) -> Tensor:
    return like.new_empty(*like.shape[:-2], length, like.size(-1))


class StepDistances:
    """Relative positions in a tree: what was written in one step is equally far away."""

    def __init__(self, relative: RelativePositions, width: int) -> None:
        self.relative, self.width = relative, width

    def scores(self, queries: Tensor, length: int) -> Tensor:
        """See `Relative.scores`: (U, B, h, W, k) → (U, B, h, W, T · W)."""
        table = self._by_step(self.relative.keys, length // self.width)
        return bank_product(queries, table).repeat_interleave(self.width, dim=-1)

    def mixed(self, weights: Tensor) -> Tensor:
        """See `Relative.mixed`: (U, B, h, W, T · W) → (U, B, h, W, k)."""
        by_step = torch.unflatten(weights, -1, (-1, self.width)).sum(-1)
        table = self._by_step(self.relative.values, by_step.size(-1))
        return bank_product(by_step, table.mT)

    def _by_step(self, table: Tensor, steps: int) -> Tensor:
        """(P, 2 · clip + 1, k) → (P, T, k): the last step is now, at distance 0."""
        return table[:, _rows(self.relative.clip, steps, table.device)]


@lru_cache(maxsize=512)
def _rows(clip: int, steps: int, device: torch.device) -> Tensor:
    """(T,): where a table has the vectors of the last T steps; the same in all layers."""
    return torch.arange(1 - steps, 1, device=device).clamp(min=-clip) + clip
