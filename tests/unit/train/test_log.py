import json
from pathlib import Path

import pytest

from mute.errors import MuteError
from mute.train.checkpoint import TrainState
from mute.train.log import best_step, forget_after, read_log


def write(run: Path, *records: tuple[str, int], end: str = "") -> None:
    lines = [
        json.dumps({"kind": kind, "step": step, "loss": 3.25}) + "\n" for kind, step in records
    ]
    (run / "log.jsonl").write_text("".join(lines) + end)


def read(run: Path) -> list[tuple[str, int]]:
    return [(record["kind"], record["step"]) for record in read_log(run)]


def test_a_line_that_a_killed_process_left_unfinished_is_no_record(tmp_path: Path) -> None:
    write(tmp_path, ("train", 1), ("validation", 2), end='{"kind": "tra')
    assert read(tmp_path) == [("train", 1), ("validation", 2)]


@pytest.mark.parametrize("line", ['{"kind": "uni', "\0\0\0", "[]", '{"kind": "train"}', ""])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    write(tmp_path, ("train", 1), end=line + "\n")
    with pytest.raises(MuteError, match=r"log.jsonl:2: not a record .* delete that line"):
        read_log(tmp_path)


def test_what_will_be_repeated_is_forgotten(tmp_path: Path) -> None:
    write(tmp_path, ("train", 5), ("train", 6), ("units", 6), ("validation", 6), ("train", 7))
    forget_after(tmp_path, TrainState(step=6, validated_step=6))
    kept = [("train", 5), ("train", 6), ("units", 6), ("validation", 6)]
    assert read(tmp_path) == kept
    forget_after(tmp_path, TrainState(step=6, validated_step=3))
    assert read(tmp_path) == kept[:2]


def test_a_run_without_a_log_has_nothing_to_forget(tmp_path: Path) -> None:
    forget_after(tmp_path, TrainState(step=6, validated_step=6))
    assert not (tmp_path / "log.jsonl").exists()


def test_the_model_that_is_kept_is_of_the_last_of_the_best_validations() -> None:
    scores = {100: 30.0, 200: 31.0, 300: 31.0, 400: 29.0}
    log = [{"kind": "validation", "step": step, "bleu": bleu} for step, bleu in scores.items()]
    assert best_step([{"kind": "train", "step": 500}, *log]) == 300
    assert best_step([]) == 0
