"""Where there is no model, an error says where one is, or how it comes about."""

from pathlib import Path

import pytest

from mute.errors import MuteError
from mute.model.folder import load_model


def test_nothing_like_a_model(tmp_path: Path) -> None:
    with pytest.raises(MuteError, match=r"nope/config\.json: cannot be read .*`mute train` wrote"):
        load_model(tmp_path / "nope")


@pytest.mark.parametrize("sign", ["config.yaml", "checkpoints/step-00000001/state.json"])
def test_a_run_without_a_validated_model(tmp_path: Path, sign: str) -> None:
    (tmp_path / sign).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / sign).touch()
    message = rf"^{tmp_path}: has no validated model yet: .*`mute average {tmp_path}` makes one"
    with pytest.raises(MuteError, match=message):
        load_model(tmp_path)


@pytest.mark.parametrize("place", ["run/model", "average-5"])
def test_a_model_below_the_folder_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "config.yaml").touch()
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "config.json").touch()
    message = f"^{tmp_path}: is no model itself, but {tmp_path / place} is one$"
    with pytest.raises(MuteError, match=message):
        load_model(tmp_path)
