from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from mute.config import Experiment
from mute.errors import MuteError
from mute.studies import plan
from mute.studies.definitions import System
from mute.studies.grid import Run
from tests.unit.studies.made_up import experiment

WHOLE = 8.0
"""Hours that every system takes."""


def planned_run(system: str, seed: int) -> Run:
    config = experiment(f"{system}-{seed}", seed=seed, steps=12)
    return Run("pair", Path("toy"), System(system, system, "toy"), seed, config)


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs whose steps were timed, where the first seeds are finished and one has a twin."""
    monkeypatch.chdir(tmp_path)
    timed: list[str] = []

    def time(run: Run) -> float:
        timed.append(run.name)
        return WHOLE

    def twin(config: Experiment, _: int) -> Path | None:
        return Path("twin") if config.train.run == "mute-2" else None

    monkeypatch.setattr(plan, "vocabulary_sizes", lambda _: ((500, 500), True))
    monkeypatch.setattr(Run, "finished", lambda run: run.seed == 1)
    monkeypatch.setattr(plan, "find_twin", twin)
    monkeypatch.setattr(plan, "_hours", time)
    return timed


def test_only_systems_with_something_left_to_do_are_measured(measured: list[str]) -> None:
    runs = [planned_run(*each) for each in (("seq", 1), ("mute", 1), ("mute", 2), ("bias", 1))]
    assert [each.hours for each in plan.plan(runs, measure=True)] == [0.0] * 4
    assert measured == []


def test_a_system_is_measured_once_for_all_that_is_left_of_its_runs(measured: list[str]) -> None:
    Path("seq-3", "checkpoints", "step-00000009").mkdir(parents=True)
    runs = [planned_run("seq", seed) for seed in (1, 2, 3)]
    assert [each.hours for each in plan.plan(runs, measure=True)] == [0.0, WHOLE, WHOLE / 4]
    assert measured == ["seq-seed2"]


def test_what_is_not_measured_is_known_only_where_nothing_is_left(measured: list[str]) -> None:
    runs = [planned_run("seq", seed) for seed in (1, 2)]
    assert [each.hours for each in plan.plan(runs, measure=False)] == [0.0, None]
    assert measured == []


def test_a_system_that_is_too_large_to_be_measured_leaves_the_others_their_plan(
    measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def time(run: Run) -> float:
        if run.system.name == "big":
            raise MuteError("it takes 4.0 GB")
        return WHOLE

    monkeypatch.setattr(plan, "_hours", time)
    planned = plan.plan(
        [planned_run(*each) for each in (("big", 2), ("big", 3), ("seq", 2))], measure=True
    )
    assert [each.hours for each in planned] == [None, None, WHOLE]
    notes = str(plan.render(planned).caption)
    assert notes.count("big: it takes 4.0 GB") == 1


@pytest.mark.parametrize(("device", "hours"), [("cpu", 4.0), ("cuda", 1.0)])
def test_processes_share_a_cpu_and_have_a_gpu_each(
    device: str, hours: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plan, "vocabulary_sizes", lambda _: ((500, 500), True))
    monkeypatch.setattr(plan, "choose_device", lambda: torch.device(device))
    of_one = SimpleNamespace(seconds_of_run=3600.0)
    monkeypatch.setattr("mute.bench.estimate.estimate_run", lambda *_: of_one)
    (planned,) = plan.plan([replace(planned_run("seq", 2), processes=4)], measure=True)
    assert planned.hours == hours
