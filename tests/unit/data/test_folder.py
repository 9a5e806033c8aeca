from pathlib import Path

import pytest

from mute.data.folder import exclusive, replaced


@pytest.mark.usefixtures("disk_without_locks")
def test_a_disk_without_locks_is_no_obstacle(tmp_path: Path) -> None:
    with exclusive(tmp_path / "made"), replaced(tmp_path / "made") as partial:
        (partial / "text").touch()
    assert (tmp_path / "made" / "text").is_file()
