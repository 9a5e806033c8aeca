"""What benchmarks make of what they see: the measuring itself takes too long for a test."""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)


def groups(module: str, lines: Sequence[str]) -> list[tuple[str, ...]]:
    """What a benchmark reads from a program that says these lines and goes on for ever."""
    peers, record = import_module("peers"), import_module(module).RECORD
    program = f"import time\nprint({chr(10).join(lines)!r}, flush=True)\ntime.sleep(600)"
    found = peers.watch([sys.executable, "-c", program], record, 2, BENCHMARKS)
    return [match.groups() for match in found]


def test_the_speeds_of_every_program_are_read() -> None:
    ours = (
        "train {}: loss 8.1 perplexity 3412 learning_rate 0.0002 tokens_per_second {} padding 0.03"
    )
    assert groups("train", ["hello", ours.format(50, "9876"), ours.format(100, "12,345")]) == [
        ("9876",),
        ("12,345",),
    ]
    eole = (
        "[INFO] Step   {}/1000000; acc: 3.1; ppl: 8712.2; lr: 0.00001; sents:    1460; "
        "bsz: 1870/1893/ 146; 4455/4512 tok/s;      {} sec;"
    )
    assert groups("eole", [eole.format(10, 4), eole.format(20, 8)]) == [("1893", "4512")] * 2
    joeynmt = "Epoch   1, Step:  {}, Batch Loss:  9.2, Tokens per Sec:     {}, Lr: 0.00001"
    assert groups("joeynmt", [joeynmt.format(10, 1234), joeynmt.format(20, 1300)]) == [
        ("1234",),
        ("1300",),
    ]


def test_a_program_that_ends_early_is_an_error_with_its_last_words() -> None:
    with pytest.raises(SystemExit, match="ended too early:\nno such option"):
        import_module("peers").watch(
            [sys.executable, "-c", "print('no such option')"], "tok/s", 1, BENCHMARKS
        )


def test_ratios_are_of_medians_and_judged_by_their_targets() -> None:
    train: Any = import_module("train")

    def runs(*speeds: float) -> list[Any]:
        return [train.Speed(each, 1900.0) for each in speeds]

    found = train.summarise(
        {train.ONE: runs(6000, 6200), train.JOEYNMT.name: runs(1000, 1000), train.FULL: runs(3000)}
    )
    title = "mute one unit / JoeyNMT"
    assert found["ratios"][title] == 6.1
    assert found["targets"][title] == {"at_least": 6.0, "reached": True}
    assert "mute one unit / Eole" not in found["ratios"]  # it was left out
