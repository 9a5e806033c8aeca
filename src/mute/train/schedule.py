"""The learning rate of each step."""

from mute.config import TrainConfig


def learning_rate(config: TrainConfig, d_model: int, step: int) -> float:
    """The rate of step 1, 2, 3, …: it grows in the warm-up, then falls.

    Noam (Vaswani et al. 2017) falls with the root of the step, from a height that the model's width
    sets. The others reach `learning_rate` itself at the end of the warm-up: inverse-sqrt falls in
    the same way, linear in a straight line that would be zero one step after the last.
    """
    rise = step / config.warmup
    if config.schedule == "linear":
        left = (config.steps + 1 - step) / (config.steps + 1 - config.warmup)
        return float(config.learning_rate * min(rise, left))
    rise_and_fall = min(rise, rise**-0.5)
    if config.schedule == "noam":
        return float(config.learning_rate * (d_model * config.warmup) ** -0.5 * rise_and_fall)
    return float(config.learning_rate * rise_and_fall)
