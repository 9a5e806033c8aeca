"""Sentences to try a model with, in words that it knows."""

import re
from collections.abc import Iterable, Sequence

from mute.data.tokenizer import Tokenizer
from mute.data.vocabulary import UNK
from mute.languages import base_language

LEAST_FIT = 0.7
"""Below it a vocabulary was made for texts of another kind."""

# A Chinese character is as good as a word.
_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+|[^\w\s]")
_MARK = re.compile(r"\s*([.,?!])")

_ANYTHING = {
    "en": (
        "A small dog runs through the deep snow.",
        "Two men are standing in front of an old house.",
        "The children are playing in the park with a red ball.",
    ),
    "de": (
        "Ein kleiner Hund rennt durch den tiefen Schnee.",
        "Zwei Männer stehen vor einem alten Haus.",
        "Die Kinder spielen im Park mit einem roten Ball.",
    ),
    "zh": ("小狗在雪地里跑。", "两个男人站在一座老房子前面。", "孩子们在公园里玩红色的球。"),
}
_EMBEDDED_CORPUS = {
    "en": (
        "A young cat did not sleep on Monday.",
        "We would like to copy the letter.",
        "The happy farmer repaired his garden lamp because the museum was dark.",
    ),
    "de": (
        "Eine junge Katze hat am Montag nicht geschlafen.",
        "Wir möchten den Brief abschreiben.",
        "Der glückliche Bauer hat seine Gartenlampe repariert, weil das Museum dunkel war.",
    ),
}


def examples_for(tokenizer: Tokenizer) -> Sequence[str]:
    """The sentences that a vocabulary fits best: those about anything, if all are alike to it.

    A vocabulary that knows words by heart was learned from text like theirs. So a model of
    tokenised lower-case text is shown such text, and one of a small corpus its own words.
    """
    language = base_language(tokenizer.languages[0])
    anything = _ANYTHING.get(language, ())
    kinds = (anything, [_tokenised(each) for each in anything], _EMBEDDED_CORPUS.get(language, ()))
    best = max(kinds, key=lambda sentences: _fit(sentences, tokenizer))
    return best if _fit(best, tokenizer) >= LEAST_FIT else ()


def _tokenised(sentence: str) -> str:
    return _MARK.sub(r" \1", sentence.lower())


def _fit(sentences: Iterable[str], tokenizer: Tokenizer) -> float:
    """Words over the pieces needed for them, at most 1; 0 if a piece is not known."""
    words = pieces = 0
    for sentence in sentences:
        ids = tokenizer.encode(sentence, "source")
        if UNK in ids:
            return 0.0
        words += len(_WORD.findall(sentence))
        pieces += len(ids)
    return min(1.0, words / pieces) if pieces else 0.0
