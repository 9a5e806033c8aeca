import pytest

from mute.config import TrainConfig
from mute.train.schedule import learning_rate


def test_noam_is_the_formula_of_the_transformer() -> None:
    config = TrainConfig(run="x", schedule="noam", learning_rate=1.0, warmup=16000)
    for step in (1, 100, 16000, 50000):
        expected = 512**-0.5 * min(step**-0.5, step * 16000**-1.5)
        assert learning_rate(config, 512, step) == pytest.approx(expected)


def test_inverse_sqrt_peaks_at_its_rate_at_the_end_of_the_warmup() -> None:
    config = TrainConfig(run="x", schedule="inverse-sqrt", learning_rate=5e-3, warmup=1000)
    assert learning_rate(config, 128, 500) == pytest.approx(2.5e-3)
    assert learning_rate(config, 128, 1000) == pytest.approx(5e-3)
    assert learning_rate(config, 128, 4000) == pytest.approx(2.5e-3)


def test_linear_falls_from_its_rate_to_nothing_after_the_last_step() -> None:
    config = TrainConfig(run="x", schedule="linear", learning_rate=5e-3, warmup=100, steps=1099)
    assert learning_rate(config, 128, 50) == pytest.approx(2.5e-3)
    assert learning_rate(config, 128, 100) == pytest.approx(5e-3)
    assert learning_rate(config, 128, 600) == pytest.approx(2.5e-3)
    assert learning_rate(config, 128, 1099) == pytest.approx(5e-6)  # the last step counts, too


def test_a_linear_schedule_needs_steps_to_fall_in() -> None:
    with pytest.raises(ValueError, match=r"warmup \(100\) leaves a linear schedule no step of 100"):
        TrainConfig(run="x", schedule="linear", warmup=100, steps=100)
