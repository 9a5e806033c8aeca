from pathlib import Path

import pytest
import torch
from torch import nn

from mute.errors import MuteError
from mute.train.average import WeightAverage, average_checkpoints
from mute.train.checkpoint import TrainState, save_checkpoint


def test_the_average_follows_the_weights() -> None:
    model = nn.Linear(2, 1, bias=False)
    nn.init.zeros_(model.weight)
    average = WeightAverage(model, decay=0.9)
    expected = 0.0
    for step in range(1, 60):
        nn.init.constant_(model.weight, float(step))
        average.update(step)
        decay = min(0.9, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * step
    torch.testing.assert_close(average.weights["weight"], torch.full((1, 2), expected))


def test_applied_exchanges_the_weights_and_gives_them_back() -> None:
    model = nn.Linear(2, 1)
    average = WeightAverage(model, decay=0.9)
    before = model.weight.detach().clone()
    with torch.no_grad():
        model.weight += 1
    with average.applied():
        assert torch.equal(model.weight, before)
    assert torch.equal(model.weight, before + 1)
    assert torch.equal(average.weights["weight"], before)


def test_the_last_checkpoints_are_averaged(tmp_path: Path) -> None:
    for step in (1, 2, 3, 6):
        tensors = {"weights": {"a": torch.full((2,), float(step))}}
        save_checkpoint(tmp_path / "checkpoints", TrainState(step=step), tensors)
    torch.testing.assert_close(average_checkpoints(tmp_path, 2)["a"], torch.full((2,), 4.5))
    with pytest.raises(MuteError, match="has 4 of the 5 checkpoints asked for; train"):
        average_checkpoints(tmp_path, 5)
