import numpy as np
import torch

from mute.data.batching import Batch
from mute.model.transformer import build
from mute.train.objective import Objective
from tests.unit.model.oracle import double, small

BATCH = Batch(
    source=torch.tensor([[4, 5, 6, 3], [7, 3, 0, 0]]),
    target_input=torch.tensor([[2, 8, 9], [2, 10, 0]]),
    target_output=torch.tensor([[8, 9, 3], [10, 3, 0]]),
    indices=np.array([0, 1], np.int32),
)


def test_two_passes_without_noise_are_one() -> None:
    model = double(small()).train()
    one, two = Objective(model, 0.1)(BATCH), Objective(model, 0.1, r_drop=5.0)(BATCH)
    torch.testing.assert_close(tuple(one), tuple(two))


def test_r_drop_draws_two_passes_through_other_noise_together() -> None:
    torch.manual_seed(1)
    model = build(small(dropout=0.3, units=2, bias=["swap", "mask"]), 13).train()
    objective = Objective(model, r_drop=5.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def apart() -> float:
        """What the passes disagree in, averaged over a few draws."""
        with torch.no_grad():
            losses = [objective(BATCH, torch.Generator().manual_seed(seed)) for seed in range(20)]
        return sum(float(loss.smoothed - loss.likelihood) for loss in losses) / len(losses)

    before = apart()
    for seed in range(60):
        optimizer.zero_grad()
        objective(BATCH, torch.Generator().manual_seed(seed)).smoothed.backward()
        optimizer.step()
    assert 0 < apart() < before / 2
