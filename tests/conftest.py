"""What all tests share: one thread per worker and a fixed seed."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _reproducible() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
