import sys
import time
from pathlib import Path
from threading import Event, Thread

import pytest

from mute.data.folder import exclusive, replaced


@pytest.mark.usefixtures("disk_without_locks")
def test_a_disk_without_locks_is_no_obstacle(tmp_path: Path) -> None:
    with exclusive(tmp_path / "made"), replaced(tmp_path / "made") as partial:
        (partial / "text").touch()
    assert (tmp_path / "made" / "text").is_file()


def test_who_has_no_standard_error_can_wait_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    begun, order = Event(), []

    def work() -> None:
        with exclusive(tmp_path / "made"):
            begun.set()
            time.sleep(0.2)
            order.append("first")

    first = Thread(target=work)
    first.start()
    begun.wait()
    with exclusive(tmp_path / "made"):
        order.append("second")
    first.join()
    assert order == ["first", "second"]
