import re

import pytest

from mute.config import TrainConfig
from mute.train.schedule import doubts, learning_rate


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


@pytest.mark.parametrize(
    ("settings", "doubt"),
    [
        ({}, None),
        ({"schedule": "inverse-sqrt", "learning_rate": 3e-3, "warmup": 1000}, None),
        ({"learning_rate": 5e-4}, r"learning_rate: the rate never exceeds 1\.7e-07: too low; noam"),
        (
            {"learning_rate": 4e-3},
            r"noam takes a factor, .*; with 0\.004 the rate never exc.* 1\.4e-06",
        ),
        ({"schedule": "inverse-sqrt", "learning_rate": 1.0}, r"reaches 1\.0e\+00: too high; inv"),
        ({"schedule": "inverse-sqrt", "learning_rate": 1e-7}, r"never exceeds 1\.0e-07: too low$"),
        ({"steps": 5000}, r"warmup: 16,000 steps, but the run ends after 5,000, while"),
    ],
)
def test_rates_that_train_nothing_are_doubted(
    settings: dict[str, object], doubt: str | None
) -> None:
    told = list(doubts(TrainConfig.model_validate({"run": "x", **settings}), 512))
    if doubt is None:
        assert not told
    else:
        (sentence,) = told
        assert re.search(doubt, sentence)
