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

    def __init__(
        self, model: Transformer, label_smoothing: float = 0.0, r_drop: float = 0.0
    ) -> None:
        super().__init__()
        self.model = model
        self.label_smoothing = label_smoothing
        self.r_drop = r_drop

    def forward(self, batch: Batch, generator: torch.Generator | None = None) -> BatchLoss:
        """Three scalars."""
        passes = 2 if self.r_drop else 1
        batch = batch.repeated(passes)
        memory, mask = self.model.encoder(batch.source, generator)
        states = self.model.decoder(batch.target_input, memory, mask, generator=generator)
        labels = batch.target_output.flatten()
        # Padding never reaches the vocabulary. As places: a mask's gradient takes long.
        real = (labels != PAD).nonzero().squeeze(1)
        losses = output_loss(
            states.flatten(0, 1).index_select(0, real).view(passes, -1, states.size(2)),
            self.model.output.weight,
            self.model.output.bias,
            labels.index_select(0, real[: len(real) // passes]),
            self.label_smoothing,
            self.r_drop,
        )
        return BatchLoss(*losses, self.model.penalty())
