import subprocess
import sys
from pathlib import Path

import pytest
import torch

from mute.studies import runner
from mute.studies.definitions import System
from mute.studies.grid import Run
from mute.studies.runner import (
    OUTPUT,
    Outcome,
    Runner,
    in_order,
    share_of_gpus,
    visible_gpus,
)
from tests.unit.studies.made_up import experiment


def test_what_is_trained_already_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [
        Run("main", Path("toy"), System(name, name, name), 1, experiment())
        for name in ("a", "b", "c", "d")
    ]
    trained = {id(run.config): Path("runs", run.name) for run in runs if run.system.name in "bd"}
    monkeypatch.setattr(runner, "find_twin", lambda config, _: trained.get(id(config)))
    assert [run.system.name for run in in_order(runs)] == ["b", "d", "a", "c"]


@pytest.mark.parametrize("finished", [True, False])
def test_a_finished_run_is_scored_anew_where_it_is(
    finished: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not one of the same settings elsewhere, which is another model."""
    monkeypatch.setattr(runner, "find_twin", lambda *_: Path("runs/twin"))
    monkeypatch.setattr(runner, "is_trained", lambda *_: finished)
    run = Run("main", Path("toy"), System("a", "a", "a"), 1, experiment("runs/own"))
    taken = runner._in_twins_folder(run).train.run
    assert taken == ("runs/own" if finished else "runs/twin")


@pytest.mark.parametrize(
    ("status", "asked", "said", "how"),
    [
        (3, True, "", "stopped"),
        (0, True, "", "stopped"),  # by torchrun
        (1, True, "", "stopped"),  # before it could save
        (2, True, "mute: no space left", "failed"),
        (1, True, "mute: no space left", "failed"),  # by torchrun
        (3, False, "", "stopped"),
        (1, False, "", "failed"),
        (2, False, "mute: no space left", "failed"),
    ],
)
def test_how_a_run_without_a_result_ended(
    status: int, asked: bool, said: str, how: str, tmp_path: Path
) -> None:
    run = Run("none", Path("toy"), System("a", "a", "a"), 1, experiment())
    (tmp_path / OUTPUT).write_text(said)
    process = subprocess.Popen([sys.executable, "-c", f"raise SystemExit({status})"])
    process.wait()
    told: list[str] = []
    studying, outcome = Runner(1, told.append), Outcome()
    studying.asked_to_stop = asked
    with (tmp_path / OUTPUT).open("ab") as output:
        studying.children.append(runner._Child(run, process, output, tmp_path, 0))
        studying._reap(outcome)
    assert told == [f"a-seed1: {how}"]


@pytest.mark.parametrize(
    ("processes", "slot", "gpus", "own"),
    [
        (4, 0, 8, "0,1,2,3"),
        (4, 1, 8, "4,5,6,7"),
        (1, 2, 2, "0"),  # three runs share two
        (2, 1, 3, "2,0"),
        (1, 1, 0, None),
        (4, 0, 2, None),  # torchrun's processes say that they are too many
    ],
)
def test_runs_side_by_side_have_gpus_of_their_own(
    processes: int, slot: int, gpus: int, own: str | None
) -> None:
    share = share_of_gpus(processes, slot, [str(number) for number in range(gpus)])
    assert share.get("CUDA_VISIBLE_DEVICES") == own


def test_gpus_are_those_that_the_environment_leaves_visible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert visible_gpus() == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, GPU-5")
    assert visible_gpus() == ["3", "GPU-5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert visible_gpus() == []
