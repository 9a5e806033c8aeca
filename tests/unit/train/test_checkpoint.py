import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
import torch

from mute.data.batching import Position
from mute.errors import MuteError
from mute.train import checkpoint
from mute.train.checkpoint import (
    TrainState,
    checkpoints,
    load_latest,
    load_together,
    remove_old,
    save_checkpoint,
    step_of,
    update_state,
    weights_of,
)
from mute.train.group import Group
from tests.unit.full_disk import said_on_a_full_disk


def saved(folder: Path, step: int, *, planned: bool = True) -> Path:
    tensors = {"weights": {"a": torch.full((3,), float(step))}}
    state = TrainState(
        step, Position(2, step), best_score=31.5, validated_step=step - 5, planned=planned
    )
    return save_checkpoint(folder, state, tensors)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    saved(tmp_path, 10)
    saved(tmp_path, 20)
    found = load_latest(tmp_path)
    assert found is not None
    state, tensors, complaints = found
    assert state == TrainState(20, Position(2, 20), best_score=31.5, validated_step=15)
    assert isinstance(state.position, Position)
    assert torch.equal(tensors["weights"]["a"], torch.full((3,), 20.0))
    assert complaints == []


def test_what_a_validation_finds_is_added_to_the_checkpoint_of_its_step(tmp_path: Path) -> None:
    saved(tmp_path, 10)
    validated = TrainState(step=10, best_score=40.0, best_step=10, validated_step=10)
    update_state(tmp_path, validated)
    found = load_latest(tmp_path)
    assert found is not None
    assert found[0] == validated
    assert torch.equal(found[1]["weights"]["a"], torch.full((3,), 10.0))


def test_a_disk_that_is_full_by_then_leaves_the_checkpoint_as_it_was(
    tmp_path: Path,
) -> None:
    path = saved(tmp_path, 10)
    before = load_latest(tmp_path)
    whole = len((path / "state.json").read_text())
    told = said_on_a_full_disk(f"""
from mute.train.checkpoint import TrainState, update_state
state = TrainState(10, best_score=40.0)
try_with_room_for({whole // 2}, lambda: update_state(Path({str(tmp_path)!r}), state))
""")
    assert len(told) == 1
    assert "step-00000010: cannot be saved (" in told[0]
    after = load_latest(tmp_path)
    assert before is not None
    assert after is not None
    assert (after[0], after[2]) == (before[0], [])


def test_no_checkpoint_is_a_fresh_start(tmp_path: Path) -> None:
    assert load_latest(tmp_path / "none") is None


def cut_short(path: Path) -> None:
    file = path / "weights.safetensors"
    file.write_bytes(file.read_bytes()[:-5])


def flip_a_bit(path: Path) -> None:
    file = path / "weights.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(bytes(content))


def lose_the_state(path: Path) -> None:
    (path / "state.json").unlink()


def cut_the_state(path: Path) -> None:
    (path / "state.json").write_text('{"format": 1, "sta')


def empty_the_state(path: Path) -> None:
    (path / "state.json").write_text('{"format": 1}')


@pytest.mark.parametrize(
    "damage", [cut_short, flip_a_bit, lose_the_state, cut_the_state, empty_the_state]
)
def test_a_damaged_checkpoint_is_noticed_and_the_one_before_it_used(
    tmp_path: Path, damage: object
) -> None:
    assert callable(damage)
    saved(tmp_path, 10)
    damage(saved(tmp_path, 20))
    found = load_latest(tmp_path)
    assert found is not None
    assert found[0].step == 10
    assert len(found[2]) == 1
    assert "step-00000020: not whole (" in found[2][0]
    assert found[2][0].endswith("; the one before it is used")


def test_what_a_state_lacks_is_told(tmp_path: Path) -> None:
    empty_the_state(saved(tmp_path, 10))
    with pytest.raises(MuteError, match=r"not whole \(state\.json has no 'state'\)"):
        load_latest(tmp_path)


def test_only_damaged_checkpoints_are_an_error(tmp_path: Path) -> None:
    cut_short(saved(tmp_path, 10))
    with pytest.raises(MuteError, match="none of its 1 checkpoints is whole"):
        load_latest(tmp_path)


T = TypeVar("T")


class Following(Group):
    """The second of two processes; the first says that it is at step 10, and has no mistake."""

    def together(self, work: Callable[[], T]) -> T:
        return work()

    def follow(self, score: float) -> float:
        assert score == 0
        return 10.0


FOLLOWING = Following(1, 2, torch.device("cpu"))


def test_all_processes_load_what_the_leading_one_does(tmp_path: Path) -> None:
    saved(tmp_path, 10)
    saved(tmp_path, 20)  # which the leading process could not read
    found = load_together(tmp_path, FOLLOWING)
    assert found is not None
    assert found[0].step == 10
    leading = load_together(tmp_path, Group(0, 1, torch.device("cpu")))
    assert leading is not None
    assert leading[0].step == 20


def test_a_process_that_cannot_load_it_takes_no_other(tmp_path: Path) -> None:
    saved(tmp_path, 5)
    cut_short(saved(tmp_path, 10))
    told = "process 1 of 2 cannot read .*step-00000010.*weights.safetensors is damaged"
    with pytest.raises(MuteError, match=told):
        load_together(tmp_path, FOLLOWING)


def test_another_format_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, 10) / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))
    with pytest.raises(MuteError, match="format 99, not 1"):
        load_latest(tmp_path)


def test_a_later_versions_checkpoint_is_refused_and_not_passed_over(tmp_path: Path) -> None:
    saved(tmp_path, 10)
    path = saved(tmp_path, 20) / "state.json"
    content = json.loads(path.read_text())
    content["state"]["new_here"] = 1
    path.write_text(json.dumps(content))
    with pytest.raises(MuteError, match=r"step-00000020: of a later version of mute \(new_here\)"):
        load_latest(tmp_path)


def test_one_that_cannot_be_read_now_is_not_taken_for_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path, 10)
    saved(tmp_path, 20)

    def unreadable(_: Path) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(checkpoint, "_checksum", unreadable)
    told = r"step-00000020: cannot be read \(Permission denied\), but may be whole; mend that"
    with pytest.raises(MuteError, match=told):
        load_latest(tmp_path)


def test_a_copy_under_another_name_is_no_checkpoint(tmp_path: Path) -> None:
    shutil.copytree(saved(tmp_path, 10), tmp_path / "step-12000bak")
    assert [path.name for path in checkpoints(tmp_path)] == ["step-00000010"]


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    saved(tmp_path, 10)
    told = said_on_a_full_disk(f"""
import torch
from mute.train.checkpoint import TrainState, save_checkpoint
tensors = {{"weights": {{"a": torch.zeros(5000)}}}}
try_with_room_for(4096, lambda: save_checkpoint(Path({str(tmp_path)!r}), TrainState(20), tensors))
""")
    assert len(told) == 1
    assert "step-00000020: cannot be saved (" in told[0]
    assert "File too large" in told[0]
    assert "intact" in told[0]
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000010"]


def test_old_checkpoints_and_drafts_go(tmp_path: Path) -> None:
    for step in range(1, 8):
        saved(tmp_path, step)
    (tmp_path / ".step-00000009.writing").mkdir()
    remove_old(tmp_path, keep=3, newest=7)
    assert [int(path.name[5:]) for path in checkpoints(tmp_path)] == [5, 6, 7]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_run_that_was_stopped_leaves_the_same_checkpoints_in_the_end(tmp_path: Path) -> None:
    for step in (10, 20, 25, 30, 37, 40):
        saved(tmp_path, step, planned=step % 10 == 0)
        remove_old(tmp_path, keep=3, newest=step)
        left = [step_of(path) for path in checkpoints(tmp_path)]
        assert left[-1] == step
        assert len(left) <= 4
        assert len([each for each in left if each % 10 == 0]) == min(3, step // 10)
    assert left == [20, 30, 40]


def test_a_checkpoint_whose_state_is_damaged_is_not_the_one_to_go(tmp_path: Path) -> None:
    for step in (1, 2, 3):
        saved(tmp_path, step)
    (tmp_path / "step-00000002" / "state.json").write_text("{")
    remove_old(tmp_path, keep=2, newest=3)
    assert [step_of(path) for path in checkpoints(tmp_path)] == [2, 3]


@pytest.mark.parametrize("keep", [1, 2])
def test_damaged_ones_never_take_the_place_of_what_was_saved_since(
    tmp_path: Path, keep: int
) -> None:
    saved(tmp_path, 10)
    for step in (20, 30):
        cut_short(saved(tmp_path, step))
    saved(tmp_path, 11, planned=False)  # the run went on from step 10
    remove_old(tmp_path, keep=keep, newest=11)
    assert [step_of(path) for path in checkpoints(tmp_path)] == [10, 11]
    found = load_latest(tmp_path)
    assert found is not None
    assert found[0].step == 11


def test_weights_of_a_checkpoint_are_the_averaged_ones_if_there_are_any(tmp_path: Path) -> None:
    both = {"weights": {"a": torch.zeros(1)}, "average": {"a": torch.ones(1)}}
    assert weights_of(save_checkpoint(tmp_path, TrainState(step=1), both))["a"] == 1
    assert weights_of(saved(tmp_path, 2))["a"][0] == 2
    with pytest.raises(MuteError, match="not a whole checkpoint"):
        weights_of(tmp_path / "step-00000099")
