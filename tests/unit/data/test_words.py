import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesPunctNormalizer

from mute.data.words import MosesWords, writes_spaces

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


@given(st.text('..""< a,…»\n'))
def test_punctuation_is_normalised_as_sacremoses_does(text: str) -> None:
    assert OURS.normalize(text) == THEIRS.normalize(text)


def test_ordinary_sentences_are_normalised_as_sacremoses_does() -> None:
    for text in (*sentences("de"), "Er sagte: „Ich komme ...“ und ging.", '"Ja." "Nein."'):
        assert OURS.normalize(text) == THEIRS.normalize(text)


@pytest.mark.parametrize("code", ["ja", "JA", "jpn_Jpan", "th", "khm", "lo-LA", "mya", "yue", "zh"])
def test_some_languages_write_no_spaces(code: str) -> None:
    assert not writes_spaces(code)


@pytest.mark.parametrize("code", ["en", "ko", "vi_VN", "jv", "jav"])
def test_most_languages_write_spaces(code: str) -> None:
    assert writes_spaces(code)
