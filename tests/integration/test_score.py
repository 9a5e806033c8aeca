"""`mute score` and `mute compare`, as a user types them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.command import run


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {
        "ref": ["The dog runs in the park .", "A cat sleeps on the old house ."] * 30,
        "good": ["The dog runs in the park .", "A cat sleeps on the new house ."] * 30,
        "bad": ["The cat runs in a park .", "The cat sees an old house ."] * 30,
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return {name: str(tmp_path / name) for name in texts}


def test_score(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("score", files["good"], files["ref"], "--tokenize", "none", "--lowercase") == 0
    bleu, chrf = capsys.readouterr().out.splitlines()
    assert bleu.split()[0] == "BLEU"
    assert "case:lc" in bleu
    assert "tok:none" in bleu
    assert chrf.startswith("chrF2")
    assert run("score", files["ref"], files["good"], files["ref"], "--json") == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["BLEU"]["value"] == pytest.approx(100)
    assert scores["BLEU"]["signature"].startswith("nrefs:2")


def test_compare(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    systems = [files["bad"], files["good"], files["bad"], "--ref", files["ref"]]
    assert run("compare", *systems, "--samples", "100") == 0
    shown = capsys.readouterr().out
    assert "significantly better" in shown
    assert "††" in shown
    assert f"{files['bad']}: no significant difference" in shown
    assert "|test:bootstrap|samples:100|seed:1\n" in shown
    assert run("compare", *systems, "--samples", "100", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found[files["good"]]["p"] < 0.05
    assert found[files["bad"]]["difference"] == 0


def test_every_way_in_which_systems_were_compared_is_told(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where all draws are alike, the bootstrap has nothing to say, and another test is made."""
    same = shutil.copy(files["bad"], tmp_path / "same")
    systems = [files["bad"], files["good"], str(same), "--ref", files["ref"]]
    assert run("compare", *systems, "--samples", "100", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    signatures = {each["signature"] for each in found.values()}
    assert run("compare", *systems, "--samples", "100") == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(signatures) == 2
    assert signatures <= set(shown)


def test_names_that_differ_at_their_ends_can_be_told_apart(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / ("a" * 60)
    folder.mkdir()
    names = [shutil.copy(files[name], folder / f"{name}[de].txt") for name in ("bad", "good")]
    assert run("compare", *map(str, names), "--ref", files["ref"], "--samples", "10") == 0
    table = capsys.readouterr().out.split("significantly")[0]
    assert all(part in table for part in ("bad[de].txt", "good[de].txt"))


def test_a_terminal_without_the_signs_of_a_table_is_no_crash(files: dict[str, str]) -> None:
    command = ["compare", files["bad"], files["good"], "--ref", files["ref"], "--samples", "99"]
    done = subprocess.run(
        [sys.executable, "-m", "mute", *command],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=True,
    )
    assert b"significantly better" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tokenize", "moses"], "--tokenize moses: should be one of none, 13a"),
        (["--method", "luck"], "method luck: should be bootstrap or randomisation"),
    ],
)
def test_wrong_options_are_told(
    options: list[str], message: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("compare", files["bad"], files["good"], "--ref", files["ref"], *options) == 2
    assert message in capsys.readouterr().err


def test_a_system_that_is_named_twice_is_told(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("compare", files["bad"], *[files["good"]] * 2, "--ref", files["ref"]) == 2
    assert "given more than once; name each system once" in capsys.readouterr().err
