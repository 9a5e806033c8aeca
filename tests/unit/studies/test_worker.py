import os
from pathlib import Path

import pytest

from mute.config import TrainConfig
from mute.errors import MuteError
from mute.studies import worker


def test_a_run_that_went_further_is_refused(tmp_path: Path) -> None:
    (tmp_path / "checkpoints" / "step-00000030").mkdir(parents=True)
    with pytest.raises(MuteError, match="has 30 steps behind it, more than the 12 asked"):
        worker._check_not_beyond(tmp_path, TrainConfig(run=str(tmp_path), steps=12))


def test_the_time_of_a_killed_process_counts_up_to_its_last_word(tmp_path: Path) -> None:
    (tmp_path / "time.json").write_text('{"seconds": 100.0, "since": 5000.0, "threads": 1}')
    assert worker._seconds(tmp_path) == 100.0
    (tmp_path / "log.jsonl").touch()
    os.utime(tmp_path / "log.jsonl", (5060, 5060))
    assert worker._seconds(tmp_path) == 160.0
