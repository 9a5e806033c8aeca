import pytest

from mute.errors import MuteError
from mute.translate.options import check_combination, parse_units


@pytest.mark.parametrize(
    ("words", "units"),
    [
        ([], None),
        (["0,2"], [0, 2]),
        (["1"], [1]),
        (["1:0,2", "0:1"], {1: [0, 2], 0: [1]}),
    ],
)
def test_units_of_all_layers_or_of_some(words: list[str], units: object) -> None:
    assert parse_units(words) == units


@pytest.mark.parametrize("words", [["a"], [""], ["0,"], ["a:0"], ["1:"], ["0", "1"], ["1:0", "0"]])
def test_units_written_in_another_way_are_refused(words: list[str]) -> None:
    with pytest.raises(MuteError, match=f"--units {words[-1]}: "):
        parse_units(words)


@pytest.mark.parametrize(
    "given",
    [
        [],
        ["--beam", "--nbest", "--prefix", "--json", "--attention"],
        ["--sample", "--temperature", "--top-p", "--seed", "--prefix", "--nbest"],
        ["--forced", "--json", "--length-penalty", "--units"],
    ],
)
def test_options_that_go_together(given: list[str]) -> None:
    check_combination(given)
