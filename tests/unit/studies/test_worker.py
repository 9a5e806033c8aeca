import errno
import json
import os
from pathlib import Path

import pytest

from mute.config import TrainConfig
from mute.configfile import load_experiment
from mute.errors import MuteError
from mute.studies import worker

ROOT = Path(__file__).parents[3]


def test_a_run_that_went_further_is_refused(tmp_path: Path) -> None:
    (tmp_path / "checkpoints" / "step-00000030").mkdir(parents=True)
    with pytest.raises(MuteError, match="has 30 steps behind it, more than the 12 asked"):
        worker._check_not_beyond(tmp_path, TrainConfig(run=str(tmp_path), steps=12))


def test_a_full_disk_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def write_the_log(_: worker.Request) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "log.jsonl")

    monkeypatch.setattr(worker, "perform", write_the_log)
    config = load_experiment(ROOT / "configs/multi30k/seq.yaml", [f"train.run={tmp_path / 'run'}"])
    request = {
        "config": config.model_dump(mode="json"),
        "result_file": "seq-seed1.json",
        "identity": {},
        "asked_by": os.getpid(),
    }
    (tmp_path / "request.json").write_text(json.dumps(request))
    with pytest.raises(SystemExit) as ended:
        worker.main(str(tmp_path / "request.json"))
    assert ended.value.code == 2
    assert "mute: log.jsonl: the disk takes no more" in capsys.readouterr().err


def test_the_time_of_a_killed_process_counts_up_to_its_last_word(tmp_path: Path) -> None:
    (tmp_path / "time.json").write_text('{"seconds": 100.0, "since": 5000.0, "threads": 1}')
    assert worker._seconds(tmp_path) == 100.0
    (tmp_path / "log.jsonl").touch()
    os.utime(tmp_path / "log.jsonl", (5060, 5060))
    assert worker._seconds(tmp_path) == 160.0
