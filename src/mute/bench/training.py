"""The speed of training, by the trainer itself."""

from contextlib import ExitStack
from dataclasses import dataclass

import torch
from torch import Tensor

from mute.bench.material import Material
from mute.bench.memory import peak_memory
from mute.bench.stopwatch import Stopwatch
from mute.bench.work import Speed, count_work, speed
from mute.config import ModelConfig, TrainConfig
from mute.data.batching import Batch
from mute.model.transformer import build
from mute.train.group import Group
from mute.train.trainer import Trainer

PARTS = ("batches", "encoder", "decoder", "output and loss", "backward", "optimizer and rest")
"""Of a step. The loss makes the output layer's gradient in one go: that is not in "backward"."""
_DIFFERENT_STEPS = 8


@dataclass(frozen=True)
class TrainingSpeed:
    """What some full steps took."""

    steps: int
    batch_tokens: int
    accumulate: int
    precision: str
    padding: float
    """The share of padding among all positions."""
    speed: Speed
    seconds_per_step: float
    seconds_by_part: dict[str, float]
    """Of a step."""
    peak_memory: int
    """Bytes; see `mute.bench.memory`."""


class TimedTrainer(Trainer):
    """A trainer that says what its time goes into, and leaves no file behind."""

    def __init__(self, config: ModelConfig, training: TrainConfig, material: Material) -> None:
        torch.manual_seed(training.seed)
        model = build(config, material.sizes).to(material.device)
        group = Group(0, 1, material.device)
        super().__init__(model, training, group, material.stream, str)
        self.watch = Stopwatch(material.device, rest="optimizer and rest")

    def _forward_backward(self, batches: list[Batch], tokens: float) -> Tensor:
        # The forward pass, a part of its own, is inside.
        with self.watch.part("backward"):
            return super()._forward_backward(batches, tokens)

    def watched_modules(self) -> ExitStack:
        """Inside, the time of a forward pass is told apart by its stages."""
        stack = ExitStack()
        modules = {
            "output and loss": self.objective,  # all of it but what is inside
            "encoder": self.model.encoder,
            "decoder": self.model.decoder,
        }
        for part, module in modules.items():
            stack.enter_context(self.watch.watching(module, part))
        return stack


def measure_training(
    trainer: TimedTrainer, material: Material, steps: int, peak: float
) -> TrainingSpeed:
    """Time full steps, from the ids on the disk to the averaged weights.

    A few different steps are taken in turn. Each is counted before, which also warms it up.

    Args:
        trainer: of the model
        material: what to train on
        steps: how many are measured
        peak: of the machine, in GFLOP/s
    """
    config = trainer.config
    plans = material.first_steps(min(steps, _DIFFERENT_STEPS), config.accumulate)
    work, tokens, padding = [], [], []
    for plan in plans:
        batches = material.batches(plan)
        work.append(count_work(trainer.step, batches))
        tokens.append(sum(batch.target_tokens for batch in batches))
        padding.append(sum(batch.padding for batch in batches) / len(batches))
    turns = [number % len(plans) for number in range(steps)]
    with trainer.watched_modules():
        trainer.watch.restart()
        for turn in turns:
            with trainer.watch.part("batches"):
                batches = material.batches(plans[turn])
            trainer.step(batches)
        seconds = trainer.watch.read()
    whole = sum(seconds.values())
    return TrainingSpeed(
        steps=steps,
        batch_tokens=config.batch_tokens,
        accumulate=config.accumulate,
        precision=config.precision,
        padding=sum(padding[turn] for turn in turns) / steps,
        speed=speed(
            sum(tokens[turn] for turn in turns), sum(work[turn] for turn in turns), whole, peak
        ),
        seconds_per_step=whole / steps,
        seconds_by_part={part: seconds[part] / steps for part in PARTS},
        peak_memory=peak_memory(material.device),
    )
