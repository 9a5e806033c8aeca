"""Any work in the place of translating: what matters is which lines come out, and where."""

import io
import shutil
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from mute.data import lines
from mute.errors import MuteError
from mute.translate.stream import Job, Row, pack, pour, pour_into_file


def louder(first: int, rows: list[Row]) -> list[str]:
    """HELLO 1"""
    return [f"{' '.join(row).upper()} {number}" for number, row in enumerate(rows, first)]


def job(*columns: Path | BinaryIO, size: int = 2, watched: list[object] | None = None) -> Job:
    def watch(done: int, total: int | None) -> None:
        if watched is not None:
            watched.append((done, total))

    return Job(columns, louder, size, watch)


def poured(job: Job) -> bytes:
    written: list[bytes] = []
    pour(job, written.append)
    return b"".join(written)


@pytest.mark.parametrize("size", [1, 2, 3, 10])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (b"", b""),
        (b"a\n", b"A 1\n"),
        (b"a\nb\n\nd\ne", b"A 1\nB 2\n 3\nD 4\nE 5\n"),
        ("a\u2028b\r\n\u0085\n".encode(), "A\u2028B 1\n\u0085 2\n".encode()),
    ],
    ids=["nothing", "a line", "without a last end", "only a line feed ends a line"],
)
def test_as_many_lines_come_out_as_go_in(
    given: bytes, expected: bytes, size: int, tmp_path: Path
) -> None:
    assert poured(job(io.BytesIO(given), size=size)) == expected
    (tmp_path / "text").write_bytes(given)
    assert poured(job(tmp_path / "text", size=size)) == expected


def test_a_block_comes_out_before_the_next_is_read() -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            buffer[:2] = b"a\n"
            return 2

    written: list[bytes] = []

    def write(content: bytes) -> None:
        written.append(content)
        if len(written) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pour(job(io.BufferedReader(Endless())), write)
    assert b"".join(written).splitlines()[-1] == b"A 6"


def test_the_watcher_knows_the_end_of_a_file_but_not_of_a_pipe(tmp_path: Path) -> None:
    told: list[object] = []
    poured(job(io.BytesIO(b"a\nb\nc\n"), watched=told))
    assert told == [(0, None), (2, None), (3, None)]
    (tmp_path / "text").write_bytes(b"a\nb\nc\n")
    told.clear()
    poured(job(tmp_path / "text", watched=told))
    assert told == [(0, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
@pytest.mark.parametrize("given", ["", "a\nb\nc\n"])
def test_files_are_read_and_written_as_they_are_called(
    suffix: str, given: str, tmp_path: Path
) -> None:
    (tmp_path / f"in{suffix}").write_bytes(pack(given, suffix))
    output = tmp_path / f"out{suffix}"
    pour_into_file(job(tmp_path / f"in{suffix}"), output)
    expected = b"A 1\nB 2\nC 3\n" if given else b""
    unpack = {"": ["cat"], ".gz": ["gzip", "-dc"], ".xz": ["xz", "-dc"]}[suffix]
    if shutil.which(unpack[0]) is None:
        pytest.skip(f"there is no {unpack[0]}")
    assert subprocess.run([*unpack, output], capture_output=True, check=True).stdout == expected
    assert {path.name for path in tmp_path.iterdir()} == {f"in{suffix}", f"out{suffix}"}


def test_a_file_from_a_pipe_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.write_text("before\n")
    with pytest.raises(MuteError, match="standard input:4: not UTF-8 at byte 1"):
        pour_into_file(job(io.BytesIO(b"a\nb\nc\nd\xff\n")), output)
    assert output.read_text() == "before\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    pour_into_file(job(io.BytesIO(b"a\nb\nc\n")), output)
    assert output.read_text() == "A 1\nB 2\nC 3\n"


def test_a_device_is_written_to_and_not_replaced() -> None:
    pour_into_file(job(io.BytesIO(b"a\n")), Path("/dev/null"))
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(sys.platform != "linux", reason="has no /dev/full")
def test_a_full_disk_is_told() -> None:
    message = r"/dev/full: cannot be written \(No space left on device\); mend that and start over"
    with pytest.raises(MuteError, match=message):
        pour_into_file(job(io.BytesIO(b"a\n")), Path("/dev/full"))


@pytest.mark.parametrize(("first", "second"), [(5, 3), (3, 5), (0, 1), (1, 0)])
def test_columns_of_unequal_length_are_told_with_both_counts(
    first: int, second: int, tmp_path: Path
) -> None:
    left, right = tmp_path / "left", tmp_path / "right"
    left.write_text("x\n" * first)
    right.write_text("y\n" * second)
    with pytest.raises(MuteError, match=rf"left has {first} lines, but \S+right has {second};"):
        poured(job(left, right))
    with pytest.raises(MuteError, match=rf"standard input has {first} lines, but \S+right has"):
        poured(job(io.BytesIO(b"x\n" * first), right))


def test_a_second_column_goes_with_the_first(tmp_path: Path) -> None:
    (tmp_path / "second").write_text("one\n\nthree\n")
    assert poured(job(io.BytesIO(b"a\nb\nc\n"), tmp_path / "second")) == (
        b"A ONE 1\nB  2\nC THREE 3\n"
    )


def test_a_mistake_at_the_end_of_a_file_is_found_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"a\n" * 9 + b"\xff\n")
    written: list[bytes] = []
    with pytest.raises(MuteError, match="text:10: not UTF-8 at byte 0"):
        pour(job(tmp_path / "text"), written.append)
    assert not written


def test_a_file_that_changes_on_the_way_is_told(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("a\n" * 100_000)  # more than is read ahead

    def write(_: bytes) -> None:
        with text.open("a") as file:
            file.write("d\n")

    with pytest.raises(MuteError, match="text has changed since this run began; start over"):
        pour(job(text, size=1000), write)


def test_an_endless_line_is_an_error_and_not_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 100)
    assert poured(job(io.BytesIO(b"x" * 99 + b"\n"))) == b"X" * 99 + b" 1\n"
    with pytest.raises(MuteError, match="standard input:2: does not end within 100 bytes"):
        poured(job(io.BytesIO(b"a\n" + b"x" * 101 + b"\nc\n")))


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_a_damaged_file_is_told(suffix: str, tmp_path: Path) -> None:
    whole = pack("".join(f"line {number}\n" for number in range(10_000)), suffix)
    (tmp_path / f"text{suffix}").write_bytes(whole[:-40])
    with pytest.raises(MuteError, match=rf"text\{suffix}: damaged or cut short after line"):
        poured(job(tmp_path / f"text{suffix}"))


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(MuteError, match=r"nothing: cannot be read \(No such file"):
        poured(job(tmp_path / "nothing"))
    with pytest.raises(MuteError, match=r"cannot be read \(Is a directory\)"):
        poured(job(tmp_path))
