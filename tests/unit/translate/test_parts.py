"""A job that is killed, shared and taken up again; any work in the place of translating."""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mute.errors import MuteError
from mute.runtime import Share
from mute.translate import parts
from mute.translate.parts import MANIFEST, work_in_parts
from mute.translate.stream import Content, Job, Row, survey

LINES = 11
SIZE = 2
BLOCKS = 6
EXPECTED = "".join(f"LINE {number}\n" for number in range(1, LINES + 1))
ALONE = Share()
IDENTITY = {"beam": 4, "units": {1: (0, 2)}}


class _Killed(BaseException):
    """Stands for kill -9: nothing of the process runs after it."""


@pytest.fixture(autouse=True)
def in_a_folder_with_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parts, "POLL_SECONDS", 0.01)
    Path("in").write_text("".join(f"line {number}\n" for number in range(1, LINES + 1)))


class Louder:
    """Work that remembers which blocks it did, by their first lines, and may die of one."""

    def __init__(self, deadly: int | None = None) -> None:
        self.deadly = deadly
        self.did: list[int] = []

    def __call__(self, first: int, rows: list[Row]) -> list[str]:
        if first == self.deadly:
            raise _Killed
        self.did.append(first)
        return [" ".join(row).upper() for row in rows]


def unwatched(done: int, total: int | None) -> None:
    """Nobody looks."""


def go(
    work: Callable[[int, list[Row]], list[str]],
    share: Share = ALONE,
    output: str = "out",
    columns: tuple[str, ...] = ("in",),
    **identity: Any,
) -> None:
    job = Job([Path(each) for each in columns], work, SIZE, unwatched)
    work_in_parts(job, Path(output), {**IDENTITY, **identity}, share)


def files() -> set[str]:
    return {path.name for path in Path().iterdir()}


def together(*runs: Callable[[], None]) -> None:
    """At the same time; what one of them raises is raised."""
    raised: list[BaseException] = []

    def guarded(run: Callable[[], None]) -> None:
        try:
            run()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(run,), daemon=True) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive(), "waits forever"
    if raised:
        raise raised[0]


def test_the_output_is_all_that_is_left() -> None:
    Path("out").write_text("what was there before\n")
    go(Louder())
    assert Path("out").read_text() == EXPECTED
    assert files() == {"in", "out"}


@pytest.mark.parametrize("deadly", range(1, LINES + 1, SIZE))
def test_a_killed_run_goes_on_where_it_was(deadly: int) -> None:
    Path("out").write_text("what was there before\n")
    with pytest.raises(_Killed):
        go(Louder(deadly))
    assert Path("out").read_text() == "what was there before\n"
    rest = Louder()
    go(rest)
    assert rest.did == list(range(deadly, LINES + 1, SIZE))
    assert Path("out").read_text() == EXPECTED
    assert files() == {"in", "out"}


def run_that_dies_at(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks are done, and then it is killed before something gets its name."""

    def deadly(rename: Callable[[Path, Path], Path]) -> Callable[[Path, Path], Path]:
        def renamed(path: Path, new: Path) -> Path:
            if new.name == target:
                raise _Killed
            return rename(path, new)

        return renamed

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", deadly(Path.replace))
        patch.setattr(Path, "rename", deadly(Path.rename))
        with pytest.raises(_Killed):
            go(Louder())


@pytest.mark.parametrize("target", ["out", ".out.parts.removed"])
def test_a_run_killed_while_it_joins_the_parts_has_nothing_to_do_twice(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_that_dies_at(target, monkeypatch)
    again = Louder()
    go(again)
    assert again.did == []
    assert Path("out").read_text() == EXPECTED
    assert files() == {"in", "out"}


@pytest.mark.parametrize("world", [2, 3, 8])
def test_processes_share_the_blocks(world: int) -> None:
    works = [Louder() for _ in range(world)]
    together(*(lambda r=r: go(works[r], Share(r, world)) for r in range(world)))
    for rank, work in enumerate(works):
        assert work.did == [1 + SIZE * block for block in range(rank, BLOCKS, world)]
    assert Path("out").read_text() == EXPECTED
    assert files() == {"in", "out"}


def test_a_process_that_starts_late_finds_the_first_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Though there is nothing left to do, and a process that was killed said so, too."""
    run_that_dies_at("out", monkeypatch)
    Path("out.parts/done-1").touch()

    def late() -> None:
        time.sleep(0.3)
        assert not Path("out").exists()
        go(Louder(), Share(1, 2))

    together(lambda: go(Louder(), Share(0, 2)), late)
    assert Path("out").read_text() == EXPECTED
    assert files() == {"in", "out"}


def test_the_first_process_may_start_last() -> None:
    """The other one is not taken for one that was killed, though it was done before."""
    with pytest.raises(_Killed):
        go(Louder(9), Share(0, 2))
    last = Louder()

    def first() -> None:
        while not Path("out.parts/done-1").exists():
            time.sleep(0.01)
        go(last, Share(0, 2))

    together(lambda: go(Louder(), Share(1, 2)), first)
    assert last.did == [9]
    assert Path("out").read_text() == EXPECTED
    assert files() == {"in", "out"}


def test_a_run_with_other_processes_goes_on_with_the_same_parts() -> None:
    with pytest.raises(_Killed):
        go(Louder(5), Share(0, 2))
    alone = Louder()
    go(alone)
    assert alone.did == [3, 5, 7, 9, 11]
    assert Path("out").read_text() == EXPECTED


def test_the_same_command_twice_at_once_is_told_so_and_harms_nothing() -> None:
    def meanwhile(first: int, rows: list[Row]) -> list[str]:
        if first == 1:
            with pytest.raises(MuteError, match="another process is at this text; wait for it"):
                go(Louder())
        return Louder()(first, rows)

    go(meanwhile)
    assert Path("out").read_text() == EXPECTED


def test_another_job_is_refused_and_what_was_begun_is_kept() -> None:
    with pytest.raises(_Killed):
        go(Louder(5))
    before = {path.name: path.read_bytes() for path in Path("out.parts").iterdir()}
    for rank in (0, 1):
        with pytest.raises(
            MuteError, match=r"out\.parts: .* another job: beam was 4, is 5\. Delete the folder"
        ):
            go(Louder(), Share(rank, 2), beam=5)
    Path("in").write_text("x\n")
    with pytest.raises(MuteError, match="lines was 11, is 1; text was "):
        go(Louder())
    assert {path.name: path.read_bytes() for path in Path("out.parts").iterdir()} == before


def test_a_manifest_that_makes_no_sense_is_told() -> None:
    with pytest.raises(_Killed):
        go(Louder(5))
    assert json.loads(Path("out.parts", MANIFEST).read_text())["beam"] == 4
    for nonsense in ("{", "[]"):
        Path("out.parts", MANIFEST).write_text(nonsense)
        with pytest.raises(MuteError, match=r"manifest\.json: damaged; delete out\.parts to start"):
            go(Louder())


def test_a_folder_of_somebody_else_is_left_alone() -> None:
    Path("out.parts").mkdir()
    for name in ("precious", "done-1"):
        Path("out.parts", name).touch()
    with pytest.raises(MuteError, match=r"out\.parts: in the way, and not made by mute"):
        go(Louder())
    assert {path.name for path in Path("out.parts").iterdir()} >= {"precious", "done-1"}


@pytest.mark.parametrize("world", [1, 2])
def test_what_processes_of_a_killed_run_had_to_say_is_forgotten(world: int) -> None:
    """Of more processes than there are now, and before any block was finished."""
    with pytest.raises(_Killed):
        go(Louder(1), Share(0, 4))
    for rank in (1, 3):
        Path(f"out.parts/done-{rank}").touch()
    together(*(lambda r=r: go(Louder(), Share(r, world)) for r in range(world)))
    assert Path("out").read_text() == EXPECTED


def test_a_job_of_which_nothing_is_finished_is_not_told_to_be() -> None:
    with pytest.raises(_Killed):
        go(Louder(1), Share(0, 2))
    with pytest.raises(MuteError, match=r"out\.parts: was begun for another job: beam was 4, is 5"):
        go(Louder(), Share(0, 2), beam=5)


def test_nothing_is_joined_of_columns_that_differ_in_length() -> None:
    Path("beside").write_text("x\n" * (LINES - 1))
    with pytest.raises(MuteError, match=rf"in has {LINES} lines, but beside has {LINES - 1};"):
        go(Louder(), columns=("in", "beside"))
    assert files() == {"in", "beside"}


def test_an_empty_text_becomes_an_empty_file() -> None:
    Path("in").write_text("")
    go(Louder(), output="out.gz")
    assert subprocess.run(["gzip", "-dc", "out.gz"], capture_output=True, check=True).stdout == b""
    together(*(lambda r=r: go(Louder(), Share(r, 2)) for r in range(2)))
    assert Path("out").read_bytes() == b""


@pytest.mark.parametrize(("suffix", "program"), [(".gz", "gzip"), (".xz", "xz")])
def test_a_compressed_output_of_a_run_that_was_killed(suffix: str, program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")
    output = f"out{suffix}"
    go(Louder(), output=output)
    whole = Path(output).read_bytes()
    with pytest.raises(_Killed):
        go(Louder(7), output=output)
    go(Louder(), output=output)
    assert Path(output).read_bytes() == whole
    unpacked = subprocess.run([program, "-dc", output], capture_output=True, check=True).stdout
    assert unpacked.decode() == EXPECTED


def test_a_full_disk_is_told_and_costs_nothing_that_is_finished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = os.fsync

    def full(handle: int) -> None:
        if len(list(Path("out.parts").glob("part-*"))) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        whole(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(
            MuteError, match=r"out\.parts: cannot be written \(No space left on device\); .* stays"
        ):
            go(Louder())
    rest = Louder()
    go(rest)
    assert rest.did == [5, 7, 9, 11]
    assert Path("out").read_text() == EXPECTED


def test_an_error_of_the_work_itself_is_not_taken_for_one_of_the_disk() -> None:
    def broken(first: int, rows: list[Row]) -> list[str]:
        raise OSError(errno.EIO, "of another kind")

    with pytest.raises(OSError, match="of another kind") as caught:
        go(broken)
    assert not isinstance(caught.value, MuteError)


def test_the_watcher_is_told_what_was_done_before() -> None:
    with pytest.raises(_Killed):
        go(Louder(7))
    told: list[tuple[int, int | None]] = []

    def watch(done: int, total: int | None) -> None:
        told.append((done, total))

    work_in_parts(Job([Path("in")], Louder(), SIZE, watch), Path("out"), IDENTITY, Share())
    assert told == [(6, 11), (8, 11), (10, 11), (11, 11)]


def test_an_orphan_of_torchrun_does_not_speak_for_its_successor(tmp_path: Path) -> None:
    """It would wait for the end for ever, and say that it is done to whoever begins anew."""
    with pytest.raises(_Killed):
        go(Louder(LINES))
    worker = tmp_path / "worker.py"
    worker.write_text(
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from mute.errors import MuteError\n"
        "from mute.translate.parts import Parts, Share\n"
        "os.environ['TORCHELASTIC_RUN_ID'] = 'test'\n"
        "if os.fork():\n"
        "    while not Path('out.parts/done-1').exists():\n"
        "        time.sleep(0.01)\n"
        "    os._exit(0)\n"
        "try:\n"
        "    Parts(Path('out'), Share(1, 2)).wait_for_the_end()\n"
        "except MuteError as error:\n"
        "    print(error)\n"
    )
    told = subprocess.run(
        [sys.executable, worker], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert told == "torchrun has died; run the same command again\n"


def test_nothing_is_kept_of_a_text_that_changed_on_the_way() -> None:
    text = Path("in").read_text()

    def then_changed(job: Job) -> Content:
        content = survey(job)
        Path("in").write_text(text.replace("line 5", "foreign"))
        return content

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "survey", then_changed)
        with pytest.raises(MuteError, match="in has changed since this run began"):
            go(Louder())
    Path("in").write_text(text)
    go(Louder())
    assert Path("out").read_text() == EXPECTED


def test_a_job_of_which_nothing_is_finished_makes_way_for_another() -> None:
    with pytest.raises(_Killed):
        go(Louder(1), beam=5)
    go(Louder())
    assert Path("out").read_text() == EXPECTED
