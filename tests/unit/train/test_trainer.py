"""The wiring of a step: what reaches the weights, and which weights are measured."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from mute.config import TrainConfig
from mute.data.batching import Batch, BatchStream, make_batch
from mute.errors import MuteError, NotFiniteError
from mute.model import kernels
from mute.model.fusion import LearnedOrder
from mute.model.transformer import Transformer, build
from mute.probe import bfloat16_is_safe
from mute.runtime import seed_of
from mute.train import trainer as module
from mute.train.group import Group
from mute.train.objective import Objective
from mute.train.optimizer import moments
from mute.train.progress import Silence
from mute.train.trainer import Trainer
from tests.unit.model.oracle import small

Settings = dict[str, object]
ORDERED_PAIR: Settings = {"units": 2, "sequential": True}
SEQUENTIAL: Settings = {"units": 3, "sequential": True, "decoder": ORDERED_PAIR}
NOISY: Settings = {"dropout": 0.3}
BIASED: Settings = {"units": 2, "bias": ["mask", "disorder"], "sample_rate": 1.0}


class Ids:
    """Pairs of ids in memory."""

    pairs = (([4, 5, 6], [8, 9]), ([7], [10]), ([5, 5, 7, 11], [12, 4, 6, 9, 8]))

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> tuple[list[int], list[int]]:
        return self.pairs[index]

    @property
    def lengths(self) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        source, target = zip(*self.pairs, strict=True)
        return np.array([*map(len, source)]), np.array([*map(len, target)])


CORPUS = Ids()
BATCH = make_batch(CORPUS, np.array([0, 1], np.int32))
OTHER = make_batch(CORPUS, np.array([2], np.int32))


class Notes(Silence):
    """Keeps what is recorded."""

    def __init__(self) -> None:
        self.records: list[Mapping[str, Any]] = []

    def record(self, kind: str, step: int, facts: Mapping[str, Any]) -> None:
        self.records.append({"kind": kind, "step": step, **facts})

    def all(self, fact: str) -> list[float]:
        return [record[fact] for record in self.records]


def fresh(**model: object) -> Transformer:
    torch.manual_seed(1)
    return build(small(**model), 13).train()


def trainer_of(model: Transformer, **train: object) -> Trainer:
    config = TrainConfig.model_validate({"run": "x", "warmup": 1, **train})
    alone = Group(0, 1, torch.device("cpu"))
    return Trainer(model, config, alone, BatchStream(CORPUS, 64, 1), str)


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> Notes:
    """What a trainer with this progress records, which is then every step."""
    monkeypatch.setattr(module, "LOG_EVERY", 1)
    return Notes()


def copied(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in weights.items()}


def weights(model: Transformer) -> dict[str, Tensor]:
    return copied(dict(model.named_parameters()))


def gradient_of(loss: Tensor, model: Transformer) -> dict[str, Tensor]:
    learned = {name: value for name, value in model.named_parameters() if value.requires_grad}
    found = torch.autograd.grad(loss, list(learned.values()))
    return dict(zip(learned, found, strict=True))


def gradient_in_first_step(trainer: Trainer, *batches: Batch) -> dict[str, Tensor]:
    """What Adam was given, from its first moment: (1 - beta) times the gradient."""
    trainer.step(list(batches))
    beta = trainer.config.betas[0]
    found = moments(trainer.optimizer, trainer.model).items()
    return {
        name.removesuffix(".exp_avg"): value / (1 - beta)
        for name, value in found
        if name.endswith(".exp_avg")
    }


@pytest.mark.parametrize("batches", [[BATCH], [BATCH, OTHER]], ids=["one", "accumulated"])
def test_the_gradient_is_that_of_smoothed_cross_entropy_per_token_and_weighted_penalty(
    batches: list[Batch],
) -> None:
    trainer = trainer_of(fresh(**SEQUENTIAL), label_smoothing=0.2, penalty_weight=0.5)
    model = fresh(**SEQUENTIAL)
    total = torch.zeros(())
    for batch in batches:
        real = batch.target_output != 0
        logits = model(batch.source, batch.target_input)[real]
        labels = batch.target_output[real]
        total = total + F.cross_entropy(logits, labels, label_smoothing=0.2, reduction="sum")
    tokens = sum(batch.target_tokens for batch in batches)
    expected = gradient_of(total / tokens + 0.5 * model.penalty(), model)
    torch.testing.assert_close(gradient_in_first_step(trainer, *batches), expected)


@pytest.mark.parametrize("share", [0.1, 10.0])
def test_a_gradient_is_clipped_to_its_largest_norm_and_a_smaller_one_left_alone(
    share: float,
) -> None:
    whole = gradient_in_first_step(trainer_of(fresh()), BATCH)
    norm = float(torch.cat([value.flatten() for value in whole.values()]).norm())
    clipped = gradient_in_first_step(trainer_of(fresh(), clip=share * norm), BATCH)
    expected = {name: value * min(share, 1) for name, value in whole.items()}
    torch.testing.assert_close(clipped, expected, rtol=1e-4, atol=1e-7)


def test_r_drop_is_part_of_the_loss() -> None:
    ours = gradient_in_first_step(trainer_of(fresh(**NOISY), seed=3, r_drop=5.0), BATCH)
    model = fresh(**NOISY)
    torch.manual_seed(seed_of(3, 0, 0))
    loss = Objective(model, label_smoothing=0.1, r_drop=5.0)(BATCH).smoothed
    torch.testing.assert_close(ours, gradient_of(loss / BATCH.target_tokens, model))


def test_after_every_step_all_orders_are_relaxed_permutations_again() -> None:
    trainer = trainer_of(fresh(**SEQUENTIAL), learning_rate=0.3)
    fusions = [layer.fusion for layer in trainer.model.multi_unit_layers()]
    assert all(isinstance(fusion, LearnedOrder) for fusion in fusions)
    for _ in range(5):
        trainer.step([BATCH])
        assert trainer.average
        for kept in (weights(trainer.model), trainer.average.weights):
            matrices = [value for name, value in kept.items() if name.endswith("fusion.matrix")]
            assert len(matrices) == 4
            for matrix in matrices:
                assert (matrix >= 0).all()
                torch.testing.assert_close(matrix.sum(1), torch.ones(len(matrix)))


def test_the_projection_comes_after_the_step_of_the_optimizer() -> None:
    trainer = trainer_of(fresh(**SEQUENTIAL), schedule="inverse-sqrt", learning_rate=0.2)
    before = weights(trainer.model)
    gradient = gradient_in_first_step(trainer, BATCH)
    for name, value in weights(trainer.model).items():
        if name in gradient:
            stepped = before[name] - 0.2 * gradient[name] / (gradient[name].abs() + 1e-9)
            if name.endswith("fusion.matrix"):
                stepped = stepped.clamp(min=0)
                stepped = stepped / stepped.sum(0, keepdim=True)
                stepped = stepped / stepped.sum(1, keepdim=True)
            torch.testing.assert_close(value, stepped, rtol=1e-4, atol=1e-5)


STILL = {"learning_rate": 1e-30}


def losses(notes: Notes, model: Settings, steps: int = 4, **train: object) -> list[float]:
    """Of some steps on the same batch that leave the weights as they are."""
    trainer = trainer_of(fresh(**model), **STILL, **train)
    trainer.progress = notes
    notes.records.clear()
    for _ in range(steps):
        trainer.step([BATCH])
    return notes.all("loss")


@pytest.mark.parametrize("noise", [NOISY, BIASED], ids=["dropout", "bias"])
def test_noise_is_another_in_every_step_and_for_every_seed(notes: Notes, noise: Settings) -> None:
    assert len(set(losses(notes, {}))) == 1, "without noise all are the same"
    ours = losses(notes, noise)
    assert len(set(ours)) > 1
    assert losses(notes, noise) == ours
    assert losses(notes, noise, seed=2) != ours


def test_noise_is_another_in_every_batch_of_a_step(notes: Notes) -> None:
    (once,) = losses(notes, NOISY, steps=1)
    trainer = trainer_of(fresh(**NOISY), **STILL)
    trainer.progress = notes
    trainer.step([BATCH, BATCH])
    assert notes.all("loss")[-1] != pytest.approx(once)


def test_the_learning_rate_is_noams_from_step_one_on_for_the_models_width(notes: Notes) -> None:
    trainer = trainer_of(fresh(), learning_rate=0.01, warmup=3)
    trainer.progress = notes
    for _ in range(6):
        trainer.step([BATCH])
    expected = [0.01 * 8**-0.5 * min(step**-0.5, step * 3**-1.5) for step in range(1, 7)]
    assert notes.all("learning_rate") == pytest.approx(expected)


def test_a_refused_step_is_recorded_with_its_own_learning_rate(notes: Notes) -> None:
    trainer = trainer_of(fresh(), learning_rate=0.01, warmup=3)
    trainer.progress = notes
    bad_step(trainer)
    (rate,) = [record["learning_rate"] for record in notes.records if record["kind"] == "train"]
    assert rate == pytest.approx(0.01 * 8**-0.5 * 3**-1.5)


def test_bfloat16_rounds_the_gradient_and_no_more_than_that() -> None:
    if not bfloat16_is_safe():
        pytest.skip("this CPU cannot compute in bfloat16")
    exact = gradient_in_first_step(trainer_of(fresh(**SEQUENTIAL)), BATCH)
    trainer = trainer_of(fresh(**SEQUENTIAL), precision="bfloat16")
    rounded = gradient_in_first_step(trainer, BATCH)
    assert all(value.dtype == torch.float32 for value in rounded.values())
    apart = sum(float((rounded[name] - exact[name]).square().sum()) for name in exact) ** 0.5
    whole = sum(float(value.square().sum()) for value in exact.values()) ** 0.5
    assert 1e-5 < apart / whole < 0.05


def test_bfloat16_is_refused_where_it_would_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "bfloat16_is_safe", lambda: False)
    with pytest.raises(MuteError, match=r"train\.precision: this CPU cannot compute in bfloat16"):
        trainer_of(fresh(), precision="bfloat16")


def spoil(_: object, __: object, losses: Any) -> Any:
    return losses._replace(smoothed=losses.smoothed * float("nan"))


def bad_step(trainer: Trainer) -> None:
    hook = trainer.objective.register_forward_hook(spoil)
    try:
        trainer.step([BATCH])
    finally:
        hook.remove()


def test_bad_steps_leave_the_weights_alone_and_count_in_a_row() -> None:
    trainer = trainer_of(fresh(), max_bad_steps=2)
    bad_step(trainer)
    trainer.step([BATCH])
    before = weights(trainer.model)
    bad_step(trainer)
    torch.testing.assert_close(weights(trainer.model), before, rtol=0, atol=0)
    assert trainer.state.bad_steps == 2
    with pytest.raises(MuteError, match="not finite in 2 steps in a row, up to step 4"):
        bad_step(trainer)


class Judge:
    """Looks at the weights that it is given to measure and to keep."""

    def __init__(self, *scores: float) -> None:
        self.scores = list(scores)
        self.measured: list[dict[str, Tensor]] = []
        self.kept: list[dict[str, Tensor]] = []

    def validate(self, model: Transformer) -> dict[str, float]:
        assert not model.training
        self.measured.append(weights(model))
        return {"bleu": self.scores.pop(0)}

    def keep(self, best: Mapping[str, Tensor]) -> None:
        self.kept.append(copied(best))


@pytest.mark.parametrize("decay", [0.3, 0.0], ids=["averaged", "not averaged"])
def test_what_is_measured_and_kept_is_the_average_of_the_weights(decay: float) -> None:
    trainer = trainer_of(fresh(), learning_rate=0.1, average_decay=decay)
    judge = Judge(2.0, 1.0, 2.0)
    expected = weights(trainer.model)
    wanted = []
    for step in (1, 2, 3):
        trainer.step([BATCH])
        raw = weights(trainer.model)
        slow = min(decay, (1 + step) / (10 + step))
        expected = {name: slow * expected[name] + (1 - slow) * raw[name] for name in raw}
        wanted.append(expected)
        trainer.validate(judge.validate, judge.keep)
        torch.testing.assert_close(weights(trainer.model), raw, rtol=0, atol=0)
    torch.testing.assert_close(judge.measured, wanted)
    assert len(judge.kept) == 2, "the second was worse"
    torch.testing.assert_close(judge.kept, [wanted[0], wanted[2]])


def test_the_checkpoint_holds_the_weights_and_their_average(tmp_path: Path) -> None:
    first = trainer_of(fresh(), learning_rate=0.1, run=str(tmp_path))
    first.step([BATCH])
    first.step([OTHER])
    first.save()
    second = trainer_of(fresh(), run=str(tmp_path))
    assert second.resume() == []
    assert second.state == first.state
    assert first.average
    assert second.average
    torch.testing.assert_close(weights(second.model), weights(first.model), rtol=0, atol=0)
    torch.testing.assert_close(second.average.weights, first.average.weights, rtol=0, atol=0)
    ours, theirs = (moments(each.optimizer, each.model) for each in (second, first))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


def test_a_run_that_is_asked_to_stop_leaves_its_validation_to_the_one_that_goes_on(
    tmp_path: Path,
) -> None:
    settings = {"run": str(tmp_path), "steps": 3, "validate_every": 2}
    trainer, judge = trainer_of(fresh(), **settings), Judge(1.0, 2.0)
    trainer.ask_to_stop()
    trainer.state.step = 1
    stopped = trainer.fit(judge.validate, judge.keep)
    assert trainer.stopping
    assert (stopped.step, judge.measured) == (2, [])
    again = trainer_of(fresh(), **settings)
    again.resume()
    assert again.fit(judge.validate, judge.keep).validated_step == 3
    assert not again.stopping
    assert len(judge.measured) == 2


def test_a_stop_in_the_last_validation_is_heard(tmp_path: Path) -> None:
    trainer = trainer_of(fresh(), run=str(tmp_path), steps=1)

    def validate(_: Transformer) -> dict[str, float]:
        trainer.ask_to_stop()
        return {"bleu": 1.0}

    trainer.fit(validate, Judge().keep)
    assert trainer.stopping
    assert trainer.state.validated_step == 1


def test_a_run_without_compiled_kernels_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernels, "LIBRARY", None)
    judge = Judge(1.0)
    trainer_of(fresh(), run=str(tmp_path), steps=1).fit(judge.validate, judge.keep)
    assert "compiled kernels are not there" in " ".join(capsys.readouterr().err.split())


def test_a_model_that_has_diverged_is_told_with_what_helps() -> None:
    def validate(_: Transformer) -> dict[str, float]:
        raise NotFiniteError("the model computes NaN")

    trainer = trainer_of(fresh(), run="runs/x")
    with pytest.raises(MuteError, match=r"runs/x: after step 0 the model .*train\.clip, in a new"):
        trainer.validate(validate, Judge().keep)
