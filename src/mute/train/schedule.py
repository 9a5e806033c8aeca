"""The learning rate of each step."""

from mute.config import TrainConfig


def learning_rate(config: TrainConfig, d_model: int, step: int) -> float:
    """The rate of step 1, 2, 3, …: it grows in the warm-up, then falls with the root of the step.

    Noam (Vaswani et al. 2017) sets its height by the model's width; inverse-sqrt reaches
    `learning_rate` itself at the end of the warm-up.
    """
    rise_and_fall = min(step / config.warmup, (config.warmup / step) ** 0.5)
    if config.schedule == "noam":
        return float(config.learning_rate * (d_model * config.warmup) ** -0.5 * rise_and_fall)
    return float(config.learning_rate * rise_and_fall)
