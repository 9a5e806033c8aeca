import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesPunctNormalizer, MosesTokenizer

from mute.data.words import ChineseWords, MosesWords

from .sentences import sentences

SLOW = r'(\.+)"(\s*[^<])'
"""Costs the square of a run of dots."""
THEIRS = MosesPunctNormalizer("de")
OURS = MosesWords("de")._normalizer


@pytest.mark.parametrize("language", ["de", "es", "fr"])
def test_no_pattern_costs_the_square_of_a_run_of_dots(language: str) -> None:
    assert SLOW in dict(MosesPunctNormalizer(language).substitutions)  # or ours has lost its reason
    words = MosesWords(language)
    assert SLOW not in dict(words._normalizer.substitutions)
    assert "".join(words.split("…" * 50_000)) == "." * 150_000


@given(st.text("..'a.Bé m5"))
def test_words_with_dots_are_cut_as_sacremoses_does(text: str) -> None:
    theirs = MosesTokenizer("de").tokenize(THEIRS.normalize(text), escape=False)
    assert MosesWords("de").split(text) == theirs


def test_all_letters_are_not_looked_up_for_every_word_with_dots() -> None:
    words = MosesWords("de")
    words._tokenizer.IsAlpha = words._tokenizer.IsLower = None  # or sets are made of them
    assert words.split("um 5 a.m. und ...'.") != []


@given(st.text('..""< a,…»\n'))
def test_punctuation_is_normalised_as_sacremoses_does(text: str) -> None:
    assert OURS.normalize(text) == THEIRS.normalize(text)


def test_ordinary_sentences_are_normalised_as_sacremoses_does() -> None:
    for text in (*sentences("de"), "Er sagte: „Ich komme ...“ und ging.", '"Ja." "Nein."'):
        assert OURS.normalize(text) == THEIRS.normalize(text)


@pytest.mark.parametrize("code", ["fr", "fr-CA", "fra_Latn", "FR"])
def test_a_region_or_a_script_keeps_the_languages_rules(code: str) -> None:
    words = MosesWords(code)
    assert words.join(words.split("L'homme d'eau")) == "L'homme d'eau"


def test_an_endless_run_of_characters_is_given_to_jieba_in_parts() -> None:
    """It takes the square of its length."""
    words, given = ChineseWords(), list[str]()

    class Noting:
        def cut(self, text: str) -> list[str]:
            given.append(text)
            return list(text)

    words._jieba = Noting()
    text = "龘" * 3500
    assert "".join(words.split(text)) == "".join(given) == text
    assert max(map(len, given)) <= 1000
