"""Languages: what they are called, and which one a text is in."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mute.data.tokenizer import Tokenizer
from mute.data.vocabulary import BYTE, UNK
from mute.languages import base_language

LOOKED_AT = 2000
"""Characters of a text that a guess is made from."""

_NAMES = """
af Afrikaans, am Amharic, ar Arabic, az Azerbaijani, be Belarusian, bg Bulgarian, bn Bengali,
bs Bosnian, ca Catalan, cs Czech, cy Welsh, da Danish, de German, el Greek, en English,
eo Esperanto, es Spanish, et Estonian, eu Basque, fa Persian, fi Finnish, fr French, ga Irish,
gl Galician, gu Gujarati, he Hebrew, hi Hindi, hr Croatian, hu Hungarian, hy Armenian,
id Indonesian, is Icelandic, it Italian, ja Japanese, ka Georgian, kk Kazakh, km Khmer,
kn Kannada, ko Korean, ky Kyrgyz, la Latin, lo Lao, lt Lithuanian, lv Latvian, mk Macedonian,
ml Malayalam, mn Mongolian, mr Marathi, ms Malay, mt Maltese, my Burmese, nb Norwegian Bokmål,
ne Nepali, nl Dutch, nn Norwegian Nynorsk, no Norwegian, pa Punjabi, pl Polish, ps Pashto,
pt Portuguese, ro Romanian, ru Russian, si Sinhala, sk Slovak, sl Slovenian, so Somali,
sq Albanian, sr Serbian, sv Swedish, sw Swahili, ta Tamil, te Telugu, tg Tajik, th Thai,
tl Tagalog, tr Turkish, uk Ukrainian, ur Urdu, uz Uzbek, vi Vietnamese, xh Xhosa, yo Yoruba,
zh Chinese, zu Zulu
"""
_BY_CODE = dict(entry.split(maxsplit=1) for entry in " ".join(_NAMES.split()).split(", "))


class Guess(NamedTuple):
    """A language, and how well a text fits it: 0 to 100."""

    code: str
    confidence: float


def name_of(code: str) -> str:
    """The English name of a language; the code itself if it is not known."""
    _, *region = re.split("[-_]", code)
    name = _BY_CODE.get(base_language(code), code)
    return f"{name} ({' '.join(region)})" if region and name != code else name


def detect(text: str, sources: Iterable[tuple[str, Tokenizer]]) -> list[Guess]:
    """Which of some languages a text is in, the best guess first.

    A vocabulary is made for its language: it knows its script, and needs few pieces for its
    words. The confidence is the share of the text's pieces that a vocabulary knows, times the
    fewest pieces that any of the vocabularies needs over those that this one does. This tells
    scripts apart and languages with vocabularies of their own, not those that share one.

    Args:
        text: its beginning is looked at
        sources: codes, with the tokenizers whose source language they are
    """
    start = text[:LOOKED_AT]
    found = [(code, _pieces(start, tokenizer)) for code, tokenizer in sources]
    fewest = min((len(pieces) for _, pieces in found), default=0)
    best: dict[str, float] = {}
    for code, known in found:
        fit = sum(known) / len(known) * fewest / len(known) if known else 0.0
        best[code] = max(best.get(code, 0.0), round(100 * fit, 1))
    return sorted((Guess(*each) for each in best.items()), key=lambda guess: -guess.confidence)


def _pieces(text: str, tokenizer: Tokenizer) -> Sequence[bool]:
    """For each piece of a text whether the vocabulary knows it, not just the bytes of it."""
    ids = tokenizer.encode(text, "source")
    names = tokenizer.pieces(ids, "source")
    return [
        piece != UNK and not BYTE.fullmatch(name) for piece, name in zip(ids, names, strict=True)
    ]
