import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from mute.data.lines import read_lines, read_text
from mute.errors import MuteError

STREAMS = [lzma.compress(b"A dog.\n"), lzma.compress(b"Two cats.\n")]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_a_stream_may_be_packed_as_files_may(pack: Callable[[bytes], bytes]) -> None:
    Path("piped").write_bytes(pack(b"A dog.\nTwo cats.\n"))
    with Path("piped").open("rb") as stream:
        assert list(read_text(stream)) == ["A dog.", "Two cats."]
        assert not stream.closed, "who has opened it closes it"


@pytest.mark.parametrize("between", [b"", b"\0" * 8], ids=["nothing", "padding"])
def test_streams_of_an_xz_may_follow_one_another(between: bytes) -> None:
    Path("t.xz").write_bytes(between.join(STREAMS) + between)
    assert list(read_lines(Path("t.xz"))) == [b"A dog.", b"Two cats."]


@pytest.mark.parametrize(
    "rest",
    [b"Two cats.\n", gzip.compress(b"Two cats.\n"), b"x" + STREAMS[1][1:], STREAMS[1][:9]],
    # A gzip holds the second it was made in, so the bytes themselves would name another test in
    # each process that collects them.
    ids=["plain", "gzip", "other-magic", "cut-short"],
)
def test_nothing_behind_a_stream_of_an_xz_is_left_out(rest: bytes) -> None:
    Path("t.xz").write_bytes(STREAMS[0] + rest)
    with pytest.raises(MuteError, match=r"t\.xz: damaged or cut short .*; get the file again"):
        list(read_lines(Path("t.xz")))


def test_an_xz_is_unpacked_whole_however_large_its_blocks_are() -> None:
    lines = [b"line %d" % number for number in range(200_000)]
    Path("t.xz").write_bytes(lzma.compress(b"\n".join(lines)))
    assert list(read_lines(Path("t.xz"))) == lines


@pytest.mark.parametrize("content", [b"a\rb", b"long " * 3000 + b"\rshort"])
def test_a_single_line_with_cr_inside_is_told_too(content: bytes) -> None:
    Path("t").write_bytes(content)
    with pytest.raises(MuteError, match="its lines end with CR alone"):
        list(read_lines(Path("t")))
    Path("t").write_bytes(content + b"\r\nnext\n")
    assert len(list(read_lines(Path("t")))) == 2


def test_utf16_is_told_by_more_than_its_first_line() -> None:
    Path("t").write_bytes("\nA dog.\nTwo cats.\n".encode("utf-16-le"))
    with pytest.raises(MuteError, match="UTF-16"):
        list(read_lines(Path("t")))
    Path("t").write_bytes(b"a\0\nA dog.\nTwo cats.\n")
    assert len(list(read_lines(Path("t")))) == 3
