"""`mute shortlist`, as a user types it."""

import inspect
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from mute.cli.translating import shortlist_command
from mute.config import ModelConfig
from mute.configfile import load_config
from mute.data.prepared import Prepared, load_prepared
from mute.model.folder import save_model
from mute.model.transformer import build
from mute.translate import command
from mute.translate.command import identity_of
from mute.translate.options import Options
from mute.translate.shortlist import FREQUENT, PER_WORD, load_shortlist
from tests.integration.command import run


@pytest.fixture(scope="module")
def prepared(experiment_file: Path) -> Prepared:
    data = load_config(experiment_file).data
    assert data is not None
    return load_prepared(data)


@pytest.fixture
def run_folder(prepared: Prepared, tmp_path: Path) -> Path:
    tokenizer = prepared.tokenizer
    config = ModelConfig(d_model=8, d_ffn=8, heads=2, encoder_layers=1, decoder_layers=1)
    model = build(config, (tokenizer.source_size, tokenizer.target_size))
    weights = dict(model.named_parameters())
    save_model(tmp_path / "run" / "model", config, weights, tokenizer, max_length=100)
    return tmp_path / "run"


def test_it_is_put_into_the_model_folder_and_measured(
    experiment_file: Path,
    run_folder: Path,
    prepared: Prepared,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ["--per-word", "8", "--frequent", "50"]
    assert run("shortlist", str(run_folder), str(experiment_file), *options) == 0
    assert (run_folder / "model" / "shortlist.safetensors").is_file()
    told = capsys.readouterr().out
    shortlist = load_shortlist(run_folder, 500, 500)
    found = total = 0
    for index in range(len(prepared.dev)):
        source, target = prepared.dev[index]
        allowed = shortlist.allowed(torch.tensor([source.tolist()]))[0].tolist()
        found += sum(allowed[each] for each in target.tolist())
        total += len(target)
    assert f"{found / total:.2%} of the target pieces" in told
    assert found / total > 0.9
    assert "of 500 pieces" in told


def test_an_ensemble_has_that_of_its_first_model(
    experiment_file: Path, run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From file to file, too, where what it was decides whether a job is the same."""
    jobs: list[dict[str, Any]] = []

    def noted(options: Options, models: Sequence[Path]) -> dict[str, Any]:
        jobs.append(identity_of(options, models))
        return jobs[-1]

    monkeypatch.setattr(command, "identity_of", noted)
    shutil.copytree(run_folder, tmp_path / "other")
    (tmp_path / "in").write_text("a dog\n")
    files = ["-i", str(tmp_path / "in"), "-o", str(tmp_path / "out")]
    models = [str(run_folder), str(tmp_path / "other")]
    for frequent in ("500", "10"):
        options = ["--per-word", "1", "--frequent", frequent]
        assert run("shortlist", str(run_folder), str(experiment_file), *options) == 0
        assert run("translate", *models, "--shortlist", "--beam", "1", *files) == 0
        assert (tmp_path / "out").read_text().count("\n") == 1
    assert jobs[0] != jobs[1]


def test_a_model_of_the_other_direction_is_refused(
    experiment_file: Path,
    run_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its vocabulary is the same, if that is joint."""
    model = tmp_path / "reverse"
    shutil.copytree(run_folder / "model", model)
    (settings,) = model.glob("tokenizer/*.json")
    turned = json.loads(settings.read_text())
    turned["languages"] = turned["languages"][::-1]
    settings.write_text(json.dumps(turned))
    assert run("shortlist", str(model), str(experiment_file)) == 2
    assert "reverse: translates de to en, but" in capsys.readouterr().err


def test_a_model_of_another_vocabulary_is_refused(
    experiment_file: Path,
    run_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = ["--set", f"data.prepared={tmp_path}/other", "--set", "data.tokenizer.size=450"]
    assert run("prepare", str(experiment_file), *other) == 0
    assert run("shortlist", str(run_folder), str(experiment_file), *other) == 2
    told = capsys.readouterr().err
    assert f"{run_folder}: has another vocabulary than {tmp_path}/other; give the config" in told
    assert not (run_folder / "model" / "shortlist.safetensors").exists()


def test_a_config_without_data_is_told(
    run_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.yaml").write_text("model: {preset: tiny}\n")
    assert run("shortlist", str(run_folder), str(tmp_path / "c.yaml")) == 2
    assert "has no 'data:' section" in capsys.readouterr().err


def test_the_command_has_the_defaults_of_the_module() -> None:
    defaults = inspect.signature(shortlist_command).parameters
    assert defaults["per_word"].default == PER_WORD
    assert defaults["frequent"].default == FREQUENT
