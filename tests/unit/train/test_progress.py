import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from mute.train.progress import Progress


def test_the_live_line_fits_a_terminal_of_80_columns(tmp_path: Path) -> None:
    progress = Progress(tmp_path, 0, 100_000)
    train = {"loss": 5.6421, "perplexity": 140.04, "learning_rate": 0.002236}
    progress.record("train", 12_400, train | {"tokens_per_second": 14184.2})
    progress.record("validation", 12_400, {"loss": 4.1111, "perplexity": 60.8, "best_bleu": 41.04})
    progress.advance(12_400, 2000)
    shown_in = io.StringIO()
    Console(file=shown_in, width=80).print(progress._bar.get_renderable())
    progress.close()
    (line,) = shown_in.getvalue().splitlines()
    for shown in ("12400/100000", "loss 5.642", "ppl 140", "tok/s 14,184", "BLEU 41.04"):
        assert shown in line
    assert "…" not in line


def test_what_is_not_finite_is_null_in_the_log(tmp_path: Path) -> None:
    progress = Progress(tmp_path, 0, 10)
    progress.record("train", 1, {"loss": float("nan"), "gradient_norm": float("inf"), "epoch": 0})
    progress.close()

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    (line,) = (tmp_path / "log.jsonl").read_text().splitlines()
    record = json.loads(line, parse_constant=refuse)
    assert record == {"kind": "train", "step": 1, "loss": None, "gradient_norm": None, "epoch": 0}


def test_a_record_without_numbers_to_show_prints_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(tmp_path, 0, 10)
    progress.record("refused", 1, {"in_a_row": 1, "lines": ["a:1"]})
    progress.record("validation", 1, {"bleu": 5.0})
    progress.close()
    assert capsys.readouterr().err == "validation 1: bleu 5\n"
