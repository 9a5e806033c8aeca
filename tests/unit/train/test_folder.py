import fcntl
from pathlib import Path

import pytest

from mute.config import Config
from mute.errors import MuteError
from mute.train.folder import alone_in, check_run_folder, claim_run_folder


def config(**train: object) -> Config:
    return Config.model_validate({"train": {"run": "x", **train}})


def test_a_run_may_go_on_longer_but_not_differently(tmp_path: Path) -> None:
    claim_run_folder(tmp_path, config(steps=10, seed=1), "data")
    check_run_folder(tmp_path, config(steps=99, seed=1, keep=3, patience=2), "data")
    with pytest.raises(MuteError, match=r"other settings: train.seed was 1, is 2\. Change"):
        check_run_folder(tmp_path, config(steps=99, seed=2), "data")


def test_a_config_of_the_users_own_in_the_run_folder_stays_as_it_is(tmp_path: Path) -> None:
    text = "# my notes\ntrain: {run: x, seed: 3}\n"
    (tmp_path / "config.yaml").write_text(text)
    claim_run_folder(tmp_path, config(seed=3), "data")
    assert (tmp_path / "config.yaml").read_text() == text


@pytest.mark.parametrize(
    ("run", "reason"), [("file", "File exists"), ("file/run", "Not a directory")]
)
def test_a_run_needs_a_folder(tmp_path: Path, run: str, reason: str) -> None:
    (tmp_path / "file").touch()
    message = rf"{run}: cannot be written to \({reason}\); choose another train\.run"
    with pytest.raises(MuteError, match=message), alone_in(tmp_path / run):
        pass


def test_a_run_does_not_go_on_with_other_data(tmp_path: Path) -> None:
    claim_run_folder(tmp_path, config(), "data")
    with pytest.raises(MuteError, match="the text was prepared anew since this run began; choose"):
        check_run_folder(tmp_path, config(), "other data")
    check_run_folder(tmp_path, config(), "data")


def test_a_run_of_a_version_without_digests_gets_one(tmp_path: Path) -> None:
    claim_run_folder(tmp_path, config(), "data")
    (tmp_path / "data.digest").unlink()
    check_run_folder(tmp_path, config(), "data of today")
    claim_run_folder(tmp_path, config(), "data of today")
    with pytest.raises(MuteError, match="prepared anew"):
        check_run_folder(tmp_path, config(), "data")


def test_a_run_may_go_on_with_other_test_sets(tmp_path: Path) -> None:
    def tested_on(name: str, source: str) -> Config:
        text = {"source": "a.en", "target": "a.de"}
        data = {"source": source, "target": "de", "prepared": "x", "train": [text], "dev": text}
        return Config.model_validate({"data": {**data, "test": {name: text}}})

    claim_run_folder(tmp_path, tested_on("2016", "en"), "data")
    check_run_folder(tmp_path, tested_on("2017", "en"), "data")
    with pytest.raises(MuteError, match=r"other settings: data.source was en, is fr\. Change"):
        check_run_folder(tmp_path, tested_on("2017", "fr"), "data")


def lock(run: Path) -> None:
    """Lock and let go, as another process would."""
    with (run / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_process_is_alone_until_it_leaves_however_often_it_asks(tmp_path: Path) -> None:
    with alone_in(tmp_path):
        with alone_in(tmp_path):
            pass
        with pytest.raises(BlockingIOError):
            lock(tmp_path)
    lock(tmp_path)


def test_a_run_that_another_process_is_at_is_refused(tmp_path: Path) -> None:
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(MuteError, match="another process is at this run"), alone_in(tmp_path):
            pass
    with alone_in(tmp_path):
        pass


@pytest.mark.usefixtures("disk_without_locks")
def test_a_disk_without_locks_is_no_obstacle(tmp_path: Path) -> None:
    with alone_in(tmp_path):
        pass
