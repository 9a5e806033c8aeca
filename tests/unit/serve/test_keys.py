"""API keys and the file they are in."""

from pathlib import Path

import pytest

from mute.errors import MuteError
from mute.serve.keys import ApiKeys, read_api_keys


def test_a_file_gives_a_key_per_line(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("# who has them\n\n first \nsecond\n")
    keys = read_api_keys(file)
    assert keys.admit("first")
    assert keys.admit("second")
    assert not any(map(keys.admit, ["", None, 5, "third", "# who has them", "\ud800"]))


def test_a_file_without_keys_is_an_error_and_not_an_open_door(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("# none yet\n")
    with pytest.raises(MuteError, match="holds no API key"):
        read_api_keys(file)


def test_a_comment_behind_a_key_is_told(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("first\nsecond # Alice\n")
    with pytest.raises(MuteError, match=r"keys:2: a key has no spaces; a comment has a line"):
        read_api_keys(file)


def test_without_keys_everyone_is_let_in() -> None:
    assert ApiKeys().admit(None)
