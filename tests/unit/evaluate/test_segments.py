import gzip
import os
from pathlib import Path

import pytest

from mute.errors import MuteError
from mute.evaluate.segments import read_parallel, read_segments


def test_lines_are_kept_as_they_are(tmp_path: Path) -> None:
    text = "one\n\nthr\u2028ee\n"
    (tmp_path / "plain").write_bytes(text.encode())
    (tmp_path / "packed.gz").write_bytes(gzip.compress(text.encode()))
    expected = ["one", "", "thr\u2028ee"]
    assert read_segments(tmp_path / "plain") == expected
    assert read_segments(tmp_path / "packed.gz") == expected


def test_a_pipe_is_read_too() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"one\ntwo\n")
    os.close(writing)
    try:
        assert read_segments(f"/dev/fd/{reading}") == ["one", "two"]
    finally:
        os.close(reading)


def test_a_text_is_sgml_by_its_last_suffix(tmp_path: Path) -> None:
    (tmp_path / "ref.sgm.txt").write_text("a line\n")
    assert read_segments(tmp_path / "ref.sgm.txt") == ["a line"]


def test_nists_sgml(tmp_path: Path) -> None:
    path = tmp_path / "ref.sgm"
    path.write_text(
        '<refset setid="x"><doc docid="a">\n<seg id="1"> Tom &amp; Jerry </seg>\n'
        "<seg id=2>two\nlines</seg></doc></refset>\n"
    )
    assert read_segments(path) == ["Tom & Jerry", "two\nlines"]
    loud = tmp_path / "REF.SGM"
    loud.write_text('<SEG id="1">one</SEG>\n<seg id="2"/>\n<seg id="3">three / 3</seg>\n')
    assert read_segments(loud) == ["one", "", "three / 3"]


@pytest.mark.parametrize(
    ("text", "several"),
    [
        (
            '<doc sysid="A"><seg>one</seg></doc>\n<DOC docid="x" sysid="B"><seg>1</seg></doc>',
            "A, B",
        ),
        ("<src><seg>eins</seg></src><ref><seg>one</seg></ref>", "ref, src"),
        ('<src><seg>one</seg></src><ref translator="A"><seg>eins</seg></ref>', "ref, src"),
        ('<ref translator="A"><seg>1</seg></ref><ref translator="B"><seg>2</seg></ref>', "A, B"),
        ('<hyp system="X" lang="de"><seg>1</seg></hyp><hyp system="Y"><seg>2</seg></hyp>', "X, Y"),
    ],
)
def test_a_file_of_several_texts_is_told(tmp_path: Path, text: str, several: str) -> None:
    (tmp_path / "both.xml").write_text(text)
    with pytest.raises(
        MuteError, match=rf"both\.xml: holds several texts \({several}\); write each"
    ):
        read_segments(tmp_path / "both.xml")


def test_segments_without_an_end_are_told_and_comments_left_out(tmp_path: Path) -> None:
    path = tmp_path / "ref.sgm"
    path.write_text("<seg id=1>one\n" * 3000 + "<seg id=2>two</seg>")
    with pytest.raises(MuteError, match="of its 3,001 <seg>, only 1 have an end"):
        read_segments(path)
    path.write_text("<!-- an old one: -->\n<seg>a <!-- b</seg><seg>c --> d</seg>")
    assert read_segments(path) == ["a <!-- b", "c --> d"]


def test_what_cannot_be_scored_is_told(tmp_path: Path) -> None:
    (tmp_path / "two").write_text("a\nb\n")
    (tmp_path / "three").write_text("a\nb\nc\n")
    (tmp_path / "empty").write_text("")
    (tmp_path / "bad").write_bytes(b"a\n\xff\n")
    (tmp_path / "no.sgm").write_text("text\n")
    with pytest.raises(MuteError, match=r"two has 2 lines, but .*three has 3"):
        read_parallel([tmp_path / "two", tmp_path / "three"])
    with pytest.raises(MuteError, match="is empty; there is nothing to score"):
        read_parallel([tmp_path / "empty", tmp_path / "empty"])
    with pytest.raises(MuteError, match="bad:2: not UTF-8 at byte 0"):
        read_segments(tmp_path / "bad")
    with pytest.raises(MuteError, match="none: no such file"):
        read_segments(tmp_path / "none")
    with pytest.raises(MuteError, match="is a folder; give a file"):
        read_segments(tmp_path)
    with pytest.raises(MuteError, match="SGML without a <seg>"):
        read_segments(tmp_path / "no.sgm")
