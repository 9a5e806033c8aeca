"""Taking texts apart and putting them together again."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mute.serve.texts import Format, parse

FORMATS: list[Format] = ["text", "html"]


def shouted(text: str, form: Format) -> str:
    parsed = parse(text, form)
    return parsed.with_lines(line.upper() for line in parsed.lines)


def test_lines_are_translated_and_white_space_stays() -> None:
    assert parse(" one\r\n\n two \u2028 three\t\n", "text").lines == ["one", "two \u2028 three"]
    assert shouted(" one\r\n\n two\t\n", "text") == " ONE\r\n\n TWO\t\n"
    assert shouted("", "text") == ""
    assert shouted("a < b &amp; c", "text") == "A < B &AMP; C"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>one</p>", "<p>ONE</p>"),
        ('<P class="a>b" >one <b>two</b></P >\n', '<P class="a>b" >ONE <b>TWO</b></P >\n'),
        ("<!DOCTYPE html><!-- no --><br/>yes", "<!DOCTYPE html><!-- no --><br/>YES"),
        ("<script>if (a < b) {}</script>x", "<script>if (a < b) {}</script>X"),
        ("<style>p {}</style><p>x", "<style>p {}</style><p>X"),
        ("fish &amp; chips &lt;3", "FISH &amp; CHIPS &lt;3"),
        ("a < b and 1<2", "A &lt; B AND 1&lt;2"),
        ("one\n<hr>\n\ntwo", "ONE\n<hr>\n\nTWO"),
        ("caf&eacute;", "CAFÉ"),
        ("<?php x ?>a<![CDATA[b]]>", "<?php x ?>A<![CDATA[b]]>"),
        ("a<b c='d>e", "A<b c='d>E"),
        ("a<b c", "A&lt;B C"),
        ("<script-x>a</script-x>b", "<script-x>A</script-x>B"),
        ("<script>a</script-x>b</script>c", "<script>a</script-x>b</script>C"),
        ("<p>one\n two\r\n\tthree \n</p>", "<p>ONE TWO THREE \n</p>"),
        ("one\n two\n \nthree", "ONE TWO\n \nTHREE"),
        ("<b>one&nbsp;\ntwo</b>", "<b>ONE\xa0 TWO</b>"),
        ("<PRE>a\n  b   c\td</PRE>e\nf", "<PRE>A\n  B   C\tD</PRE>E F"),
        (
            "<textarea rows=2>a\nb</textarea><pretty>c\nd",
            "<textarea rows=2>A\nB</textarea><pretty>C D",
        ),
        ("<SCRIPT src=x>a</Script >b<script>c", "<SCRIPT src=x>a</Script >B<script>c"),
    ],
)
def test_tags_survive_and_the_text_between_them_is_translated(page: str, expected: str) -> None:
    assert shouted(page, "html") == expected


@given(st.text(alphabet="ab <>/!-?&;=\"'\n\t[]CDATAscript"))
def test_any_text_comes_back_whole(text: str) -> None:
    for form in FORMATS:
        parsed = parse(text, form)
        assert all(line == line.strip() != "" and "\n" not in line for line in parsed.lines)
    parsed = parse(text, "text")
    assert parsed.with_lines(parsed.lines) == text


@pytest.mark.parametrize(
    "hostile", ["<!--", "<a ", "<![CDATA[", "</a", "<", "&", "<a b='", "<!", "<a '>'", "<script>"]
)
def test_a_hostile_page_does_not_take_for_ever(hostile: str) -> None:
    started = time.monotonic()
    parse(hostile * (50_000 // len(hostile)), "html")
    assert time.monotonic() - started < 5
