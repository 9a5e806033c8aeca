"""Reading what is to be scored: plain text, .gz, .xz, or NIST's SGML."""

import re
from collections.abc import Sequence
from pathlib import Path

from mute.data.lines import read_text
from mute.data.markup import unescape
from mute.data.places import is_sgml
from mute.errors import MuteError

# A file of NIST's may have the references of several people, one of WMT's all there is of a text.
_TRANSLATOR = re.compile(
    r"""<(?:doc|ref|hyp)\b[^>]*?\b(?:sysid|translator|system)\s*=\s*["']([^"']*)""", re.IGNORECASE
)
_SIDE = re.compile(r"<(src|ref|hyp)\b", re.IGNORECASE)
# One that stands in a segment is part of it.
_COMMENT = re.compile(r"<!--(?:(?!</seg>).)*?-->", re.DOTALL | re.IGNORECASE)
_BEGINNING = re.compile(r"<seg\b", re.IGNORECASE)
_SEGMENT = re.compile(r"<seg\b[^>]*?(?:/>|>((?:(?!<seg\b).)*?)</seg>)", re.DOTALL | re.IGNORECASE)


def read_segments(path: Path | str) -> list[str]:
    """The lines of a text, or the segments of an SGML file; none is dropped, not even empty ones.

    Raises:
        MuteError: the file cannot be read, is not UTF-8, or is SGML of several texts or none.
    """
    path = Path(path)
    if not path.exists():
        raise MuteError(f"{path}: no such file")
    if path.is_dir():
        raise MuteError(f"{path}: is a folder; give a file")
    lines = list(read_text(path))
    if not is_sgml(path):
        return lines
    text = _COMMENT.sub("", "\n".join(lines))
    for several in (_SIDE.findall(text), _TRANSLATOR.findall(text)):
        if len(set(several)) > 1:
            raise MuteError(
                f"{path}: holds several texts ({', '.join(sorted(set(several)))}); write each to a "
                f"file of its own"
            )
    segments = [unescape(each).strip() for each in _SEGMENT.findall(text)]
    if not segments:
        raise MuteError(f"{path}: SGML without a <seg>")
    if len(segments) < (begun := len(_BEGINNING.findall(text))):
        raise MuteError(f"{path}: of its {begun:,} <seg>, only {len(segments):,} have an end")
    return segments


def read_parallel(paths: Sequence[Path | str]) -> list[list[str]]:
    """Several files that must have equally many segments.

    Raises:
        MuteError: they have not; the counts are named.
    """
    texts = [read_segments(path) for path in paths]
    for path, text in zip(paths, texts, strict=True):
        if len(text) != len(texts[0]):
            raise MuteError(
                f"{paths[0]} has {len(texts[0]):,} lines, but {path} has {len(text):,}; "
                f"a score needs a line of each for every sentence"
            )
    if not texts[0]:
        raise MuteError(f"{paths[0]}: is empty; there is nothing to score")
    return texts
