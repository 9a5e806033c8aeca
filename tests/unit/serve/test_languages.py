"""Names of languages, and guesses which one a text is in."""

from collections.abc import Sequence
from typing import cast

import pytest

from mute.data.tokenizer import Tokenizer
from mute.serve.languages import detect, name_of


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("de", "German"),
        ("EN", "English"),
        ("zh-TW", "Chinese (TW)"),
        ("tlh", "tlh"),
        ("deu", "German"),
    ],
)
def test_a_language_has_a_name_or_else_its_code(code: str, name: str) -> None:
    assert name_of(code) == name


class Words:
    """A tokenizer that has some words, and else the bytes of a character."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def encode(self, text: str, _side: str) -> list[int]:
        ids: list[int] = []
        for word in text.split():
            if word in self.words:
                ids.append(300 + self.words.index(word))
            else:
                ids += [4 + byte for byte in word.encode()]
        return ids

    def pieces(self, ids: Sequence[int], _side: str) -> list[str]:
        return [self.words[i - 300] if i >= 300 else f"<0x{i - 4:02X}>" for i in ids]


def sources(**words: str) -> list[tuple[str, Tokenizer]]:
    return [(code, cast("Tokenizer", Words(*known.split()))) for code, known in words.items()]


def test_the_language_whose_vocabulary_fits_comes_first() -> None:
    known = sources(en="the dog sleeps", de="der hund schläft")
    english, german = detect("the dog sleeps", known)
    assert (english.code, english.confidence) == ("en", 100)
    assert (german.code, german.confidence) == ("de", 0)
    assert detect("der hund", known)[0].code == "de"


def test_of_two_models_with_one_source_the_better_counts() -> None:
    known = [*sources(en="the"), *sources(en="the dog")]
    (guess,) = detect("the dog", known)
    assert guess.confidence == 100


def test_an_only_language_is_the_guess_but_no_sure_one() -> None:
    (guess,) = detect("der hund", sources(en="the dog"))
    assert guess == ("en", 0)
    assert detect("", sources(en="the dog")) == [("en", 0)]
