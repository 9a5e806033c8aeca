"""`mute score` and `mute compare`, as a user types them."""

import json
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tokenize", "moses"], "--tokenize moses: should be one of none, 13a"),
        (["--method", "luck"], "--method luck: should be bootstrap or randomisation"),
    ],
)
def test_wrong_options_are_told(
    options: list[str], message: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("compare", files["bad"], files["good"], "--ref", files["ref"], *options) == 2
    assert message in capsys.readouterr().err
