"""Averages of a model's weights: exponential while it trains, or over its last checkpoints."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

from mute.errors import MuteError
from mute.train.checkpoint import Tensors, checkpoints, weights_of


class WeightAverage:
    """A second set of weights that follows the first: smoother than it.

    The first steps count less, so that the start of training does not linger: after t steps the
    average spans about the last t / 10 of them, until `decay` allows no more.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.followed = dict(model.named_parameters())  # looked for once, not at every step
        self.weights = {name: value.detach().clone() for name, value in self.followed.items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after `step` steps."""
        decay = min(self.decay, (1 + step) / (10 + step))
        new = [value.detach() for value in self.followed.values()]
        torch._foreach_lerp_(list(self.weights.values()), new, 1 - decay)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Inside, the model has the averaged weights."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    def _exchange(self) -> None:
        for name, value in self.followed.items():
            value.data, self.weights[name] = self.weights[name], value.data

    def load(self, weights: dict[str, Tensor]) -> None:
        """Go on from weights that were saved."""
        for name, value in self.weights.items():
            value.copy_(weights[name])


def average_checkpoints(run: Path, last: int) -> Tensors:
    """The mean of the weights of a run's last checkpoints; that of a stop counts if it is the last.

    Raises:
        MuteError: there are not so many, or one of them is not whole.
    """
    paths = checkpoints(run / "checkpoints")[-last:]
    if len(paths) < last:
        raise MuteError(
            f"{run}: has {len(paths)} of the {last} checkpoints asked for; train.save_every says "
            f"how often one is written, and train.keep how many stay"
        )
    total: Tensors = {}
    for path in paths:
        for name, value in weights_of(path).items():
            total[name] = total[name] + value if name in total else value
    return {name: value / last for name, value in total.items()}
