"""Codes of languages, with or without a region or a script: zh, zho_Hans, de-AT."""

import re

_NO_SPACES = frozenset(
    {
        "bo",
        "cmn",
        "dz",
        "gan",
        "hak",
        "ja",
        "km",
        "lo",
        "lzh",
        "my",
        "nan",
        "th",
        "wuu",
        "yue",
        "zh",
    }
)
_THREE_LETTERS = (
    *("bod:bo", "cat:ca", "ces:cs", "deu:de", "dzo:dz", "ell:el", "eng:en", "fin:fi", "fra:fr"),
    *("gle:ga", "hun:hu", "isl:is", "ita:it", "jpn:ja", "khm:km", "lao:lo", "lav:lv", "lit:lt"),
    *("mya:my", "nld:nl", "pol:pl", "por:pt", "ron:ro", "rus:ru", "slk:sk", "slv:sl", "spa:es"),
    *("swe:sv", "tam:ta", "tha:th", "zho:zh", "asm:as", "ben:bn", "est:et", "guj:gu", "hin:hi"),
    *("kan:kn", "mal:ml", "mar:mr", "ory:or", "pan:pa", "tel:te"),
    # The older codes that libraries use.
    *("bur:my", "chi:zh", "cze:cs", "dut:nl", "fre:fr", "ger:de", "gre:el", "ice:is", "rum:ro"),
    *("slo:sk", "tib:bo"),
)
"""Of the languages that have rules of their own, here or in Moses."""
_SHORT = dict(pair.split(":") for pair in _THREE_LETTERS)


def base_language(code: str) -> str:
    """The language alone, in two letters if it has rules of its own: de of deu_Latn and de-AT."""
    base = re.split(r"[-_]", code.lower())[0]
    return _SHORT.get(base, base)


def is_chinese(code: str) -> bool:
    """Whether a code means Chinese."""
    return base_language(code) in {"cmn", "zh"}


def writes_spaces(code: str) -> bool:
    """Whether a language has spaces between its words."""
    return base_language(code) not in _NO_SPACES
