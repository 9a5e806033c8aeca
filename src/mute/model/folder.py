"""A model on disk: config.json, model.safetensors and the tokenizer, complete by itself."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from mute.config import ModelConfig
from mute.data.tokenizer import Tokenizer, load_tokenizer
from mute.errors import MuteError, refusals_told
from mute.files import push_to_disk
from mute.model.tensors import save_tensors
from mute.model.transformer import Transformer, build

FORMAT = 1
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer"


class SavedModel(NamedTuple):
    """What a model folder holds."""

    network: Transformer
    tokenizer: Tokenizer
    max_length: int
    """Of a source sentence in pieces; longer ones are translated in parts."""


def save_model(
    folder: Path,
    config: ModelConfig,
    weights: Mapping[str, Tensor],
    tokenizer: Tokenizer,
    max_length: int,
) -> None:
    """Write a model folder; in one that is there, the files are replaced when all are written.

    Args:
        folder: made if it is not there
        config: of the model
        weights: its parameters by name
        tokenizer: what it reads and writes with
        max_length: of a source sentence in pieces; longer ones are translated in parts

    Raises:
        MuteError: the disk is full or refuses; what was there before is as it was.
    """
    settings = {
        "format": FORMAT,
        "max_length": max_length,
        "model": config.model_dump(mode="json"),
    }
    draft = folder / ".writing"
    remedy = "what was there before is intact: mend that and run the same command again"
    try:
        with refusals_told(f"{folder}: the model cannot be saved", remedy):
            shutil.rmtree(draft, ignore_errors=True)
            tokenizer.save(draft / TOKENIZER)
            (draft / CONFIG).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
            save_tensors(weights, draft / WEIGHTS)
            _move_files(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _move_files(draft: Path, folder: Path) -> None:
    """Put every file in its place, once all are on the disk; the weights come last."""
    files = (*(draft / TOKENIZER).iterdir(), draft / CONFIG, draft / WEIGHTS)
    for path in files:
        push_to_disk(path)
    (folder / TOKENIZER).mkdir(exist_ok=True)
    for path in files:
        path.replace(folder / path.relative_to(draft))


def model_folder(path: Path | str) -> Path:
    """The model folder itself, of a model folder or of the run folder it is in."""
    path = Path(path)
    return path / "model" if (path / "model" / CONFIG).is_file() else path


def load_model(path: Path | str) -> SavedModel:
    """Read a model folder, or the one inside a run folder; nothing is unpickled.

    Raises:
        MuteError: it is no model, a file of it is missing or damaged, or another version of
            mute wrote it.
    """
    folder = model_folder(path)
    config, max_length = _read_settings(folder / CONFIG)
    tokenizer = load_tokenizer(folder / TOKENIZER)
    model = build(config, (tokenizer.source_size, tokenizer.target_size))
    try:
        load_weights(model, load_file(folder / WEIGHTS))
    except (OSError, SafetensorError, KeyError, RuntimeError) as error:
        raise MuteError(
            f"{folder / WEIGHTS}: missing, damaged or of another model: {error}"
        ) from None
    return SavedModel(model.eval(), tokenizer, max_length)


def check_model(path: Path | str) -> None:
    """Make sure that there is a model, without its weights; errors as of `load_model`."""
    _read_settings(model_folder(path) / CONFIG)


@torch.no_grad()
def load_weights(model: Transformer, weights: Mapping[str, Tensor]) -> None:
    """Fill a model with weights by name; a name too few or too many is an error.

    Raises:
        KeyError: a name is missing or unknown, or its weights have another shape.
    """
    own = dict(model.named_parameters())
    if differing := set(own) ^ set(weights):
        raise KeyError(min(differing))
    for name, value in own.items():
        if value.shape != weights[name].shape:  # to copy would expand one unit to several
            raise KeyError(name)
        value.copy_(weights[name])


def _read_settings(path: Path) -> tuple[ModelConfig, int]:
    try:
        settings: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = settings["format"]
        if version == FORMAT:
            return ModelConfig.model_validate(settings["model"]), int(settings["max_length"])
    except OSError as error:
        raise MuteError(_no_model(path, error.strerror)) from None
    except (KeyError, TypeError, ValueError, ValidationError):
        raise MuteError(f"{path}: not a model of mute, or damaged") from None
    raise MuteError(f"{path}: format {version}, but this version of mute reads format {FORMAT}")


def _no_model(path: Path, reason: str | None) -> str:
    """What is told if the settings of a model cannot be read, and where a model is instead."""
    folder = path.parent
    below = sorted((*folder.glob(f"*/{CONFIG}"), *folder.glob(f"*/model/{CONFIG}")))
    if below:
        return f"{folder}: is no model itself, but {below[0].parent} is one"
    runs = [above.parent for above in (folder, folder.parent) if above.name == "checkpoints"]
    if runs:
        return (
            f"{folder}: a checkpoint is no model; "
            f"`mute average {runs[0]} --last 1` makes one of the last"
        )
    if (folder / "config.yaml").is_file() or (folder / "checkpoints").is_dir():
        return (
            f"{folder}: has no validated model yet: wait for its first validation, or "
            f"`mute average {folder} --last 1` makes one of its last checkpoint"
        )
    return (
        f"{path}: cannot be read ({reason}); a model is a folder that `mute train` wrote, with "
        f"{CONFIG} in it"
    )
