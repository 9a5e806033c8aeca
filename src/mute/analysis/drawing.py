"""Sheets to draw on, and what they become: PNG files, and SVG inside a page."""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.figure import Figure

INK = "#1d2b39"
"""The colour of everything that is not data; in a page it is that of the text around."""

_CHINESE = ("Noto Sans CJK SC", "Noto Sans SC", "WenQuanYi Zen Hei", "SimHei", "PingFang SC")
_TAG = re.compile("<[^>]*>")  # words of a sentence, between tags, stay as they are
_REFERENCE = re.compile(r'(\bid="|url\(#|href="#)')


def figure(width: float, height: float) -> Figure:
    """An empty sheet, in inches, on which labels make room for themselves."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="none")


@cache
def token_font() -> list[str]:
    """Fonts for words of any language, as far as this machine has them."""
    present = {font.name for font in font_manager.fontManager.ttflist}
    return ["DejaVu Sans", *(name for name in _CHINESE if name in present)]


def to_png(drawn: Figure) -> bytes:
    """The figure on white, for papers and slides."""
    file = io.BytesIO()
    with _quietly():
        drawn.savefig(file, format="png", dpi=150, facecolor="white")
    return file.getvalue()


def to_svg(drawn: Figure, name: str) -> str:
    """The figure as an element of a page, in the colour of its text and with text as text.

    Args:
        drawn: the figure
        name: unlike that of any other figure of the page
    """
    file = io.StringIO()
    with _quietly(), mpl.rc_context({"svg.fonttype": "none"}):
        drawn.savefig(file, format="svg", facecolor="none", metadata={"Date": None})
    whole = file.getvalue()

    def own(tag: re.Match[str]) -> str:
        return _REFERENCE.sub(rf"\g<1>{name}-", tag[0].replace(INK, "currentColor"))

    return _TAG.sub(own, whole[whole.index("<svg") :])


@contextmanager
def _quietly() -> Iterator[None]:
    """A word that no font here can write is a box in a PNG, and right in a page: no warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield
