"""What is written between tags: text with some characters spelled out."""

import html
import re

_ENDLESS = re.compile(r"&#0*[1-9][0-9]{7,};?")  # no character has such a number


def unescape(text: str) -> str:
    """`&lt;`, `&#8364;` and the like as the characters they stand for."""
    return html.unescape(_ENDLESS.sub("\ufffd", text))
