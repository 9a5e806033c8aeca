from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from mute.bench.estimate import Estimate
from mute.bench.report import render

ESTIMATE = Estimate(
    parameters=1_234_567,
    steps=4500,
    batches_per_epoch=225,
    steps_per_epoch=112.5,
    seconds_per_step=0.25,
    seconds_per_epoch=28.125,
    seconds_of_run=3700.0,
    peak_memory=1_500_000_000,
    memory_room=20_000_000_000,
    checkpoint=41_000_000,
    disk=205_000_000,
    warnings=[],
)


def written(found: Estimate) -> str:
    page = StringIO()
    Console(file=page, width=100, soft_wrap=True).print(render(found))
    return page.getvalue()


def rows(found: Estimate) -> dict[str, str]:
    """The last cell of each row by the first."""
    cells = (line.strip().rsplit("  ", 1) for line in written(found).splitlines())
    return {row[0].strip(): row[1].strip() for row in cells if len(row) == 2}


def test_an_estimate_is_written_in_units_for_people() -> None:
    assert rows(ESTIMATE) == {
        "parameters": "1,234,567",
        "steps per epoch": "112.5",
        "time per step": "250 ms",
        "time per epoch": "28.1 s",
        "time of the run: 4,500 steps, 40.0 epochs": "1 h 2 min",
        "peak memory": "1.5 GB",
        "memory there is": "20.0 GB",
        "a checkpoint": "41.0 MB",
        "all checkpoints and the model": "205.0 MB",
    }


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(59.94, "59.9 s"), (60.0, "1 min"), (86_400.0, "1 d"), (100_000.0, "1 d 3 h 47 min")],
)
def test_long_times_are_written_in_days_hours_and_minutes(seconds: float, text: str) -> None:
    assert rows(replace(ESTIMATE, seconds_per_epoch=seconds))["time per epoch"] == text


def test_what_could_not_be_measured_and_why_is_said() -> None:
    page = written(replace(ESTIMATE, seconds_per_step=None, warnings=["not enough memory"]))
    assert "not measured" in page
    assert "Warning: not enough memory.\n" in page
