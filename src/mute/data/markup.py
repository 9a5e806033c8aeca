"""What is written between tags: text with some characters spelled out."""

import html
import re

_ZEROS = re.compile(r"&#0+(?=[0-9])")  # Python counts them among a number's digits, and has a limit
_ENDLESS = re.compile(r"&#[0-9]{8,};?")  # no character has such a number


def unescape(text: str) -> str:
    """`&lt;`, `&#8364;` and the like as the characters they stand for."""
    return html.unescape(_ENDLESS.sub("\ufffd", _ZEROS.sub("&#", text)))
