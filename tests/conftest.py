"""What all tests share: one thread per worker, a fixed seed, the same examples every time."""

import signal

import pytest
import torch
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
# Here and not in a fixture: those of a whole module run before any of a single test, and another
# number of threads adds up floats in another order.
torch.set_num_threads(1)
# A shell starts what runs in the background deaf to Ctrl-C, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _reproducible() -> None:
    torch.manual_seed(1)
