from pathlib import Path

import pytest

from mute.config import Config
from mute.errors import MuteError
from mute.train.folder import claim_run_folder


def config(**train: object) -> Config:
    return Config.model_validate({"train": {"run": "x", **train}})


def test_a_run_may_go_on_longer_but_not_differently(tmp_path: Path) -> None:
    claim_run_folder(tmp_path, config(steps=10, seed=1), "data")
    claim_run_folder(tmp_path, config(steps=99, seed=1, keep=3, patience=2), "data")
    with pytest.raises(MuteError, match=r"other settings: train.seed was 1, is 2\. Change"):
        claim_run_folder(tmp_path, config(steps=99, seed=2), "data")


def test_a_run_does_not_go_on_with_other_data(tmp_path: Path) -> None:
    claim_run_folder(tmp_path, config(), "data")
    with pytest.raises(MuteError, match="the text was prepared anew since this run began; choose"):
        claim_run_folder(tmp_path, config(), "other data")
    claim_run_folder(tmp_path, config(), "data")


def test_a_run_of_a_version_without_digests_gets_one(tmp_path: Path) -> None:
    claim_run_folder(tmp_path, config(), "data")
    (tmp_path / "data.digest").unlink()
    claim_run_folder(tmp_path, config(), "data of today")
    with pytest.raises(MuteError, match="prepared anew"):
        claim_run_folder(tmp_path, config(), "data")
