"""The decoder: a stack of layers over the target, at once or step by step."""

import torch
from torch import Tensor, nn

from mute.config import ModelConfig
from mute.data.vocabulary import PAD
from mute.model.context import Context, LayerCache
from mute.model.embedding import Embedding
from mute.model.layer import MultiUnitLayer


class Cache:
    """What a decoder keeps between steps: how far it is, and each layer's share."""

    def __init__(self, layers: int) -> None:
        self.length = 0
        self.layers: list[LayerCache] = [{} for _ in range(layers)]

    def select(self, rows: Tensor) -> None:
        """Go on with these rows of the batch, in this order; a row may be taken repeatedly."""
        for layer in self.layers:
            for name, kept in layer.items():
                layer[name] = kept.index_select(1, rows)


class Decoder(nn.Module):
    """Target words and memory → states that the output layer turns into the next words."""

    def __init__(self, config: ModelConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding = Embedding(tokens, config.sinusoidal_positions, config.dropout)
        self.layers = nn.ModuleList(
            MultiUnitLayer(config, config.decoder, decoder=True)
            for _ in range(config.decoder_layers)
        )
        self.norm = nn.LayerNorm(config.d_model)

    def forward(
        self,
        target: Tensor,
        memory: Tensor,
        memory_mask: Tensor,
        cache: Cache | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Decode a batch.

        Args:
            target: (B, T) ids; with a cache, those that follow the ones it has seen
            memory: (B, S, d)
            memory_mask: (B, 1, 1, S)
            cache: for step-by-step decoding, from `start`
            generator: the source of the bias's draws

        Returns:
            (B, T, d)
        """
        start = cache.length if cache else 0
        length = target.size(1)
        earlier = torch.ones(length, start + length, dtype=torch.bool, device=target.device)
        mask = earlier.tril(start)[None, None]
        context = Context(target != PAD, mask, generator, memory, memory_mask)
        x = self.embedding(target, start)
        for index, layer in enumerate(self.layers):
            x = layer(x, context, cache.layers[index] if cache else None)
        if cache:
            cache.length += length
        states: Tensor = self.norm(x)
        return states

    def start(self) -> Cache:
        """An empty cache, for the first step."""
        return Cache(len(self.layers))
