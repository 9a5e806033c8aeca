"""The sentences that a page offers."""

import pytest

from mute.config import TokenizerConfig
from mute.data.tokenizer import Tokenizer, learn_tokenizer
from mute.data.toy import pairs
from mute.serve.examples import examples_for

CAPTIONS = [
    ("a small dog runs through the deep snow .", "ein kleiner hund ."),
    ("two men are standing in front of an old house .", "zwei männer ."),
    ("the children are playing in the park with a red ball .", "die kinder ."),
] * 3


def tokenizer_of(text: list[tuple[str, str]], source: str = "en", **settings: object) -> Tokenizer:
    return learn_tokenizer(text, TokenizerConfig.model_validate(settings), (source, "xx"))


def test_a_model_of_tokenised_lower_case_text_is_shown_such_text() -> None:
    tokenizer = tokenizer_of(CAPTIONS, kind="moses-bpe", size=500, pretokenized=True)
    assert examples_for(tokenizer)[0] == "a small dog runs through the deep snow ."


def test_a_tokenizer_that_folds_case_itself_is_shown_text_as_people_write() -> None:
    tokenizer = tokenizer_of(CAPTIONS, kind="moses-bpe", size=500, lowercase=True)
    assert examples_for(tokenizer)[0] == "A small dog runs through the deep snow."


def test_the_demos_model_is_shown_sentences_of_its_own_words() -> None:
    text = list(pairs(2000, seed=1, split="train"))
    tokenizer = tokenizer_of(text, kind="sentencepiece", model="bpe", size=2000)
    assert examples_for(tokenizer)[0] == "A young cat did not sleep on Monday."


@pytest.mark.parametrize("source", ["en", "fr"])
def test_no_example_is_better_than_one_that_does_not_fit(source: str) -> None:
    text = [("Zyx qvut wq.", "Wvu zyx qt.")] * 20
    tokenizer = tokenizer_of(text, source, kind="moses-bpe", size=60)
    assert list(examples_for(tokenizer)) == []
