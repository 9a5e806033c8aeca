"""`mute info`, as a user types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def mute(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mute", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_config_by_part(tmp_path: Path) -> None:
    config = tmp_path / "full.yaml"
    config.write_text("model: {preset: tiny, units: 4, bias: [swap, mask], sequential: true}\n")
    done = mute("info", str(config), "--vocab-size", "1000,2000", "--set", "model.units=3")
    assert done.returncode == 0, done.stderr
    rows = [line.strip().rsplit(maxsplit=1) for line in done.stdout.splitlines()]
    lines = {row[0].strip(): row[1] for row in rows if len(row) == 2}
    assert lines["source embedding"] == "128,000"
    assert lines["target embedding"] == "256,000"
    assert lines["encoder permutations"] == str(4 * 9)
    assert lines["encoder mask vectors"] == str(4 * 128)


@pytest.mark.parametrize("preset", ["tiny", "small", "base", "big"])
def test_every_preset_shows_every_system(preset: str) -> None:
    done = mute("info", preset, "--json")
    assert done.returncode == 0, done.stderr
    systems = json.loads(done.stdout)
    assert list(systems) == ["Transformer", "+ Relative", "MUTE", "+ Bias", "+ Bias + Seq"]
    totals = [sum(parts.values()) for parts in systems.values()]
    assert totals == sorted(totals)
    assert "encoder permutations" in systems["+ Bias + Seq"]
    assert preset in mute("info").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "hugo"], "mute: 'hugo' is neither a config file (.yaml) nor a preset (tiny,"),
        (["info", "no.yaml"], "mute: no.yaml: cannot be read (No such file or directory)"),
        (["info", "--vocab-size", "many"], "mute: --vocab-size many: should be a number"),
        (["info", "base", "--set", "a=b"], "mute: --set changes a config file"),
    ],
)
def test_a_mistake_is_one_sentence_without_a_traceback(arguments: list[str], message: str) -> None:
    done = mute(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert len(done.stderr.splitlines()) == 1


def test_the_version() -> None:
    assert mute("--version").stdout.startswith("0.")
