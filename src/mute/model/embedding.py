"""Words → vectors: token embeddings with sinusoidal positions."""

from functools import lru_cache

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
    end = start + length
    known = _sinusoids(1 << (end - 1).bit_length(), like.size(-1), like.dtype, like.device)
    return known[start:end]


@lru_cache(maxsize=16)
def _sinusoids(length: int, d: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Those of the first positions: a step of decoding is over sooner than they are computed."""
    with torch.inference_mode(mode=False):  # or those of a translation could not be trained with
        position = torch.arange(length, device=device, dtype=torch.float32)
        exponent = torch.arange(0, d, 2, device=device, dtype=torch.float32) / d
        angle = position[:, None] * 10000**-exponent
        return torch.cat([angle.sin(), angle.cos()], dim=1).to(dtype)
