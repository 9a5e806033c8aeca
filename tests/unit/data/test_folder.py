import errno
import fcntl
from pathlib import Path

import pytest

from mute.data.folder import exclusive, replaced


def test_a_disk_without_locks_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with exclusive(tmp_path / "made"), replaced(tmp_path / "made") as partial:
        (partial / "text").touch()
    assert (tmp_path / "made" / "text").is_file()
