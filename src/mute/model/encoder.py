"""The encoder: a stack of multi-unit layers over the source."""

import torch
from torch import Tensor, nn

from mute.config import ModelConfig
from mute.data.vocabulary import PAD
from mute.model.context import Context
from mute.model.embedding import Embedding
from mute.model.layer import MultiUnitLayer


class Encoder(nn.Module):
    """Source words → memory."""

    def __init__(self, config: ModelConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding = Embedding(tokens, config.sinusoidal_positions, config.dropout)
        self.layers = nn.ModuleList(
            MultiUnitLayer(config, config, decoder=False) for _ in range(config.encoder_layers)
        )
        self.norm = nn.LayerNorm(config.d_model)

    def forward(
        self, source: Tensor, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Encode a batch.

        Args:
            source: (B, S) ids, padded behind
            generator: the source of the bias's draws

        Returns:
            the memory (B, S, d), and a mask (B, 1, 1, S) that is true where it is real
        """
        real = source != PAD
        mask = real[:, None, None, :]
        context = Context(real, mask, generator)
        x = self.embedding(source)
        for layer in self.layers:
            x = layer(x, context)
        return self.norm(x), mask
