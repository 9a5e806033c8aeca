from pathlib import Path

import pytest

from mute.config import Config
from mute.studies import runner
from mute.studies.definitions import System
from mute.studies.grid import Run
from mute.studies.runner import in_order


def test_what_is_trained_already_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [
        Run("main", "toy", System(name, name, name), 1, Config()) for name in ("a", "b", "c", "d")
    ]
    trained = {id(run.config): Path("runs", run.name) for run in runs if run.system.name in "bd"}
    monkeypatch.setattr(runner, "find_twin", lambda config: trained.get(id(config)))
    assert [run.system.name for run in in_order(runs)] == ["b", "d", "a", "c"]
