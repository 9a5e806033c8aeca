"""The learning rate of each step."""

from collections.abc import Iterator

from mute.config import TrainConfig

_TOO_LOW, _TOO_HIGH = 1e-6, 0.05
"""Rates from which no model learns: in the time that anyone has, or at all."""
_LEAST_FACTOR = 0.05
"""A smaller factor for Noam's schedule was probably meant as a learning rate."""


def doubts(config: TrainConfig, d_model: int) -> Iterator[str]:
    """What is possible but seldom meant: a sentence for each."""
    highest = learning_rate(config, d_model, min(config.warmup, config.steps))
    noam = config.schedule == "noam"
    if highest < _TOO_LOW:
        advice = "; noam takes a factor, usually about 1" if noam else ""
        yield f"train.learning_rate: the rate never exceeds {highest:.1e}: too low{advice}"
    elif noam and config.learning_rate < _LEAST_FACTOR:
        yield (
            f"train.learning_rate: noam takes a factor, usually about 1; with "
            f"{config.learning_rate:g} the rate never exceeds {highest:.1e}"
        )
    elif highest > _TOO_HIGH:
        advice = "" if noam else "; inverse-sqrt takes the highest rate itself, such as 3e-3"
        yield f"train.learning_rate: the rate reaches {highest:.1e}: too high{advice}"
    elif config.warmup > config.steps:
        yield (
            f"train.warmup: {config.warmup:,} steps, but the run ends after {config.steps:,}, "
            f"while the learning rate still grows"
        )


def learning_rate(config: TrainConfig, d_model: int, step: int) -> float:
    """The rate of step 1, 2, 3, …: it grows in the warm-up, then falls with the root of the step.

    Noam (Vaswani et al. 2017) sets its height by the model's width; inverse-sqrt reaches
    `learning_rate` itself at the end of the warm-up.
    """
    rise_and_fall = min(step / config.warmup, (config.warmup / step) ** 0.5)
    if config.schedule == "noam":
        return float(config.learning_rate * (d_model * config.warmup) ** -0.5 * rise_and_fall)
    return float(config.learning_rate * rise_and_fall)
