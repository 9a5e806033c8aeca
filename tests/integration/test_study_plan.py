"""What `mute study --dry-run` says that a study would do."""

from pathlib import Path

import pytest

from mute.studies.definitions import STUDIES, Study, System
from tests.integration.command import run

SEQ = System("seq", "MUTE + Bias + Seq", "toy")
ALONE = Study("alone", "one system", (SEQ,), baseline="seq", figures=())


def test_a_seed_that_is_named_twice_is_one_run(
    experiment_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "toy.yaml").write_text(f"extends: {experiment_file}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(STUDIES, ALONE.name, ALONE)
    assert run("study", "alone", "--task", "toy", "--seeds", "2,1,2", "--dry-run") == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown if "-seed" in line] == ["seq-seed2", "seq-seed1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tables", "--dry-run"], "--tables: makes the tables of all results that there are"),
        (["--seeds", "1,-3"], "--seeds 1,-3: should be numbers from 0 on"),
    ],
)
def test_what_a_study_cannot_be_asked_for_is_told(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("study", "main", *options) == 2
    assert message in capsys.readouterr().err
