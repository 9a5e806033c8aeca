import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from mute.config import ParallelText
from mute.data import lines
from mute.data.corpus import Flaw, Pair, read_pairs
from mute.data.duplicates import Duplicates
from mute.errors import MuteError

PAIRS = [Pair(1, "A dog.", "Ein Hund."), Pair(2, "Two cats.", "Zwei Katzen.")]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MUTE_DATA", raising=False)


def text(source: bytes, target: bytes) -> ParallelText:
    Path("text.en").write_bytes(source)
    Path("text.de").write_bytes(target)
    return ParallelText(source="text.en", target="text.de")


@pytest.mark.parametrize(
    "end", [b"\n", b"\r\n", b""], ids=["newline", "CRLF", "no end of the last line"]
)
def test_a_pair_is_a_line_of_each_file(end: bytes) -> None:
    files = text(b"A dog.\nTwo cats." + end, b"Ein Hund.\r\nZwei Katzen." + end)
    assert list(read_pairs(files)) == PAIRS


def test_compressed_files_and_tsv_are_the_same_text() -> None:
    sides = {"en": b"A dog.\nTwo cats.\n", "de": b"Ein Hund.\nZwei Katzen.\n"}
    for language, content in sides.items():
        Path(f"t.{language}.gz").write_bytes(gzip.compress(content))
        Path(f"t.{language}.xz").write_bytes(lzma.compress(content))
    tsv = b"A dog.\tEin Hund.\nTwo cats.\tZwei Katzen.\tsome attribution\n"
    Path("t.tsv").write_bytes(tsv)
    Path("t.tsv.gz").write_bytes(gzip.compress(tsv))
    for files in (
        ParallelText(source="t.en.gz", target="t.de.xz"),
        ParallelText(tsv="t.tsv"),
        ParallelText(tsv="t.tsv.gz"),
    ):
        assert list(read_pairs(files)) == PAIRS


@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_a_newline_ends_a_line(inside: str) -> None:
    files = text(f"one{inside}two\nthree\n".encode(), b"eins zwei\ndrei\n")
    first, second = read_pairs(files)
    assert isinstance(first, Pair)
    assert first.source.split() == ["one", "two"]
    assert second == Pair(2, "three", "drei")


def test_control_characters_become_spaces_and_the_ends_are_stripped() -> None:
    (pair,) = read_pairs(text(b"\xef\xbb\xbf \x00A\tdog.\x7f \n", b"Ein\x00Hund.\n"))
    assert pair == Pair(1, "A dog.", "Ein Hund.")


def test_a_byte_order_mark_counts_only_at_the_start_of_the_file() -> None:
    bom = b"\xef\xbb\xbf"
    pairs = list(read_pairs(text(bom + b"one\n" + bom + b"two\n", b"eins\nzwei\n")))
    assert pairs == [Pair(1, "one", "eins"), Pair(2, "\ufefftwo", "zwei")]


def test_what_is_no_pair_is_told_with_its_line() -> None:
    files = text(b"one\n\xff\xfe\n \nfour\n", b"eins\nzwei\ndrei\n\n")
    assert list(read_pairs(files)) == [
        Pair(1, "one", "eins"),
        Flaw(2, "not UTF-8", "text.en"),
        Flaw(3, "empty side", "text.en"),
        Flaw(4, "empty side", "text.de"),
    ]


@pytest.mark.parametrize(
    ("latin1", "lines"), [(11, 1000), (20, 1999)], ids=["a few lines", "a hundredth of the lines"]
)
def test_a_file_in_another_encoding_is_told_with_its_first_line(latin1: int, lines: int) -> None:
    german = ["Hund.\n"] * 2 + ["Vögel.\n"] * latin1 + ["Hund.\n"] * (lines - latin1 - 2)
    files = text(b"A dog.\n" * lines, "".join(german).encode("latin-1"))
    message = rf"text\.de:3: not UTF-8, like {latin1} of {lines:,} lines in all; .*`iconv -f LATIN1"
    with pytest.raises(MuteError, match=message):
        list(read_pairs(files))


@pytest.mark.parametrize(("latin1", "lines"), [(10, 10), (20, 2000)])
def test_stray_lines_in_another_encoding_are_only_left_out(latin1: int, lines: int) -> None:
    german = b"V\xf6gel.\n" * latin1 + b"Hund.\n" * (lines - latin1)
    pairs = list(read_pairs(text(b"A dog.\n" * lines, german)))
    assert sum(isinstance(pair, Pair) for pair in pairs) == lines - latin1


@pytest.mark.parametrize("mark", ["\ufeff", ""], ids=["marked", "unmarked"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_called_so(encoding: str, mark: str) -> None:
    german = f"{mark}Ein Hund.\nĊ\n".encode(encoding)  # a letter with the byte of a newline in it
    with pytest.raises(MuteError, match=r"text\.de: UTF-16, .*`iconv -f UTF-16 -t UTF-8`"):
        list(read_pairs(text(b"A dog.\nTwo cats.\n", german)))


def test_a_line_of_a_tsv_needs_a_tab_and_two_sides() -> None:
    Path("t.tsv").write_bytes(b"alone\nA dog.\tEin Hund.\nA cat.\t\n")
    assert list(read_pairs(ParallelText(tsv="t.tsv"))) == [
        Flaw(1, "no tab", "t.tsv"),
        Pair(2, "A dog.", "Ein Hund."),
        Flaw(3, "empty side", "t.tsv"),
    ]


@pytest.mark.parametrize("length", [99, 100, 101, 205])
def test_an_endless_line_is_skipped_and_the_next_one_is_read(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 100)
    files = text(b"x" * length + b"\nshort\n", b"lang\nkurz\n")
    first, second = read_pairs(files)
    assert isinstance(first, Pair) == (length < 100)
    assert length < 100 or first == Flaw(1, "too long", "text.en")
    assert second == Pair(2, "short", "kurz")


@pytest.mark.parametrize("longer", ["source", "target"])
def test_unequal_lengths_are_told_with_both_counts(longer: str) -> None:
    five, two = b"x\n" * 5, b"y\n" * 2
    files = text(five, two) if longer == "source" else text(two, five)
    counts = (5, 2) if longer == "source" else (2, 5)
    message = rf"text\.en has {counts[0]} lines, but text\.de has {counts[1]}"
    with pytest.raises(MuteError, match=message):
        list(read_pairs(files))


@pytest.mark.parametrize("suffix", ["gz", "xz"])
def test_a_compressed_file_cut_short_is_told(suffix: str) -> None:
    compress = gzip.compress if suffix == "gz" else lzma.compress
    whole = compress(b"".join(b"line %d\n" % number for number in range(10_000)))
    Path(f"t.{suffix}").write_bytes(whole[:-40])
    files = ParallelText(source=f"t.{suffix}", target=f"t.{suffix}")
    with pytest.raises(MuteError, match=rf"t\.{suffix}: damaged or cut short .*get the file again"):
        list(read_pairs(files))


def test_a_file_that_is_not_what_its_name_says_is_told() -> None:
    Path("t.gz").write_bytes(b"plain text\n")
    with pytest.raises(MuteError, match=r"t\.gz: not packed, in spite of its name; .*rename it"):
        list(read_pairs(ParallelText(source="t.gz", target="t.gz")))
    Path("t.gz").write_bytes(b"")
    with pytest.raises(MuteError, match=r"t\.gz: empty; get the file again"):
        list(read_pairs(ParallelText(source="t.gz", target="t.gz")))


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_a_compressed_file_is_known_by_its_content(compress: Callable[[bytes], bytes]) -> None:
    files = text(*(compress(side) for side in (b"A dog.\nTwo cats.\n", b"Ein Hund.\nZwei Katzen.")))
    assert list(read_pairs(files)) == PAIRS


def test_lines_that_end_with_cr_alone_are_told() -> None:
    old = text(b"one\rtwo\rthree\r", b"eins\rzwei\rdrei\r")
    with pytest.raises(MuteError, match=r"text\.en: its lines end with CR alone; .*`tr '"):
        list(read_pairs(old))


def test_lines_that_end_with_cr_alone_are_told_however_many_they_are() -> None:
    old = text(b"a sentence\r" * 100_000, b"ein Satz\r" * 100_000)
    with pytest.raises(MuteError, match="its lines end with CR alone"):
        list(read_pairs(old))


@pytest.mark.parametrize(
    ("packed", "kind"),
    [
        (bz2.compress(b"A dog.\n"), "bzip2"),
        (b"PK\x03\x04\x14\0\0\0\x08\0", "zip"),
        (b"\x28\xb5\x2f\xfd\x04\x58\r\r\n", "zstd"),
    ],
    ids=["bzip2", "zip", "zstd"],
)
def test_what_is_packed_otherwise_is_told(packed: bytes, kind: str) -> None:
    with pytest.raises(MuteError, match=rf"text\.en: packed by {kind}; unpack it, or pack it as"):
        list(read_pairs(text(packed, packed)))


def test_duplicates_are_found_however_far_apart() -> None:
    duplicates = Duplicates()
    pairs = [Pair(number, str(number), "x") for number in range(100_000)]
    assert duplicates.check([*pairs[:3], pairs[1]]) == [False, False, False, True]
    assert not any(duplicates.check(pairs[3:]))
    assert all(duplicates.check([pairs[0], pairs[99_999], pairs[50_000]]))
    assert not any(
        duplicates.check([Pair(1, "a b", "c"), Pair(2, "a", "b c"), Pair(3, "c", "a b")])
    )
