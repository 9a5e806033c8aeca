"""What all tests share: one thread per worker, a fixed seed, the same examples every time."""

import os
import signal
from collections.abc import Callable

import pytest
import torch
from hypothesis import settings

from mute.model import kernels

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
# Here and not in a fixture: those of a whole module run before any of a single test, and another
# number of threads adds up floats in another order.
torch.set_num_threads(1)
# What is tested is the CPU, also where there is a GPU; torch looks when it is first asked for one.
os.environ["CUDA_VISIBLE_DEVICES"] = ""
# A shell starts what runs in the background deaf to Ctrl-C, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _reproducible() -> None:
    torch.manual_seed(1)


@pytest.fixture
def use_lanes(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Have all computed by the kernels for registers of so many floats; 0 for none of them."""

    def use(lanes: int) -> None:
        library = kernels.load_library(lanes) if lanes else None
        if lanes and library is None:
            pytest.skip(f"no kernels for {lanes} floats were compiled when mute was installed")
        monkeypatch.setattr(kernels, "LIBRARY", library)
        monkeypatch.setattr(kernels, "LANES", lanes or 1)

    return use
