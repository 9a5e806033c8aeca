"""`mute bench`, as a user types it."""

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from safetensors.torch import load_file

from mute.bench import estimate, measurement
from mute.config import Experiment
from mute.configfile import load_experiment
from mute.data.batching import BatchStream
from mute.data.prepared import load_prepared
from mute.model.kernels import missed
from mute.model.parameters import parameter_count
from mute.runtime import source_commit
from tests.integration.command import run
from tests.machines import needs_int8

PARTS = ["batches", "encoder", "decoder", "output and loss", "backward", "optimizer and rest"]


@pytest.fixture
def _known_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare most tests the seconds that measuring it takes."""
    monkeypatch.setattr("mute.bench.measurement.measure_peak", lambda _: 200.0)


def bench(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run("bench", *arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def stream_of(config: Experiment) -> BatchStream:
    training = config.train
    return BatchStream(load_prepared(config.data).train, training.batch_tokens, training.seed)


@needs_int8
def test_training_and_translation_are_measured_on_the_prepared_data(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = bench(capsys, str(experiment_file), "--steps", "3")

    config = load_experiment(experiment_file)
    prepared = load_prepared(config.data)
    sizes = (prepared.tokenizer.source_size, prepared.tokenizer.target_size)
    assert found["model"] == {
        "parameters": parameter_count(config.model, sizes),
        "vocabulary": list(sizes),
        "prepared": True,
    }
    assert found["commit"] == source_commit()
    assert found["machine"]["threads"] == 1
    assert found["machine"]["peak_gflops"] > 0
    assert found["complaints"] == missed(torch.device("cpu"))
    assert not Path(config.train.run).exists()

    trained = found["training"]
    assert (trained["steps"], trained["batch_tokens"], trained["accumulate"]) == (3, 400, 1)
    assert 0 <= trained["padding"] < 0.3
    assert trained["peak_memory"] > 1_000_000
    assert list(trained["seconds_by_part"]) == PARTS
    assert min(trained["seconds_by_part"].values()) > 0
    total = sum(trained["seconds_by_part"].values())
    assert total == pytest.approx(trained["seconds_per_step"])
    assert 0 < trained["speed"]["share_of_peak"] < 1.5

    kinds = [(each["sentences"], each["compute"]) for each in found["translation"]]
    assert kinds == [(30, "float32"), (30, "int8"), (1, "float32"), (1, "int8")]
    source, target = (round(float(lengths.mean())) for lengths in prepared.train.lengths)
    for each in found["translation"]:
        assert (each["source_length"], each["target_length"], each["beam"]) == (source, target, 4)
        assert list(each["seconds_by_part"]) == ["encoder", "decoder", "search"]
        assert sum(each["seconds_by_part"].values()) == pytest.approx(each["seconds"])
        tokens = each["sentences"] * target
        assert each["speed"]["target_tokens_per_second"] == pytest.approx(tokens / each["seconds"])
        assert 0 < each["speed"]["share_of_peak"] < 1.5
    many, one = found["translation"][0], found["translation"][2]
    work = [each["speed"]["gflops"] * each["seconds"] for each in (many, one)]
    assert work[0] == pytest.approx(30 * work[1])


@pytest.mark.usefixtures("_known_peak")
def test_tokens_and_work_are_those_of_the_first_batches(
    experiment_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("mute.bench.measurement.measure_translation", lambda *_: ([], []))
    speeds = []
    for accumulate in (1, 2):
        settings = ("--set", f"train.accumulate={accumulate}", "--steps", "1")
        trained = bench(capsys, str(experiment_file), *settings)["training"]
        speeds.append((trained["speed"], trained["seconds_per_step"]))
    config = load_experiment(experiment_file)
    lengths = load_prepared(config.data).train.lengths[1]
    batches = list(stream_of(config).epoch(0))
    for batch_count, (speed, seconds) in enumerate(speeds, 1):
        tokens = sum(int((lengths[batch] + 1).sum()) for batch in batches[:batch_count])
        assert speed["target_tokens_per_second"] * seconds == pytest.approx(tokens)
    (first, its_seconds), (both, their_seconds) = speeds
    assert both["gflops"] * their_seconds > 1.5 * first["gflops"] * its_seconds


@pytest.mark.usefixtures("_known_peak")
def test_a_config_without_data_is_measured_on_random_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "model.yaml"
    config.write_text(
        "model: {preset: tiny, encoder_layers: 1, decoder_layers: 1, d_model: 16, d_ffn: 16,"
        " unit: convolution, units: 2, decoder: {unit: convolution, units: 2}}\n"
        f"train: {{run: '{tmp_path}/run', batch_tokens: 300}}\n"
    )
    found = bench(capsys, str(config), "--steps", "1", "--vocab-size", "90,70")
    assert found["model"]["vocabulary"] == [90, 70]
    assert not found["model"]["prepared"]
    assert found["training"]["batch_tokens"] == 300
    for each in found["translation"]:
        assert each["source_length"] == pytest.approx(25, abs=1)
        assert each["target_length"] == pytest.approx(25, abs=1)
        assert 0 < each["speed"]["share_of_peak"] < 1.5
    assert list(tmp_path.iterdir()) == [config]


@pytest.mark.usefixtures("_known_peak")
def test_a_config_needs_no_more_than_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "model.yaml"
    config.write_text("model: {preset: tiny, encoder_layers: 1, decoder_layers: 1}\n")
    found = bench(capsys, str(config), "--steps", "1", "--vocab-size", "90,70")
    assert found["training"]["batch_tokens"] == 4096
    assert list(tmp_path.iterdir()) == [config]


@needs_int8
@pytest.mark.usefixtures("_known_peak")
def test_the_tables_show_every_part(
    experiment_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)  # the tests have but one
    assert run("bench", str(experiment_file), "--steps", "1", "--threads", "2") == 0
    assert asked == [2]
    shown = capsys.readouterr().out
    for part in (*PARTS, "share of peak", "padding", "peak memory", "float32", "int8", "search"):
        assert part in shown
    assert "1 thread: peak 200.0 GFLOP/s" in shown


@pytest.mark.usefixtures("_known_peak")
def test_a_machine_without_8_bit_arithmetic_is_measured_without(
    experiment_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("mute.translate.int8.survives", lambda _: False)
    found = bench(capsys, str(experiment_file), "--steps", "1")
    assert [each["compute"] for each in found["translation"]] == ["float32", "float32"]
    assert found["complaints"][-1] == "--compute int8: this machine cannot; use float32"


def test_an_estimate_says_what_the_run_will_take(
    experiment_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = bench(capsys, str(experiment_file), "--estimate", "--steps", "2")
    batches = len(list(stream_of(load_experiment(experiment_file)).epoch(0)))
    assert found["batches_per_epoch"] == found["steps_per_epoch"] == batches
    assert found["steps"] == 12
    assert found["seconds_per_epoch"] == pytest.approx(batches * found["seconds_per_step"])
    assert found["seconds_of_run"] == pytest.approx(12 * found["seconds_per_step"])
    assert 0 < found["peak_memory"] <= (found["memory_room"] or math.inf)
    assert found["warnings"] == []

    run("train", str(experiment_file), "--set", f"train.run={tmp_path}/run")
    checkpoints = list((tmp_path / "run" / "checkpoints").iterdir())
    files = [load_file(path) for path in checkpoints[0].glob("*.safetensors")]
    assert found["checkpoint"] == sum(value.nbytes for file in files for value in file.values())
    assert found["disk"] == 7 * found["checkpoint"] + 8 * found["parameters"]


def test_an_epoch_has_fewer_steps_if_each_takes_several_batches(
    experiment_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = ("--set", "train.accumulate=2", "--set", "train.average_decay=0")
    found = bench(capsys, str(experiment_file), "--estimate", "--steps", "1", *settings)
    assert found["steps_per_epoch"] == found["batches_per_epoch"] / 2
    assert found["checkpoint"] < 4 * found["parameters"] * 3 * 1.1


def test_too_little_memory_is_a_clear_warning(
    experiment_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(estimate, "memory_room", lambda _: 50_000_000)
    found = bench(capsys, str(experiment_file), "--estimate")
    assert found["seconds_of_run"] is None
    (warning,) = found["warnings"]
    assert "GB, but there are 0.1 GB: lower train.batch_tokens (400), and raise" in warning
    assert run("bench", str(experiment_file), "--estimate") == 0
    shown = capsys.readouterr().out
    assert "Warning: training needs about" in shown
    exchanged = (
        f"each needs another {4 * found['parameters'] / 1000:.1f} kB to exchange its gradients"
    )
    assert exchanged in " ".join(shown.split())
    assert "not measured" in shown


@pytest.mark.parametrize("room", [2_000, 3_000, 5_000, 10_000])
def test_the_largest_batch_is_tried_only_if_it_fits(
    monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """A machine of which we know what it takes: a step has gradients or a batch to hold."""
    still, gradients, once, of_sentence = 1_000, 800, 200, 50
    sentences, tried = 64, list[int]()

    def peak_after(_: object, __: object, count: int, length: int) -> int:
        del length
        tried.append(still + max(gradients, once + of_sentence * count))
        return max(tried)

    monkeypatch.setattr(estimate, "_peak_after", peak_after)
    parameters = [torch.zeros(gradients // 4)]
    trainer = SimpleNamespace(parameters=parameters, config=SimpleNamespace(batch_tokens=640))
    material = SimpleNamespace(longest=10)
    need = estimate._need_of_largest_batch(cast("Any", trainer), cast("Any", material), room)
    real = still + once + of_sentence * sentences  # 4,400
    assert max(tried) <= room
    assert (need > room) == (real > room)
    assert real <= need <= 4 * real


@pytest.mark.parametrize("way", ["--estimate", "--json"])
def test_a_model_that_is_too_large_is_not_even_made(
    experiment_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    way: str,
) -> None:
    for module in (estimate, measurement):
        monkeypatch.setattr(module, "memory_room", lambda _: 1_000_000)
    monkeypatch.setattr("mute.bench.training.build", lambda *_: pytest.fail("it was made"))
    assert run("bench", str(experiment_file), way, "--set", "model.d_model=256") == 2
    assert "but there are 0.0 GB: choose a smaller model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--estimate", "--set", "data.prepared=nowhere"],
            "nowhere: no prepared data; run 'mute prepare' with this config first",
        ),
        (["--set", "data.max_length=9"], "prepared with another data.max_length; run 'mute"),
        (["--vocab-size", "4"], "--vocab-size 4: leaves no word beside the 4 special ones"),
        (["--vocab-size", "many"], "--vocab-size many: should be a number"),
        (["--vocab-size", "90", "--estimate"], "--vocab-size: means nothing with --estimate"),
        (["--set", "train.batch_tokens=5"], "train.batch_tokens (5) is less than the longest"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_status_2(
    experiment_file: Path,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("bench", str(experiment_file), *arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith("mute: ")
    assert message in told
    assert len(told.splitlines()) == 1


def test_an_estimate_needs_a_config_of_a_whole_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "model.yaml"
    config.write_text("model: {preset: tiny}\n")
    assert run("bench", str(config), "--estimate") == 2
    assert "data: is missing" in capsys.readouterr().err
