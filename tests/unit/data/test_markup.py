import pytest

from mute.data.markup import unescape


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a &lt; b &amp; c", "a < b & c"),
        ("5 &#8364;, 6 &#x20ac;", "5 €, 6 €"),
        ("&#99999999;", "\ufffd"),
        ("&#0000000065;", "A"),
        (f"a&#{'9' * 5000};b", "a\ufffdb"),
        (f"a&#x{'f' * 5000};b", "a\ufffdb"),
        ("AT&T; &;", "AT&T; &;"),
        (f"a&#{'0' * 5000}65;b", "aAb"),
        ("&#0;", "\ufffd"),
    ],
    ids=range(9),
)
def test_characters_that_are_spelled_out_are_read(text: str, meant: str) -> None:
    assert unescape(text) == meant
