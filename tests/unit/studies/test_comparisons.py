import json
from pathlib import Path
from typing import Any

import pytest

from mute.evaluate.counts import count_sentences, pack
from mute.studies.comparisons import FILE, compare_runs
from mute.studies.definitions import RELATIVE, SEQ, Study
from mute.studies.results import results_folder
from tests.unit.studies.made_up import result

STUDY = Study("some", "something", (RELATIVE, SEQ))
REFERENCES = [f"the cat number {number} sleeps near the old house" for number in range(30)]
GOOD = [line.replace("old", "big") for line in REFERENCES]
BAD = [line.replace("sleeps near", "runs to") for line in REFERENCES]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def counted(lines: list[str]) -> dict[str, dict[str, str]]:
    counts, _ = count_sentences(lines, [REFERENCES[: len(lines)]])
    return {"counts": {"news": pack(counts)}}


def compared() -> Any:
    compare_runs(STUDY, "toy")
    found = json.loads((results_folder("some", "toy") / FILE).read_text())
    return found["seq-seed1"]["news"]


def test_the_results_alone_tell_whether_a_difference_is_significant() -> None:
    result("some", "relative", 1, 40, {"news": 40}, **counted(BAD))
    result("some", "seq", 1, 41, {"news": 41}, **counted(GOOD))
    found = compared()
    assert found["difference"] > 5
    assert found["p"] < 0.01
    # All sentences are alike here, so that the bootstrap has nothing to draw from.
    assert found["signature"].startswith("nrefs:1|tok:none|test:randomisation")


def test_results_without_counts_are_not_compared_but_what_was_known_of_them_stays() -> None:
    result("some", "relative", 1, 40, {"news": 40}, **counted(BAD))
    result("some", "seq", 1, 41, {"news": 41})
    assert compared() is None
    result("some", "seq", 1, 41, {"news": 41}, **counted(GOOD))
    known = compared()
    result("some", "seq", 1, 41, {"news": 41})
    assert compared() == known


def test_corrected_references_are_compared_anew() -> None:
    """The translations are the same, what BLEU counts in them is not."""
    result("some", "relative", 1, 40, {"news": 40}, **counted(BAD))
    result("some", "seq", 1, 41, {"news": 41}, **counted(GOOD))
    before = compared()["difference"]
    result("some", "relative", 1, 40, {"news": 40}, **counted(GOOD))
    result("some", "seq", 1, 41, {"news": 41}, **counted(BAD))
    assert compared()["difference"] == pytest.approx(-before)


def test_a_test_set_that_has_changed_in_between_is_not_compared() -> None:
    result("some", "relative", 1, 40, {"news": 40}, **counted(BAD[:20]))
    result("some", "seq", 1, 41, {"news": 41}, **counted(GOOD))
    assert compared() is None


def test_what_has_lost_its_baseline_is_not_significant_any_more() -> None:
    result("some", "relative", 1, 40, {"news": 40}, **counted(BAD))
    result("some", "seq", 1, 41, {"news": 41}, **counted(GOOD))
    compared()
    (results_folder("some", "toy") / "relative-seed1.json").unlink()
    compare_runs(STUDY, "toy")
    assert json.loads((results_folder("some", "toy") / FILE).read_text()) == {}


@pytest.mark.parametrize("what", ["references", "signature"])
def test_scores_that_are_of_other_references_or_counted_otherwise_are_not_compared(
    what: str,
) -> None:
    result("some", "relative", 1, 40, {"news": 40}, **counted(BAD))
    result("some", "seq", 1, 41, {"news": 41}, **counted(GOOD))
    for system, value in (("relative", "before"), ("seq", "after")):
        file = results_folder("some", "toy") / f"{system}-seed1.json"
        content = json.loads(file.read_text())
        content["tests"]["news"][what] = value
        file.write_text(json.dumps(content))
    assert compared() is None
