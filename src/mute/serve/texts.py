"""What in a request's text is to be translated, and what stays around it.

A plain text is translated line by line; line breaks, empty lines and white space at the ends of
lines stay. Of HTML, what stands between tags is translated as one line, unless there is an empty
line in it or it is preformatted; tags, comments, scripts and styles come back letter for letter.
"""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from mute.data.markup import unescape

Format = Literal["text", "html"]

_LINE = re.compile(r"[^\n]+")
_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?![ \t\r\f]*\n))+")
_SPACES = re.compile(r"[ \t\n\r\f]+")  # those of HTML: not what forbids a line break
_PREFORMATTED = re.compile(r"<(/?)(?:pre|textarea)(?=[\s/>])", re.IGNORECASE)
_OPENING = re.compile(r"</?[a-zA-Z]|<[!?]")
_TAG = re.compile(r"""<(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""")
_SILENT = re.compile(r"<(script|style)(?=[\s/>])", re.IGNORECASE)  # not <script-x>
_PAIRS = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", ">"))


@dataclass(frozen=True)
class Text:
    """A text in pieces: those with odd numbers are lines to translate, the others stay."""

    pieces: list[str]
    is_html: bool = False

    @property
    def lines(self) -> list[str]:
        """What is to be translated."""
        return self.pieces[1::2]

    def with_lines(self, translations: Iterable[str]) -> str:
        """The text with every line replaced by its translation."""
        pieces = list(self.pieces)
        escape: Callable[[str], str] = _escape if self.is_html else str
        pieces[1::2] = map(escape, translations)
        return "".join(pieces)


def parse(text: str, form: Format) -> Text:
    """Find the lines of a text."""
    if form == "text":
        return Text(_collect(_lines_of(text, _LINE)))
    return Text(_collect(_lines_of_html(text)), is_html=True)


def _escape(text: str) -> str:
    return html.escape(text, quote=False)


def _collect(parts: Iterable[tuple[str, bool]]) -> list[str]:
    """Parts of a text, lines or not, as what stays, a line, what stays, …, what stays."""
    pieces = [""]
    for part, is_line in parts:
        if is_line:
            pieces += [part, ""]
        else:
            pieces[-1] += part
    return pieces


def _lines_of_html(page: str) -> Iterator[tuple[str, bool]]:
    """The lines of a page, and what lies between them as it is to come back."""
    preformatted = False
    for raw, real in _split_html(page):
        if not real:
            if tag := _PREFORMATTED.match(raw):
                preformatted = not tag[1]
            yield raw, False
            continue
        for part, is_line in _lines_of(unescape(raw), _LINE if preformatted else _PARAGRAPH):
            line = part if preformatted else _SPACES.sub(" ", part)
            yield (line if is_line else _escape(part)), is_line


def _lines_of(text: str, line_of: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    """The lines of a text without white space at their ends, and what lies between them."""
    end = 0
    for match in line_of.finditer(text):
        line = match.group()
        stripped = line.strip()
        if stripped:
            start = match.start() + line.index(stripped)
            yield text[end:start], False
            yield stripped, True
            end = start + len(stripped)
    yield text[end:], False


def _split_html(text: str) -> Iterator[tuple[str, bool]]:
    """A page in raw slices, each with whether it is text to read.

    In one pass: `html.parser` of Python 3.11 takes minutes for some short hostile pages.
    """
    end = 0
    page = _Page(text)
    place = text.find("<")
    while place >= 0:
        behind = page.end_of_markup(place)
        if behind == place:  # no tag, just a "<"
            place = text.find("<", place + 1)
            continue
        yield text[end:place], True
        yield text[place:behind], False
        end, place = behind, text.find("<", behind)
    yield text[end:], True


class _Page:
    """Finds the ends of markup."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._quotes_close = True

    def end_of_markup(self, place: int) -> int:
        """Where the tag, comment or script ends that begins at a "<"; right there if none does."""
        for opening, closing in _PAIRS:
            if self.text.startswith(opening, place):
                return self._behind(closing, place)
        if not _OPENING.match(self.text, place):
            return place
        end = self._end_of_tag(place)
        silent = _SILENT.match(self.text, place)
        if silent is None or end == place:
            return end
        closing_tag = re.compile(rf"</{silent[1]}(?=[\s/>])", re.IGNORECASE).search(self.text, end)
        return closing_tag.start() if closing_tag else len(self.text)

    def _end_of_tag(self, place: int) -> int:
        """Behind the next ">" outside quotes; outside or not, once a quote was left open."""
        tag = _TAG.match(self.text, place) if self._quotes_close else None
        if tag:
            return tag.end()
        self._quotes_close = False
        return self._behind(">", place) if self.text.find(">", place) >= 0 else place

    def _behind(self, closing: str, place: int) -> int:
        found = self.text.find(closing, place)
        return len(self.text) if found < 0 else found + len(closing)
