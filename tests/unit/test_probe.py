import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from mute import probe


@pytest.fixture(autouse=True)
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of its own, and nothing remembered in this process."""
    folder = tmp_path / "caches"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    probe.survives.cache_clear()
    yield folder
    probe.survives.cache_clear()


def asked_by_processes(status: int, count: int) -> tuple[list[bool], int]:
    """What so many processes hear, one after the other, and how many children they sent."""
    done: subprocess.CompletedProcess[bytes] = subprocess.CompletedProcess([], status)
    heard = []
    with mock.patch("mute.probe.subprocess.run", return_value=done) as child:
        for _ in range(count):
            heard.append(probe.bfloat16_is_safe())
            probe.survives.cache_clear()
    return heard, child.call_count


def test_a_child_goes_first_and_may_die() -> None:
    assert probe.survives("pass")
    assert not probe.survives("import os, signal; os.kill(os.getpid(), signal.SIGILL)")


def test_a_child_multiplies_with_what_we_multiply_with() -> None:
    assert probe.survives("import sys; assert 'mute.mkl' in sys.modules, 'torch came first'")


def test_what_was_survived_is_remembered_by_other_processes() -> None:
    assert asked_by_processes(0, 3) == ([True] * 3, 1)


def test_death_is_remembered_by_its_own_process_alone() -> None:
    assert asked_by_processes(-4, 2) == ([False] * 2, 2)
    done: subprocess.CompletedProcess[bytes] = subprocess.CompletedProcess([], -4)
    with mock.patch("mute.probe.subprocess.run", return_value=done) as child:
        assert not probe.bfloat16_is_safe()
        assert not probe.bfloat16_is_safe()
    assert child.call_count == 1


def test_other_circumstances_are_tried_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked_by_processes(0, 1) == ([True], 1)
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")
    assert asked_by_processes(-4, 1) == ([False], 1)
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA")
    monkeypatch.setattr("mute.probe.torch.cpu.get_capabilities", lambda: {"amx_bf16": True})
    assert asked_by_processes(-4, 1) == ([False], 1)


def test_a_cache_that_cannot_be_written_costs_only_time(caches: Path) -> None:
    caches.write_text("a file, where the folder should be")
    assert asked_by_processes(0, 2) == ([True] * 2, 2)


def test_a_user_without_a_home_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    with mock.patch("mute.probe.Path.home", side_effect=RuntimeError("no home")):
        assert asked_by_processes(0, 2) == ([True] * 2, 2)
