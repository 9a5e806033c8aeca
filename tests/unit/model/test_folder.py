"""Model folders: whole, or with a word on what is missing."""

import os
from pathlib import Path

import pytest
import torch

from mute.config import TokenizerConfig
from mute.data.tokenizer import learn_tokenizer
from mute.errors import MuteError
from mute.model.folder import load_model, save_model
from mute.model.transformer import build
from tests.unit.data.sentences import pairs
from tests.unit.full_disk import said_on_a_full_disk
from tests.unit.model.oracle import small


def saved(folder: Path) -> None:
    tokenizer = learn_tokenizer(pairs("en", "de"), TokenizerConfig(size=330), ("en", "de"))
    torch.manual_seed(1)
    model = build(small(), (tokenizer.source_size, tokenizer.target_size))
    save_model(folder, model.config, dict(model.named_parameters()), tokenizer, max_length=33)


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_model_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    saved(tmp_path)
    before = content(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"another one")
    saved(tmp_path)
    assert content(tmp_path) == before
    load_model(tmp_path)


def test_a_model_can_be_read_by_those_who_may_read_other_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        saved(tmp_path)
    finally:
        os.umask(before)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    modes = {path.name: path.stat().st_mode & 0o777 for path in files}
    assert set(modes.values()) == {0o640}, modes


def test_on_a_full_disk_the_model_stays_what_it_was(tmp_path: Path) -> None:
    saved(tmp_path)
    before = content(tmp_path)
    room_for_the_tokenizer = max(
        len(before[name]) for name in before if name != "model.safetensors"
    )
    assert room_for_the_tokenizer < len(before["model.safetensors"])
    told = said_on_a_full_disk(f"""
from mute.model.folder import load_model, save_model
folder = Path({str(tmp_path)!r})
model, tokenizer, _ = load_model(folder)
weights = {{name: value + 1 for name, value in model.named_parameters()}}
for bytes in (10, {room_for_the_tokenizer}):
    try_with_room_for(bytes, lambda: save_model(folder, model.config, weights, tokenizer, 34))
""")
    assert len(told) == 2
    for sentence in told:
        assert sentence.startswith(f"{tmp_path}: the model cannot be saved (")
        assert "File too large" in sentence
    assert content(tmp_path) == before


def test_nothing_like_a_model(tmp_path: Path) -> None:
    with pytest.raises(MuteError, match=r"nope/config\.json: cannot be read .*`mute train` wrote"):
        load_model(tmp_path / "nope")


@pytest.mark.parametrize("sign", ["config.yaml", "checkpoints/step-00000001/state.json"])
def test_a_run_without_a_validated_model(tmp_path: Path, sign: str) -> None:
    (tmp_path / sign).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / sign).touch()
    message = (
        rf"^{tmp_path}: has no validated model yet: .*`mute average {tmp_path} --last 1` makes"
    )
    with pytest.raises(MuteError, match=message):
        load_model(tmp_path)


@pytest.mark.parametrize("place", ["checkpoints", "checkpoints/step-00000001"])
def test_a_checkpoint_is_no_model(tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir(parents=True)
    message = f"a checkpoint is no model; `mute average {tmp_path} --last 1` makes one of the last"
    with pytest.raises(MuteError, match=message):
        load_model(tmp_path / place)


@pytest.mark.parametrize("place", ["run/model", "average-5"])
def test_a_model_below_the_folder_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "config.yaml").touch()
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "config.json").touch()
    message = f"^{tmp_path}: is no model itself, but {tmp_path / place} is one$"
    with pytest.raises(MuteError, match=message):
        load_model(tmp_path)


def test_weights_of_one_unit_do_not_fill_several(tmp_path: Path) -> None:
    saved(tmp_path)
    config = tmp_path / "config.json"
    config.write_text(config.read_text().replace('"units": 1', '"units": 4', 1))
    with pytest.raises(MuteError, match="of another model"):
        load_model(tmp_path)
