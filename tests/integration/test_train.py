"""Training by the commands a user types: interrupted, resumed, distributed, gone wrong."""

import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from mute import experiment
from mute.config import Config
from mute.errors import Stopped
from mute.translate.loading import load
from tests.integration.command import run

MUTE = [sys.executable, "-m", "mute"]
TORCHRUN = [
    *(sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"),
    *("--master-port", "0", "--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"),
]


def train(config: Path, folder: Path, *overrides: str) -> int:
    settings = [f"train.run={folder}", *overrides]
    return run("train", str(config), *(word for each in settings for word in ("--set", each)))


def final_tensors(folder: Path, step: int = 12) -> dict[str, torch.Tensor]:
    checkpoint = folder / "checkpoints" / f"step-{step:08d}"
    return {
        f"{file.stem}.{name}": value
        for file in sorted(checkpoint.glob("*.safetensors"))
        for name, value in load_file(file).items()
    }


def records(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = (folder / "log.jsonl").read_text().splitlines()
    return [record for record in map(json.loads, lines) if record["kind"] == kind]


def assert_same(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> None:
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        assert torch.equal(value, theirs[name]), name


@pytest.fixture(scope="module")
def uninterrupted(experiment_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    assert train(experiment_file, folder) == 0
    return folder


def test_a_run_leaves_what_it_promises(uninterrupted: Path) -> None:
    names = {path.name for path in uninterrupted.iterdir()}
    assert names >= {"config.yaml", "log.jsonl", "tensorboard", "checkpoints", "model"}
    assert len(list((uninterrupted / "checkpoints").iterdir())) == 4
    shown = {path.name for path in (uninterrupted / "tensorboard").glob("units_*")}
    assert shown == {f"units_layer {layer}_unit {unit}" for layer in (0, 1) for unit in (0, 1, 2)}
    validations = records(uninterrupted, "validation")
    assert [record["step"] for record in validations] == [6, 12]
    assert validations[0]["loss"] > validations[1]["loss"]
    units = records(uninterrupted, "units")[-1]
    assert [len(layer) for layer in units["coefficients"]] == [3, 3, 1]
    assert units["penalty"][0] > 0 == units["penalty"][2]
    (translation,) = load(uninterrupted).translate(["The dog sleeps."])
    assert translation.tokens


def test_a_finished_run_says_what_it_scored(
    experiment_file: Path, uninterrupted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(experiment_file, uninterrupted) == 0
    test = json.loads((uninterrupted / "result.json").read_text())["tests"]["held out"]
    told = capsys.readouterr().out.splitlines()
    assert f"held out: BLEU {test['bleu']:.2f}  {test['signature']}" in told
    assert told[-1].startswith(f"{uninterrupted / 'result.json'} has all of this")


def test_a_finished_run_leaves_its_result(uninterrupted: Path) -> None:
    result = json.loads((uninterrupted / "result.json").read_text())
    assert result["config"]["model"]["units"] == 3
    assert [point["step"] for point in result["curve"]] == [6, 12]
    (first,) = (each["loss"] for each in records(uninterrupted, "train"))
    assert [point["train_loss"] for point in result["curve"]] == [first, None]
    assert (result["steps"], result["refused_steps"]) == (12, 0)
    assert result["best"]["dev_bleu"] == max(point["bleu"] for point in result["curve"])
    logged = {record["step"]: record["alpha"] for record in records(uninterrupted, "units")}
    of_best = [layer["alpha"] for layer in result["units"]["encoder"]]
    assert logged[result["best"]["step"]][:2] == of_best
    test = result["tests"]["held out"]
    assert test["bleu"] >= 0
    assert test["signature"].startswith("nrefs:1|case:mixed|eff:no|tok:13a")


def test_the_model_of_a_run_is_the_average_of_the_weights_at_its_best_step(
    uninterrupted: Path,
) -> None:
    result = json.loads((uninterrupted / "result.json").read_text())
    tensors = final_tensors(uninterrupted, result["best"]["step"])
    model = load_file(uninterrupted / "model" / "model.safetensors")
    assert_same(model, {name: tensors[f"average.{name}"] for name in model})
    alpha = "encoder.layers.0.fusion.alpha"
    assert result["units"]["encoder"][0]["alpha"] == tensors[f"average.{alpha}"].tolist()
    assert not torch.equal(model[alpha], tensors[f"weights.{alpha}"])


def test_all_units_can_start_from_a_trained_single_one(
    experiment_file: Path,
    tmp_path: Path,
    uninterrupted: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    one_unit = ["model.units=1", "model.bias=[]", "model.sequential=false"]
    assert train(experiment_file, tmp_path / "one", *one_unit) == 0
    result = json.loads((tmp_path / "one" / "result.json").read_text())
    best = result["best"]["step"]
    (trained,) = [point["loss"] for point in result["curve"] if point["step"] == best]
    # The first step changes next to nothing: what is validated is what it started from.
    gently = ["train.steps=1", "train.learning_rate=1e-9"]
    assert (
        train(experiment_file, tmp_path / "many", f"train.start_from={tmp_path}/one", *gently) == 0
    )
    (started,) = [record["loss"] for record in records(tmp_path / "many", "validation")]
    assert started == pytest.approx(trained, abs=1e-3)
    (tmp_path / "one").rename(tmp_path / "away")  # a run that has begun needs it no more
    again = [f"train.start_from={tmp_path}/one", "train.learning_rate=1e-9", "train.steps=2"]
    assert train(experiment_file, tmp_path / "many", *again) == 0
    assert train(experiment_file, tmp_path / "no", f"train.start_from={uninterrupted}") == 2
    assert "the model to start from has several units" in capsys.readouterr().err


def test_preparing_again_says_that_nothing_has_changed(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("prepare", str(experiment_file)) == 0
    assert "prepared: nothing has changed since it was made" in capsys.readouterr().out


def test_patience_ends_a_run(
    experiment_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stalled = ["train.learning_rate=1e-9", "train.validate_every=1", "train.patience=2"]
    assert train(experiment_file, tmp_path, *stalled) == 0
    assert [record["step"] for record in records(tmp_path, "validation")] == [1, 2, 3]
    best = json.loads((tmp_path / "result.json").read_text())["best"]
    assert best["step"] == 3, "of equals the last"
    told = (
        "ended at step 3 of 12, after 2 validations in a row without a better BLEU; to go on, raise"
    )
    assert told in capsys.readouterr().err


def test_a_run_without_a_validated_model_can_be_averaged(
    uninterrupted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(uninterrupted, folder, ignore=shutil.ignore_patterns("model"))
    assert run("average", str(folder), "--last", "2") == 0
    averaged = Path(capsys.readouterr().out.strip())
    assert load(averaged).max_length == load(uninterrupted).max_length


def test_only_a_run_can_be_averaged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("average", str(tmp_path / "nope")) == 2
    assert f"{tmp_path}/nope: has no checkpoints/; give the folder" in capsys.readouterr().err


def test_the_last_checkpoints_average_to_a_model_folder(
    uninterrupted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("average", str(uninterrupted), "--last", "2") == 0
    folder = Path(capsys.readouterr().out.strip())
    assert folder == uninterrupted / "average-2"
    (translation,) = load(folder).translate(["The dog sleeps."])
    assert translation.tokens


class _Killed(BaseException):
    """Stands for kill -9: nothing of the process runs after it."""


def killed_at(step: int, experiment_file: Path, folder: Path, *overrides: str) -> None:
    """Train in `folder`, up to the death of the process."""
    from mute.train.trainer import Trainer

    whole_step = Trainer.step

    def dying_step(trainer: Trainer, batches: Any) -> None:
        if trainer.state.step == step:
            raise _Killed
        whole_step(trainer, batches)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "step", dying_step)
        with pytest.raises(_Killed):
            train(experiment_file, folder, *overrides)


@pytest.mark.parametrize("step", [1, 4, 6, 11])
def test_a_killed_run_goes_on_to_the_same_bits(
    step: int, experiment_file: Path, uninterrupted: Path, tmp_path: Path
) -> None:
    killed_at(step, experiment_file, tmp_path)
    assert train(experiment_file, tmp_path) == 0
    assert_same(final_tensors(tmp_path), final_tensors(uninterrupted))
    best = [load_file(each / "model" / "model.safetensors") for each in (tmp_path, uninterrupted)]
    assert_same(*best)
    expected = [(r["step"], r["loss"]) for r in records(uninterrupted, "train")]
    assert [(r["step"], r["loss"]) for r in records(tmp_path, "train")] == expected


def test_and_so_does_one_that_cuts_words_anew_in_every_epoch(
    experiment_file: Path, uninterrupted: Path, tmp_path: Path
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert train(experiment_file, whole, "data.sampling=0.3") == 0
    killed_at(7, experiment_file, killed, "data.sampling=0.3")
    assert train(experiment_file, killed, "data.sampling=0.3") == 0
    assert_same(final_tensors(killed), final_tensors(whole))
    losses = [[r["loss"] for r in records(each, "train")] for each in (whole, uninterrupted)]
    assert losses[0] != losses[1]


def killed_in(function: str, experiment_file: Path, folder: Path) -> None:
    """Train until a function is called, and die there."""

    def dying(*_: Any) -> Any:
        raise _Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(function, dying)
        with pytest.raises(_Killed):
            train(experiment_file, folder)


def test_a_run_that_died_while_it_validated_loses_nothing(
    experiment_file: Path, uninterrupted: Path, tmp_path: Path
) -> None:
    killed_in("mute.experiment.translate_and_score", experiment_file, tmp_path)
    assert max(path.name for path in (tmp_path / "checkpoints").iterdir()) == "step-00000006"
    assert train(experiment_file, tmp_path) == 0
    assert [record["step"] for record in records(tmp_path, "validation")] == [6, 12]
    assert_same(final_tensors(tmp_path), final_tensors(uninterrupted))


def test_a_run_that_died_right_after_a_validation_repeats_it_without_a_trace(
    experiment_file: Path, uninterrupted: Path, tmp_path: Path
) -> None:
    killed_in("mute.train.trainer.update_state", experiment_file, tmp_path)
    assert [record["step"] for record in records(tmp_path, "validation")] == [6]
    assert train(experiment_file, tmp_path) == 0
    for kind in ("validation", "units"):
        assert [record["step"] for record in records(tmp_path, kind)] == [6, 12]
    assert_same(final_tensors(tmp_path), final_tensors(uninterrupted))


def test_a_run_that_is_cut_short_is_validated_all_the_same(
    experiment_file: Path, tmp_path: Path
) -> None:
    killed_at(4, experiment_file, tmp_path)
    assert train(experiment_file, tmp_path, "train.steps=2") == 0  # it has 3 already
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["steps"], result["best"]["step"]) == (3, 3)


def wait_until(condition: Any, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


@pytest.fixture
def background() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that do not outlive their test."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()


def start(background: list[subprocess.Popen[str]], command: list[str]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    background.append(process)
    return process


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_in_the_middle_loses_nothing(
    how: signal.Signals,
    experiment_file: Path,
    tmp_path: Path,
    background: list[subprocess.Popen[str]],
) -> None:
    interrupted = tmp_path / "interrupted"
    command = [*MUTE, "train", str(experiment_file), "--set", f"train.run={interrupted}"]
    process = start(background, [*command, "--set", "train.steps=100000"])
    wait_until(lambda: len(list(interrupted.glob("checkpoints/step-*"))) > 1)
    process.send_signal(how)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == (-how if how == signal.SIGKILL else 3), errors
    assert output == ""  # nothing that looks like a result
    if how != signal.SIGKILL:
        assert re.search(
            r"^stopped at step \d+ of 100,000; the same command goes on$", errors, re.M
        )
    end = 3 + max(int(path.name[5:]) for path in interrupted.glob("checkpoints/step-*"))
    for folder in (interrupted, tmp_path / "whole"):
        assert train(experiment_file, folder, f"train.steps={end}") == 0
    assert_same(final_tensors(interrupted, end), final_tensors(tmp_path / "whole", end))


def test_a_full_disk_is_told_wherever_it_strikes(experiment_file: Path, tmp_path: Path) -> None:
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
        "from mute.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "prepare", str(experiment_file)]
    folder = f"data.prepared={tmp_path / 'prepared'}"
    done = subprocess.run([*command, "--set", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert re.fullmatch(
        r"mute: .*the disk takes no more \(File too large\); make room and run the same command "
        r"again\n",
        done.stderr,
    )


def finished(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Processes that waited for one another for ever would fail a test, not hang it."""
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_a_mistake_is_told_once_by_the_processes_of_torchrun(
    experiment_file: Path, uninterrupted: Path
) -> None:
    command = [*TORCHRUN, "-m", "mute", "train", str(experiment_file)]
    settings = ["--set", f"train.run={uninterrupted}", "--set", "train.seed=99"]
    done = finished([*command, *settings])
    assert done.returncode != 0
    assert done.stderr.count("mute: ") == 1
    assert "this run was started with other settings: train.seed was" in done.stderr
    assert "RuntimeError" not in done.stderr
    for mistake in ("data.prepared=nowhere", "model.untis=3"):
        done = finished([*command, "--set", mistake])
        assert done.stderr.count("mute: ") == 1


@pytest.mark.parametrize("mistake", ["damaged checkpoints", "a budget below the longest"])
def test_what_is_found_out_later_is_told_once_too(
    mistake: str, experiment_file: Path, uninterrupted: Path, tmp_path: Path
) -> None:
    folder, settings = tmp_path / "run", ["train.batch_tokens=2"]
    if mistake == "damaged checkpoints":  # which only the leading process reads
        shutil.copytree(uninterrupted, folder)
        for state in folder.glob("checkpoints/*/state.json"):
            state.write_text("{")
        settings = ["train.steps=14"]
    words = [word for each in [f"train.run={folder}", *settings] for word in ("--set", each)]
    done = finished([*TORCHRUN, "-m", "mute", "train", str(experiment_file), *words])
    assert done.returncode != 0
    assert done.stderr.count("mute: ") == 1
    told = {"damaged checkpoints": "checkpoints is whole"}.get(mistake, "is less than the longest")
    assert told in done.stderr
    assert "RuntimeError" not in done.stderr


@pytest.mark.parametrize("launcher", [{"WORLD_SIZE": "2"}, {"TORCHELASTIC_RUN_ID": "any"}])
def test_torchrun_does_not_take_a_stop_for_a_failure(
    launcher: dict[str, str], experiment_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_: Config) -> None:
        raise Stopped

    monkeypatch.setattr(experiment, "train", stop)
    command = ["train", str(experiment_file)]
    assert run(*command) == 3
    for name, value in launcher.items():
        monkeypatch.setenv(name, value)
    assert run(*command) == 0


ONE_MACHINE = [[*TORCHRUN]]


# Two launchers stand for two machines: each knows of the other by the meeting point only.
def free_port() -> int:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        port: int = found.getsockname()[1]
        return port


MEETING = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"localhost:{free_port()}"]
TWO_MACHINES = [
    [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nnodes",
        "2",
        "--nproc-per-node",
        "1",
        *MEETING,
        "--rdzv-id",
        "test",
    ]
] * 2


@pytest.mark.parametrize(
    ("launchers", "accumulate", "sampling"),
    [(ONE_MACHINE, 1, 0), (TWO_MACHINES, 1, 0), (ONE_MACHINE, 2, 0.3)],
    ids=["one", "two", "accumulated and sampled"],
)
def test_two_processes_compute_what_one_does_with_two_batches(
    launchers: list[list[str]],
    accumulate: int,
    sampling: float,
    experiment_file: Path,
    tmp_path: Path,
    background: list[subprocess.Popen[str]],
) -> None:
    together, alone = tmp_path / "together", tmp_path / "alone"
    both = ["train.steps=6", f"data.sampling={sampling}"]
    settings = [*both, f"train.run={together}", f"train.accumulate={accumulate}"]
    changes = [part for each in settings for part in ("--set", each)]
    command = ["-m", "mute", "train", str(experiment_file), *changes]
    processes = [start(background, [*launcher, *command]) for launcher in launchers]
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    assert train(experiment_file, alone, *both, f"train.accumulate={2 * accumulate}") == 0
    losses = [[r["loss"] for r in records(each, "validation")] for each in (together, alone)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    _assert_same_but_for_rounding(final_tensors(together, 6), final_tensors(alone, 6))


def _assert_same_but_for_rounding(
    ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]
) -> None:
    for name, value in theirs.items():
        expected, found = (_that_matter(name, each) for each in (value, ours[name]))
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def _that_matter(name: str, value: torch.Tensor) -> torch.Tensor:
    """All but the keys' biases: softmax is blind to them, so Adam moves them by rounding alone."""
    if name.endswith("mixer.input.bias"):
        queries, _, values = value.chunk(3, -1)
        return torch.cat([queries, values], -1)
    return value.chunk(2, -1)[1] if name.endswith("cross.memory.bias") else value


def test_a_worker_that_dies_is_restarted_and_the_run_goes_on(
    experiment_file: Path, tmp_path: Path, background: list[subprocess.Popen[str]]
) -> None:
    """torchrun --max-restarts: the group starts again from the last checkpoint, all of it."""
    folder, alone = tmp_path / "run", tmp_path / "alone"
    worker = tmp_path / "worker.py"
    worker.write_text(
        "import os, signal\n"
        "from mute.cli import main\n"
        "from mute.train.trainer import Trainer\n"
        "whole = Trainer.step\n"
        "def step(trainer, batches):\n"
        "    first = os.environ['TORCHELASTIC_RESTART_COUNT'] == '0'\n"
        "    if first and trainer.state.step == 4 and trainer.group.rank == 1:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    if not first and trainer.group.rank == 0:\n"
        "        print(trainer.state.step, flush=True)\n"
        "    whole(trainer, batches)\n"
        "Trainer.step = step\n"
        "main()\n"
    )
    settings = ["--set", "train.steps=6", "--set", f"train.run={folder}"]
    command = [*TORCHRUN, "--max-restarts", "1", str(worker), "train", str(experiment_file)]
    process = start(background, [*command, *settings])
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert output.split()[:3] == ["3", "4", "5"]
    assert [record["step"] for record in records(folder, "validation")] == [6]
    assert train(experiment_file, alone, "train.steps=6", "train.accumulate=2") == 0
    _assert_same_but_for_rounding(final_tensors(folder, 6), final_tensors(alone, 6))


def test_a_loss_that_is_not_finite_is_refused_and_then_stops_the_run(
    experiment_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from mute.train.objective import Objective

    whole = Objective.forward

    def poisoned(objective: Any, batch: Any, generator: Any = None) -> Any:
        losses = whole(objective, batch, generator)
        step = int(os.environ["MUTE_TEST_STEP"])
        os.environ["MUTE_TEST_STEP"] = str(step + 1)
        return losses._replace(smoothed=losses.smoothed * float("nan")) if step >= 4 else losses

    monkeypatch.setenv("MUTE_TEST_STEP", "0")
    monkeypatch.setattr(Objective, "forward", poisoned)
    assert train(experiment_file, tmp_path, "train.max_bad_steps=3") == 2
    told = capsys.readouterr().err
    assert "the loss was not finite in 3 steps in a row, up to step 7" in told
    assert "lower train.learning_rate or set train.clip in a new train.run" in told
    refused = records(tmp_path, "refused")
    assert [record["step"] for record in refused] == [5, 6, 7]
    assert all("train.en:" in line for record in refused for line in record["lines"])
    weights = final_tensors(tmp_path, 3)
    assert all(value.isfinite().all() for value in weights.values())


def test_a_step_has_as_many_batches_as_the_run_began_with(
    experiment_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(experiment_file, tmp_path, "train.steps=2", "train.accumulate=2") == 0
    assert json.loads((tmp_path / "result.json").read_text())["batches_per_step"] == 2
    config, log = ((tmp_path / name).read_bytes() for name in ("config.yaml", "log.jsonl"))
    assert train(experiment_file, tmp_path, "train.steps=4") == 2
    assert (tmp_path / "config.yaml").read_bytes() == config
    assert (tmp_path / "log.jsonl").read_bytes() == log
    told = capsys.readouterr().err
    assert "the batches of a step (processes × train.accumulate) were 2 and would now" in told
    assert "be 1; set train.accumulate=2, or choose another train.run" in told
    assert train(experiment_file, tmp_path, "train.steps=4", "train.accumulate=2") == 0


def test_a_run_of_another_experiment_is_refused(
    experiment_file: Path, uninterrupted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(experiment_file, uninterrupted, "model.units=2", "model.bias=[mask]") == 2
    told = capsys.readouterr().err
    assert "was started with other settings: model.units was 3, is 2; model.bias was" in told


def test_a_run_that_does_not_tell_its_settings_is_refused(
    experiment_file: Path,
    uninterrupted: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(uninterrupted, tmp_path / "run")
    (tmp_path / "run" / "config.yaml").unlink()
    assert train(experiment_file, tmp_path / "run", "model.units=2", "model.bias=[mask]") == 2
    assert "run: has checkpoints but no config.yaml" in capsys.readouterr().err


@pytest.mark.parametrize("steps", [12, 13], ids=["finished", "to go on"])
def test_a_run_that_has_lost_its_model_makes_another(
    experiment_file: Path,
    uninterrupted: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    steps: int,
) -> None:
    shutil.copytree(uninterrupted, tmp_path / "run")
    (tmp_path / "run" / "model" / "model.safetensors").write_bytes(b"cut short")
    assert train(experiment_file, tmp_path / "run", f"train.steps={steps}") == 0
    assert "model: the best model so far is gone or damaged; the" in capsys.readouterr().err
    assert run("info", str(tmp_path / "run")) == 0
    assert json.loads((tmp_path / "run" / "result.json").read_text())["best"]["step"] == steps


def test_a_run_does_not_go_on_with_text_that_was_prepared_anew(
    experiment_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, text = tmp_path / "config.yaml", tmp_path / "train.tsv"
    config.write_text(
        f"extends: {experiment_file}\n"
        f"data: {{prepared: {tmp_path}/prepared, train: [{{tsv: {text}}}]}}\n"
        f"train: {{steps: 1}}\n"
    )
    for words in (("dog", "Hund"), ("cat", "Katze")):
        text.write_text("".join(f"the {words[0]} {n}\tder {words[1]} {n}\n" for n in range(300)))
        capsys.readouterr()
        assert run("prepare", str(config), "--set", "data.tokenizer.size=300") == 0
        status = train(config, tmp_path / "run", "data.tokenizer.size=300")
    assert status == 2
    assert "the text was prepared anew since this run began" in capsys.readouterr().err


def test_a_finished_run_can_be_tested_on_other_text(
    experiment_file: Path, uninterrupted: Path, tmp_path: Path
) -> None:
    shutil.copytree(uninterrupted, tmp_path / "run")
    dev = f"{{source: {experiment_file.parent}/dev.en, target: {experiment_file.parent}/dev.de}}"
    assert train(experiment_file, tmp_path / "run", f"data.test={{dev: {dev}}}") == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["tests"].keys() == {"held out", "dev"}
    assert result["tests"]["dev"]["bleu"] == pytest.approx(result["best"]["dev_bleu"])


def test_two_processes_are_not_at_the_same_run(
    experiment_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert train(experiment_file, tmp_path) == 2
    assert "another process is at this run" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_finished_run_has_nothing_left_to_do(experiment_file: Path, uninterrupted: Path) -> None:
    before = (uninterrupted / "log.jsonl").read_text()
    assert train(experiment_file, uninterrupted) == 0
    assert (uninterrupted / "log.jsonl").read_text() == before


@pytest.mark.parametrize(
    "where", ["mute.train.objective.Objective.forward", "torch.optim.Adam.step"]
)
def test_memory_that_is_not_there_is_told_with_the_budget(
    where: str,
    experiment_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def exhausted(*_: Any) -> Any:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(where, exhausted)
    assert train(experiment_file, tmp_path) == 2
    told = capsys.readouterr().err
    assert "out of memory on a batch of" in told
    assert "(train.batch_tokens: 400); lower it, and raise train.accumulate" in told
    assert "in a new train.run" in told


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["data.prepared=/nowhere"], "/nowhere: no prepared data; run 'mute prepare'"),
        (["train.batch_tokens=5"], "train.batch_tokens (5) is less than the longest training"),
        (["data.max_length=9"], "prepared with another data.max_length; run 'mute prepare' again"),
        (["data.test={x: {tsv: nowhere.tsv}}"], "nowhere.tsv: there is no "),
    ],
)
def test_what_cannot_start_says_why(
    overrides: list[str],
    message: str,
    experiment_file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert train(experiment_file, tmp_path / "run", *overrides) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run" / "log.jsonl").exists()
    assert not (tmp_path / "run" / "config.yaml").exists()  # so a mended one may take the folder
