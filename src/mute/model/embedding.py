"""Words → vectors: token embeddings with sinusoidal positions."""

import torch
from torch import Tensor, nn

from mute.model.dropout import Dropout


class Embedding(nn.Module):
    """Token vectors scaled by √d, plus the positions' sinusoids, if wanted."""

    def __init__(self, tokens: nn.Embedding, sinusoidal: bool, dropout: float) -> None:
        super().__init__()
        self.tokens = tokens
        self.sinusoidal = sinusoidal
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """(B, L) → (B, L, d); `start` is the position of the first column."""
        vectors = self.tokens(ids) * self.tokens.embedding_dim**0.5
        if self.sinusoidal:
            vectors = vectors + sinusoids(start, ids.size(1), vectors)
        embedded: Tensor = self.dropout(vectors)
        return embedded


def token_table(size: int, d: int) -> nn.Embedding:
    """An embedding with vectors of length about 1, since `Embedding` scales them by √d."""
    table = nn.Embedding(size, d)
    nn.init.normal_(table.weight, std=d**-0.5)
    return table


def sinusoids(start: int, length: int, like: Tensor) -> Tensor:
    """(length, d): sines in the first half, cosines in the second, of every position.

    Computed when needed, so there is no longest sentence.
    """
    d = like.size(-1)
    position = torch.arange(start, start + length, device=like.device, dtype=torch.float32)
    exponent = torch.arange(0, d, 2, device=like.device, dtype=torch.float32) / d
    angle = position[:, None] * 10000**-exponent
    return torch.cat([angle.sin(), angle.cos()], dim=1).to(like.dtype)
