import pytest

from mute.analysis.maps import attention_maps, choose_lines
from mute.errors import MuteError
from tests.unit.analysis.models import LINES, tokenizer, translator


def test_maps_have_a_row_that_sums_to_one_for_each_piece_and_the_end() -> None:
    model = translator(units=3).models[0]
    first, second = attention_maps(model, tokenizer(), LINES, [3, 1])
    assert (first.line, second.line) == (3, 1)
    assert first.tokens[-1] == "</s>"
    assert "".join(first.tokens[:-1]).replace("▁", " ").strip() == LINES[2]
    assert [len(layer) for layer in first.weights] == [3, 3]
    for unit in first.weights[1]:
        assert len(unit) == len(first.tokens)
        assert [sum(row) for row in unit] == pytest.approx([1] * len(unit))


def test_a_shared_attention_is_shown_once_and_a_convolution_not() -> None:
    shared = translator(units=3, shared="attention").models[0]
    (maps,) = attention_maps(shared, tokenizer(), LINES, [1])
    assert [len(layer) for layer in maps.weights] == [1, 1]
    convolution = translator(units=3, unit="convolution").models[0]
    assert attention_maps(convolution, tokenizer(), LINES, [1]) == []


def test_the_first_sentences_are_shown_if_none_are_chosen() -> None:
    lines = ["", "The dog sleeps. " * 30, *LINES, *LINES]
    assert choose_lines("", lines, tokenizer(), 20) == [3, 5, 6]
    assert choose_lines("", LINES, tokenizer(), 20) == [1, 3, 4]


def test_lines_are_chosen_by_number() -> None:
    assert choose_lines("4,1,4", LINES, tokenizer(), 20) == [4, 1]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("one", "--show one: should be numbers of lines, as in 1,5"),
        ("1,", "--show 1,: should be numbers of lines, as in 1,5"),
        ("0", "--show 0: the text has lines 1 to 4"),
        ("5", "--show 5: the text has lines 1 to 4"),
        ("2", "--show 2: the line has 0 pieces, but the model takes 1 to 5; choose another one"),
        ("3", r"--show 3: the line has \d+ pieces, but the model takes 1 to 5; choose another"),
    ],
)
def test_lines_that_cannot_be_shown_are_named(chosen: str, message: str) -> None:
    with pytest.raises(MuteError, match=message):
        choose_lines(chosen, LINES, tokenizer(), 5)
