"""Checkpoints: everything a run needs to go on, written whole or not at all.

A checkpoint is a folder `step-00012000` with the weights, their average and the optimizer's
moments as safetensors, and `state.json` with the rest. It is written under another name, pushed
to the disk and renamed, so a folder with the right name was complete when it was made; checksums
in `state.json` tell whether it still is. A validation changes nothing but the state, so it replaces
that file alone.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field, fields
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any, NamedTuple

from safetensors.torch import load_file
from torch import Tensor

from mute.data.batching import Position
from mute.errors import MuteError, refusals_told
from mute.files import push_to_disk, replacing
from mute.model.tensors import save_tensors
from mute.train.group import Group

FORMAT = 1
STATE = "state.json"
_OF_ANOTHER = "use the version that wrote it, or delete it to go on from the one before"
Tensors = dict[str, Tensor]


class _NotWholeError(Exception):
    """A checkpoint was damaged or cut short; what is wrong with it."""


@dataclass
class TrainState:
    """How far a run is."""

    step: int = 0
    position: Position = field(default_factory=Position)
    best_score: float = -1.0
    """Before the first validation, one that any is better than."""
    best_step: int = 0
    validations_since_best: int = 0
    """In a row without a better score; one that is as good moves best_step on, and not this."""
    bad_steps_in_a_row: int = 0
    bad_steps: int = 0
    batches_per_step: int = 0
    """Of all processes together; 0 before the first."""
    validated_step: int = 0
    """The last step after which there was a validation."""
    planned: bool = True
    """Whether a checkpoint was due by `train.save_every`, or saved at a validation or a stop."""


class Found(NamedTuple):
    """A checkpoint that is whole."""

    state: TrainState
    tensors: dict[str, Tensors]
    """By file."""
    complaints: list[str]
    """A sentence about each newer one that is not whole."""


def save_checkpoint(folder: Path, state: TrainState, tensors: Mapping[str, Tensors]) -> Path:
    """Write a checkpoint among the others in `folder`.

    Args:
        folder: of all checkpoints of a run
        state: how far the run is
        tensors: by the name of the file they go to

    Raises:
        MuteError: the disk is full or refuses; what was there before is as it was.
    """
    final = _path(folder, state.step)
    draft = folder / f".{final.name}.writing"
    with _refusals_told(final):
        try:
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True)
            sums = {}
            for name, values in tensors.items():
                path = draft / f"{name}.safetensors"
                save_tensors(values, path)
                sums[path.name] = _checksum(path)
            _write_state(draft / STATE, state, sums)
            for path in (*draft.iterdir(), draft):
                push_to_disk(path)
            shutil.rmtree(final, ignore_errors=True)
            draft.rename(final)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    return final


def update_state(folder: Path, state: TrainState) -> None:
    """Tell the checkpoint of this very step of what has become known since it was saved.

    Raises:
        MuteError: the disk is full or refuses, or the checkpoint is gone.
    """
    checkpoint = _path(folder, state.step)
    with _refusals_told(checkpoint):
        sums = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))["files"]
        with replacing(checkpoint / STATE) as draft:
            _write_state(draft, state, sums)


def _write_state(path: Path, state: TrainState, sums: Mapping[str, str]) -> None:
    content = {"format": FORMAT, "state": asdict(state), "files": sums}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _refusals_told(checkpoint: Path) -> AbstractContextManager[None]:
    return refusals_told(
        f"{checkpoint}: cannot be saved",
        "the checkpoints before it are intact: make room and run the same command again",
    )


def checkpoints(folder: Path) -> list[Path]:
    """The finished checkpoints of a run, oldest first."""
    return sorted(folder.glob(f"step-{'[0-9]' * 8}"))


def step_of(checkpoint: Path) -> int:
    """After how many steps it was saved."""
    return int(checkpoint.name.removeprefix("step-"))


def remove_old(folder: Path, keep: int, newest: int) -> None:
    """Keep the last `keep` planned checkpoints up to step `newest`, and that, just saved, itself.

    Later ones are damaged: the run did not go on from them. Drafts of one that was killed go, too.
    One that was not planned, but saved at a validation or when the run was asked to stop, goes as
    soon as there is a later one: in the end the same are left as of a run that was never stopped.
    """
    everything = checkpoints(folder)
    saved = [path for path in everything if step_of(path) <= newest]
    kept = {*[path for path in saved if _was_planned(path)][-keep:], *saved[-1:]}
    for path in (*everything, *folder.glob(".step-*.writing")):
        if path not in kept:
            shutil.rmtree(path, ignore_errors=True)


def _was_planned(checkpoint: Path) -> bool:
    try:
        state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))["state"]
        return bool(state["planned"])
    except (OSError, ValueError, LookupError, AttributeError):  # damaged: not for us to judge
        return True


def load_latest(folder: Path) -> Found | None:
    """The newest checkpoint that is whole; None if there is none at all.

    Raises:
        MuteError: there are checkpoints, but none of them is whole, or the newest that may be is
            of another version, or cannot be read.
    """
    faults: list[str] = []
    for path in reversed(checkpoints(folder)):
        try:
            told = [f"{fault}; the one before it is used" for fault in faults]
            return Found(*_load(path), told)
        except _NotWholeError as error:
            faults.append(f"{path}: not whole ({error})")
    if faults:
        raise MuteError(
            f"{folder}: none of its {len(faults)} checkpoints is whole; delete the folder to "
            f"start anew. The newest is {faults[0]}"
        )
    return None


def load_together(folder: Path, group: Group) -> Found | None:
    """What `load_latest` finds for the leading process, in every process of the group.

    Raises:
        MuteError: as `load_latest`, or a process cannot read the checkpoint that the leading one
            has read; with an older one, it would train another model.
    """
    found = group.lead(lambda: load_latest(folder))
    step = int(group.follow(found.state.step if found else 0))
    return group.together(lambda: found if found or not step else _load_as_led(folder, step, group))


def _load_as_led(folder: Path, step: int, group: Group) -> Found:
    path = _path(folder, step)
    try:
        return Found(*_load(path), [])
    except _NotWholeError as error:
        raise MuteError(
            f"process {group.rank} of {group.size} cannot read {path}, from which the leading "
            f"process goes on ({error}); run folders must be on a disk that all machines see"
        ) from None


def _path(folder: Path, step: int) -> Path:
    return folder / f"step-{step:08d}"


@contextmanager
def _reading(checkpoint: Path) -> Iterator[None]:
    """Tell damage from what is none: to go on from the one before would delete the checkpoint.

    Raises:
        _NotWholeError: it is damaged.
        MuteError: it cannot be read for a moment, or another version wrote it.
    """
    try:
        yield
    except MuteError:
        raise
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise _NotWholeError(error) from None
    except OSError as error:
        raise MuteError(
            f"{checkpoint}: cannot be read ({error.strerror}), but may be whole; mend that and run "
            f"the same command again, or delete it to go on from the one before"
        ) from None
    except KeyError as error:
        raise _NotWholeError(f"{STATE} has no {error}") from None
    except (ValueError, TypeError) as error:
        raise _NotWholeError(error) from None


def _load(path: Path) -> tuple[TrainState, dict[str, Tensors]]:
    with _reading(path):
        content = _read_state(path)
        unknown = sorted(set(content["state"]) - {each.name for each in fields(TrainState)})
        if unknown:
            raise MuteError(f"{path}: of a later version of mute ({unknown[0]}); {_OF_ANOTHER}")
        state = TrainState(**content["state"])
        state.position = Position(*state.position)
        files = content["files"]
        return state, {Path(name).stem: _load_file(path / name, files[name]) for name in files}


def _read_state(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((path / STATE).read_text(encoding="utf-8"))
    if content["format"] != FORMAT:
        raise MuteError(f"{path}: format {content['format']}, not {FORMAT}; {_OF_ANOTHER}")
    return content


def _load_file(path: Path, checksum: str) -> Tensors:
    if _checksum(path) != checksum:
        raise ValueError(f"{path.name} is damaged or cut short")
    return load_file(path)


def weights_of(path: Path) -> Tensors:
    """The weights of one checkpoint: their average if the run kept one.

    Raises:
        MuteError: the checkpoint is not whole, or cannot be read.
    """
    try:
        with _reading(path):
            files = _read_state(path)["files"]
            best = "average.safetensors"
            name = best if best in files else "weights.safetensors"
            return _load_file(path / name, files[name])
    except _NotWholeError as error:
        raise MuteError(f"{path}: not a whole checkpoint ({error})") from None


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()
