import subprocess
import sys
from pathlib import Path

import pytest

from mute.config import Config
from mute.studies import runner
from mute.studies.definitions import System
from mute.studies.grid import Run
from mute.studies.runner import OUTPUT, Outcome, Runner, in_order


def test_what_is_trained_already_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [
        Run("main", "toy", System(name, name, name), 1, Config()) for name in ("a", "b", "c", "d")
    ]
    trained = {id(run.config): Path("runs", run.name) for run in runs if run.system.name in "bd"}
    monkeypatch.setattr(runner, "find_twin", lambda config: trained.get(id(config)))
    assert [run.system.name for run in in_order(runs)] == ["b", "d", "a", "c"]


@pytest.mark.parametrize(
    ("status", "asked", "how"),
    [
        (3, True, "stopped"),
        (0, True, "stopped"),  # by torchrun
        (1, True, "stopped"),  # before it could save
        (2, True, "failed"),  # when it saved
        (3, False, "stopped"),
        (1, False, "failed"),
        (2, False, "failed"),
    ],
)
def test_how_a_run_without_a_result_ended(
    status: int, asked: bool, how: str, tmp_path: Path
) -> None:
    run = Run("none", "toy", System("a", "a", "a"), 1, Config())
    (tmp_path / OUTPUT).touch()
    process = subprocess.Popen([sys.executable, "-c", f"raise SystemExit({status})"])
    process.wait()
    told: list[str] = []
    studying, outcome = Runner(1, 1, told.append), Outcome()
    studying.asked_to_stop = asked
    with (tmp_path / OUTPUT).open("ab") as output:
        studying.children.append(runner._Child(run, process, output, tmp_path))
        studying._reap(outcome)
    assert told == [f"a-seed1: {how}"]
