import time
from collections.abc import Iterator

import pytest
import torch
from torch import nn

from mute.bench.stopwatch import Stopwatch

CPU = torch.device("cpu")


@pytest.fixture
def _ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that is a second later whenever it is looked at."""
    ticks: Iterator[float] = iter(float(second) for second in range(100))
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))


@pytest.mark.usefixtures("_ticking")
def test_a_part_inside_of_another_stops_the_outer_ones_time() -> None:
    watch = Stopwatch(CPU, rest="rest")
    with watch.part("outer"), watch.part("inner"):
        pass
    assert watch.read() == {"rest": 2, "outer": 2, "inner": 1}


@pytest.mark.usefixtures("_ticking")
def test_a_restart_forgets() -> None:
    watch = Stopwatch(CPU, rest="rest")
    with watch.part("one"):
        pass
    watch.restart()
    assert watch.read() == {"rest": 1}


@pytest.mark.usefixtures("_ticking")
def test_a_module_is_watched_while_asked_for_and_not_after() -> None:
    watch, module = Stopwatch(CPU, rest="rest"), nn.Linear(1, 1)
    with watch.watching(module, "linear"):
        module(torch.ones(1))
        module(torch.ones(1))
    module(torch.ones(1))
    assert watch.read() == {"rest": 3, "linear": 2}


@pytest.mark.usefixtures("_ticking")
def test_a_part_ends_with_an_error() -> None:
    watch = Stopwatch(CPU, rest="rest")
    with pytest.raises(ValueError, match="broken"), watch.part("one"):
        raise ValueError("broken")
    assert watch.read() == {"rest": 2, "one": 1}
