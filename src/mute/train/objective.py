"""What training minimises, for one batch."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from mute.data.batching import Batch
from mute.data.vocabulary import PAD
from mute.model.transformer import Transformer
from mute.train.loss import output_loss


class BatchLoss(NamedTuple):
    """Sums over the real target positions of a batch, and the model's penalty."""

    smoothed: Tensor
    likelihood: Tensor
    penalty: Tensor


class Objective(nn.Module):
    """The model and its loss in one call, so that DistributedDataParallel can wrap both."""

    def __init__(self, model: Transformer, label_smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.label_smoothing = label_smoothing

    def forward(self, batch: Batch, generator: torch.Generator | None = None) -> BatchLoss:
        """Three scalars."""
        memory, mask = self.model.encoder(batch.source, generator)
        states = self.model.decoder(batch.target_input, memory, mask, generator=generator)
        real = batch.target_output != PAD
        losses = output_loss(
            states[real],  # padding never reaches the vocabulary
            self.model.output.weight,
            self.model.output.bias,
            batch.target_output[real],
            self.label_smoothing,
        )
        return BatchLoss(*losses, self.model.penalty())
