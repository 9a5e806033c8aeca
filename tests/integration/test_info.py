"""`mute info`, as a user types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.command import run


def test_a_config_by_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "full.yaml"
    config.write_text("model: {preset: tiny, units: 4, bias: [swap, mask], sequential: true}\n")
    run("info", str(config), "--vocab-size", "1000,2000", "--set", "model.units=3")
    rows = [line.strip().rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    lines = {row[0].strip(): row[1] for row in rows if len(row) == 2}
    assert lines["source embedding"] == "128,000"
    assert lines["target embedding"] == "256,000"
    assert lines["encoder permutations"] == str(4 * 9)
    assert lines["encoder mask vectors"] == str(4 * 128)


def test_the_vocabulary_is_that_of_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = [f"a {word} b" for word in ("dog", "cat", "cow", "hen") * 5]
    Path("text").write_text("\n".join(text) + "\n")
    Path("mine.yaml").write_text(
        "model: {preset: tiny}\n"
        "data: {source: en, target: de, prepared: made, train: [{source: text, target: text}],\n"
        "  dev: {source: text, target: text}, tokenizer: {kind: moses-bpe, size: 40}}\n"
    )
    run("info", "mine.yaml")
    assert "with a vocabulary of 40: a guess" in capsys.readouterr().out
    run("prepare", "mine.yaml")
    capsys.readouterr()
    run("info", "mine.yaml")
    known = capsys.readouterr().out
    entries = int(known.split("with a vocabulary of ")[1].split()[0])
    assert f"{128 * entries:,}" in known
    run("info", "mine.yaml", "--vocab-size", "1000")
    assert "with a vocabulary of 1,000" in capsys.readouterr().out


def test_a_preset_goes_before_a_folder_and_large_counts_stay_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("big").mkdir()
    assert run("info", "big", "--vocab-size", "300000") == 0
    shown = capsys.readouterr().out
    assert "1.02G" in shown
    assert "with a vocabulary of 300,000" in shown


@pytest.mark.parametrize("preset", ["tiny", "small", "base", "big"])
def test_every_preset_shows_every_system(preset: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("info", preset, "--json")
    systems = json.loads(capsys.readouterr().out)
    assert list(systems) == ["Transformer", "+ Relative", "MUTE", "+ Bias", "+ Bias + Seq"]
    totals = [sum(parts.values()) for parts in systems.values()]
    assert totals == sorted(totals)
    assert "encoder permutations" in systems["+ Bias + Seq"]


def test_without_an_argument_every_preset_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    run("info")
    shown = capsys.readouterr().out
    assert all(preset in shown for preset in ("tiny", "small", "base", "big"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["info", "hugo"],
            "mute: 'hugo' is neither a config file (.yaml), nor a folder with a model, nor a",
        ),
        (["info", "no.yaml"], "mute: no.yaml: cannot be read (No such file or directory)"),
        (["info", "--vocab-size", "many"], "mute: --vocab-size many: should be a number"),
        (["info", "--vocab-size", "9" * 20], "mute: --vocab-size 99999999999999999999: should be"),
        (["info", ".", "--vocab-size", "9"], "mute: .: a model has its own vocabulary; leave"),
        (["info", "base", "--set", "a=b"], "mute: --set changes a config file"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith(message)
    assert len(told.splitlines()) == 1


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mute", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("0.")
