import errno
import io
import sys

import pytest

from mute.translate.progress import LineProgress


@pytest.fixture(autouse=True)
def on_a_wide_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def test_the_live_line_shows_lines_and_speed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the lines done now: those done before took no time."""
    seconds = 10.0
    with LineProgress(visible=True) as progress:
        monkeypatch.setattr(progress._bar, "get_time", lambda: seconds)
        progress.watch(5000, 11_000)
        seconds = 14.0
        progress.watch(7000, 11_000)
        progress.tell("mute: text:1: [bold] is no markup")
        progress.tell("mute: text:100: is no picture")
    shown = capsys.readouterr().err
    assert "7000/11000" in shown
    assert "500.0 lines/s 0:00:08" in shown
    assert "mute: text:1: [bold] is no markup\n" in shown
    assert "mute: text:100: is no picture\n" in shown


def test_a_text_of_unknown_length_has_no_end(capsys: pytest.CaptureFixture[str]) -> None:
    with LineProgress(visible=True) as progress:
        progress.watch(0, None)
        progress.watch(2000, None)
    assert "2000/?" in capsys.readouterr().err


def test_without_a_live_line_only_what_is_told_is_seen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with LineProgress(visible=False) as progress:
        progress.watch(0, 10)
        progress.watch(10, 10)
        progress.tell("mute: text:1: long")
    assert capsys.readouterr().err == "mute: text:1: long\n"


def test_no_job_ends_because_nobody_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full())
    with LineProgress(visible=False) as progress:
        progress.tell("mute: text:1: long")
        progress.tell("mute: text:2: long")
    assert sys.stderr is None
