"""Studies in miniature: a grid of two runs, from the command to its table."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mute.config import Experiment
from mute.errors import MuteError
from mute.evaluate.segments import read_segments
from mute.studies.definitions import STUDIES, Study, System
from mute.studies.grid import runs_of
from mute.studies.measures import FILE, Trained, measure
from mute.studies.results import read_results
from mute.studies.runner import Outcome, check
from mute.studies.study import make_tables, run_study
from mute.studies.variants import LENGTH_PENALTIES
from mute.studies.worker import Request, perform
from mute.train.folder import alone_in
from tests.integration.command import run
from tests.integration.test_train import wait_until

ONE_UNIT = ("model.units=1", "model.bias=[]", "model.sequential=false")
RELATIVE = System("relative", "+ Relative", "toy", ONE_UNIT)
SEQ = System("seq", "MUTE + Bias + Seq", "toy")
BROKEN = System("broken", "broken", "toy", ("train.start_from=nowhere",))
PAIR = Study("pair", "two systems", (RELATIVE, SEQ), figures=("curves", "weights"))
HALF_BROKEN = Study("half-broken", "one of two fails", (BROKEN, SEQ), baseline="seq", figures=())


@pytest.fixture(scope="module")
def place(experiment_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A working directory with a task, in which one study after the other is run."""
    folder = tmp_path_factory.mktemp("studies")
    (folder / "configs" / "toy").mkdir(parents=True)
    (folder / "configs" / "toy" / "toy.yaml").write_text(f"extends: {experiment_file}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("OMP_NUM_THREADS", "1")
        for study in (PAIR, HALF_BROKEN):
            patch.setitem(STUDIES, study.name, study)
        yield folder


@pytest.fixture(scope="module")
def finished(place: Path) -> Path:
    """The results of a study that has been run."""
    assert run("study", "pair", "--task", "toy", "--jobs", "2") == 0
    return place / "results" / "pair" / "toy"


def read(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read_text())
    return content


def test_every_run_leaves_its_result_without_any_sentence(finished: Path) -> None:
    result = read(finished / "seq-seed1.json")
    assert (result["study"], result["task"], result["system"]) == ("pair", "toy", "seq")
    assert result["config"]["model"]["units"] == 3
    assert result["seed"] == 1
    assert result["seconds"] > 0
    assert [len(layer["alpha"]) for layer in result["units"]["encoder"]] == [3, 3]
    assert sorted(result["units"]["encoder"][0]["order"]) == [0, 1, 2]
    assert "decoder" not in result["units"]
    average = result["average"]
    assert (average["checkpoints"], average["last"]) == (4, "step-00000012")
    assert average["tests"]["held out"]["signature"] == result["tests"]["held out"]["signature"]
    tuned = result["tuned"]
    assert tuned["length_penalty"] in LENGTH_PENALTIES
    assert tuned["dev_bleu"] >= result["best"]["dev_bleu"]
    assert tuned["tests"].keys() == result["tests"].keys()
    folder = Path(result["config"]["train"]["run"])
    assert len((folder / "hypotheses" / "held out.txt").read_text().splitlines()) == 20
    assert len(list((folder / "checkpoints").iterdir())) == 1


def test_the_table_shows_what_the_results_say(finished: Path) -> None:
    table = (finished / "table.md").read_text()
    result = read(finished / "seq-seed1.json")
    line = next(each for each in table.splitlines() if each.startswith("| MUTE + Bias + Seq |"))
    assert f"{result['best']['dev_bleu']:.2f}" in line
    assert f"{result['tests']['held out']['bleu']:.2f}" in line
    assert result["tests"]["held out"]["signature"] in table
    (row,) = [row for row in read(finished / "table.json")["rows"] if row["system"] == "seq"]
    comparison = read(finished / "comparisons.json")["seq-seed1"]["held out"]
    assert row["p"] == {"held out": [comparison["p"]]}
    for figure in ("alpha.png", "coefficients.png"):  # two validations are no curve
        assert (finished / figure).read_bytes().startswith(b"\x89PNG")
        assert f"]({figure})" in table


def test_a_finished_study_runs_nothing_again(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("study", "pair", "--task", "toy") == 0
    assert "begun" not in capsys.readouterr().out


def test_a_result_of_other_settings_is_not_overwritten(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (finished / "seq-seed1.json").read_text()
    assert run("study", "pair", "--task", "toy", "--set", "train.label_smoothing=0.2") == 2
    message = capsys.readouterr().err
    assert "would overwrite: train.label_smoothing was 0.1, is 0.2. Move it away first" in message
    assert (finished / "seq-seed1.json").read_text() == before


def test_tables_need_nothing_but_the_results(
    finished: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "configs" / "toy").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert run("study", "pair", "--task", "toy", "--tables") == 2
    assert "no run of this study is finished yet" in capsys.readouterr().err
    copy = tmp_path / "results" / "pair" / "toy"
    shutil.copytree(finished, copy)
    before = (copy / "table.md").read_text()
    (copy / "table.md").unlink()
    (copy / "comparisons.json").unlink()
    assert run("study", "pair", "--task", "toy", "--tables") == 0
    assert read(copy / "comparisons.json") == read(finished / "comparisons.json")
    assert (copy / "table.md").read_text() == before


def test_a_run_that_another_study_has_made_is_not_made_again(finished: Path) -> None:
    other = Study("other", "the same run", (SEQ,), baseline="seq", figures=())
    told: list[str] = []
    outcome, _ = run_study(other, runs_of(other, "toy"), 1, told.append)
    assert outcome.finished == ["seq-seed1"]
    ours, theirs = read_results(other, "toy")["seq"][0], read(finished / "seq-seed1.json")
    assert ours["study"] == "other"
    assert ours["config"] == theirs["config"]
    assert ours["tests"] == theirs["tests"]


def test_other_test_sets_are_scored_without_training_again(finished: Path, tmp_path: Path) -> None:
    result = read(finished / "seq-seed1.json")
    folder, config = tmp_path / "run", result["config"]
    shutil.copytree(config["train"]["run"], folder)
    config["train"]["run"] = str(folder)
    config["data"]["test"] = {"dev": config["data"]["dev"]}
    request = Request(Experiment.model_validate(config), tmp_path / "result.json", {})
    perform(request)
    again = read(tmp_path / "result.json")
    assert again["tests"].keys() == again["average"]["tests"].keys() == {"dev"}
    assert again["tuned"]["tests"].keys() == {"dev"}
    for each in ("checkpoints", "last", "dev_bleu"):
        assert again["average"][each] == result["average"][each]


def test_corrected_references_are_scored_without_training_again(
    finished: Path, tmp_path: Path
) -> None:
    result = read(finished / "seq-seed1.json")
    folder, config = tmp_path / "run", result["config"]
    shutil.copytree(config["train"]["run"], folder)
    config["train"]["run"] = str(folder)
    (name, text), *_ = config["data"]["test"].items()
    corrected = tmp_path / "corrected.txt"
    corrected.write_text("".join(f"{line}\n" for line in read_segments(text["target"])))
    text["target"] = str(corrected)
    request = Request(Experiment.model_validate(config), tmp_path / "result.json", {})
    perform(request)
    before = read(tmp_path / "result.json")
    corrected.write_text(corrected.read_text().replace("\n", " indeed\n"))
    perform(request)
    after = read(tmp_path / "result.json")
    assert before["counts"] != after["counts"]
    of_references = [
        [scores["tests"][name]["references"] for scores in (each, each["average"], each["tuned"])]
        for each in (before, after)
    ]
    assert [len(set(digests)) for digests in of_references] == [1, 1]
    assert of_references[0] != of_references[1]


def test_a_plan_says_what_is_finished_and_what_it_takes(
    finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("study", "pair", "--task", "toy", "--seeds", "1,2", "--dry-run") == 0
    shown = capsys.readouterr().out
    rows = {
        words[0]: " ".join(words[1:])
        for line in shown.splitlines()
        if "seed" in line and (words := line.split())
    }
    assert "tokens of a step, those of all processes: 400" in shown
    assert list(rows) == ["relative-seed1", "seq-seed1", "relative-seed2", "seq-seed2"]
    parameters = read(finished / "seq-seed1.json")["parameters"]
    assert f"finished 12 {parameters / 1e6:.2f}M 0.0" in rows["seq-seed1"]
    assert "to do 12" in rows["seq-seed2"]
    assert rows["seq-seed2"].endswith("—")


def test_a_plan_measures_what_a_run_takes(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--task", "toy", "--seeds", "7", "--set", "train.steps=99999", "--dry-run")
    assert run("study", "pair", *arguments, "--measure") == 0
    *_, total = (line.split() for line in capsys.readouterr().out.splitlines() if "all" in line)
    assert float(total[-1]) > 0


def test_a_study_that_was_stopped_goes_on(place: Path) -> None:
    study = Study("stopped", "two systems", (RELATIVE, SEQ), figures=())
    runs = runs_of(study, "toy", seeds=[5])

    def stop_at_the_second(sentence: str) -> None:
        if sentence.startswith("seq-seed5: begun"):
            os.kill(os.getpid(), signal.SIGTERM)

    first, table = run_study(study, runs, 1, stop_at_the_second)
    assert (first.finished, first.stopped) == (["relative-seed5"], ["seq-seed5"])
    assert table is not None
    assert "Not run yet: MUTE + Bias + Seq." in table.read_text()
    with pytest.raises(MuteError, match="stopped with 1 run to go; 'again' goes on from there"):
        check(first, "again")
    second, _ = run_study(study, runs, 1, lambda _: None)
    assert second.finished == ["relative-seed5", "seq-seed5"]


def test_each_run_may_have_several_processes(place: Path) -> None:
    study = Study("together", "one system", (SEQ,), baseline="seq", figures=())
    settings = ["train.batch_tokens=200"]
    runs = runs_of(study, "toy", seeds=[6], overrides=settings, processes=2)
    outcome, _ = run_study(study, runs, 1, lambda _: None)
    assert (outcome.finished, outcome.failed) == (["seq-seed6"], {})
    (result,) = read_results(study, "toy")["seq"]
    assert (result["steps"], result["batches_per_step"]) == (12, 2)
    alone = runs_of(study, "toy", [6], [*settings, "train.accumulate=2"])
    assert alone[0].finished(), "one process with two batches trains the same"
    with pytest.raises(MuteError, match=r"processes × train.accumulate was 2, is 1"):
        run_study(study, runs_of(study, "toy", [6], settings), 1, lambda _: None)


@pytest.mark.parametrize("processes", [1, 2])
def test_the_runs_of_a_study_that_was_killed_save_and_end(processes: int, place: Path) -> None:
    for name in ("mute", "bias", "seq"):
        (place / "configs" / f"endless-{processes}").mkdir(exist_ok=True)
        config = place / "configs" / f"endless-{processes}" / f"{name}.yaml"
        settings = "{steps: 999999, save_every: 999999, batch_tokens: 200}"
        config.write_text(f"extends: ../toy/toy.yaml\ntrain: {settings}\n")
    command = [sys.executable, "-m", "mute", "study", "weights", "--task", f"endless-{processes}"]
    command += ["--processes", str(processes)]
    run_folder = place / "runs" / "study" / "weights" / f"endless-{processes}" / "mute-seed1"
    with subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL) as study:
        wait_until(lambda: "validation 6:" in read_output(run_folder))
        study.kill()
    wait_until(lambda: nobody_is_at(run_folder))
    assert "stopped at step" in read_output(run_folder)
    assert any((run_folder / "checkpoints").glob("step-*"))
    assert not (run_folder / "result.json").exists()


def test_a_second_study_leaves_the_first_ones_runs_alone(place: Path) -> None:
    study = Study("twice", "one system", (SEQ,), baseline="seq", figures=())
    runs = runs_of(study, "toy", seeds=[9])
    said = {"output.txt": "validation 6", "request.json": "{}"}
    runs[0].folder.mkdir(parents=True)
    for name, text in said.items():
        (runs[0].folder / name).write_text(text)
    with (runs[0].folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as the first one's worker has it
        outcome, _ = run_study(study, runs, 1, lambda _: None)
    assert "another process is at this run" in outcome.failed["seq-seed9"]
    assert {name: (runs[0].folder / name).read_text() for name in said} == said


def nobody_is_at(run_folder: Path) -> bool:
    try:
        with alone_in(run_folder):
            return True
    except MuteError:
        return False


def read_output(run_folder: Path) -> str:
    file = run_folder / "output.txt"
    return file.read_text() if file.is_file() else ""


def test_a_run_that_fails_is_reported_and_stops_no_other(
    place: Path, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("study", "half-broken", "--task", "toy") == 2
    told = capsys.readouterr()
    assert "seq-seed1: finished" in told.out
    assert told.err.startswith("mute: 1 of the runs failed\nbroken-seed1: nowhere/config.json: ")
    assert "exit status 2; all it said is in runs/study/half-broken/toy/broken-seed1/" in told.err


def test_what_is_measured_goes_into_the_table(finished: Path) -> None:
    everything = ("across_seeds", "attention", "diversity", "orders", "speed")
    study = Study("pair", "all", (RELATIVE, SEQ), measures=everything, figures=())
    results = read_results(study, "toy")
    twice = {system: each * 2 for system, each in results.items()}
    measure(Trained(study, "toy", twice), print)
    found = read(finished / FILE)
    assert found["columns"]["seq"]["tokens/s"] > 0
    config = results["seq"][0]["config"]
    source = config["data"]["dev"]["source"]
    assert run("analyze", config["train"]["run"], "--src", source, "--out", "page") == 0
    analysed = read(Path("page", "analysis.json"))["diversity"]["overall"]["ffn_outputs"]
    assert found["columns"]["seq"]["FFN outputs"] == pytest.approx(analysed)
    labels = [row["label"] for row in found["rows"]]
    assert "+ Relative, average of 2 seeds" in labels
    average = found["rows"][labels.index("MUTE + Bias + Seq, average of 2 seeds")]["scores"][0]
    assert average["tests"] == results["seq"][0]["tests"]  # the average of a model and itself
    assert "MUTE + Bias + Seq, rounded at the end" in labels
    best, mean = (
        found["rows"][labels.index(f"MUTE + Bias + Seq, then one order in all layers: {which}")]
        for which in ("the best on dev", "mean of all")
    )
    assert best["scores"][0]["dev_bleu"] >= mean["scores"][0]["dev_bleu"]
    assert Path("runs/study/pair/toy/attention-seq.png").is_file()
    table = make_tables(study, Path("toy"), lambda _: None).read_text()
    assert "| tokens/s |" in table
    assert "| + Relative, ensemble of 2 seeds |" in table


@pytest.mark.parametrize("folder", ["runs/elsewhere", "its own"])
def test_models_of_another_machine_or_run_are_missed_in_words(finished: Path, folder: str) -> None:
    study = Study("pair", "speed", (RELATIVE, SEQ), measures=("across_seeds", "speed"), figures=())
    results = read_results(study, "toy")
    training = results["seq"][0]["config"]["train"]
    training["run"] = folder = training["run"] if folder == "its own" else folder
    results["seq"][0]["best"]["step"] += 1  # not the model that was measured before
    before = file.read_bytes() if (file := finished / FILE).is_file() else None
    told: list[str] = []
    measure(Trained(study, "toy", results), told.append)
    (said,) = told
    assert said.startswith("not measured: across seeds and speed, which needs models that are not ")
    assert said.endswith(f"here, or are of another run now: {folder}")
    assert before == (file.read_bytes() if file.is_file() else None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which study? 'mute study --list' shows what there are"),
        (["hugo"], "'hugo' is no study; there are main, ablation"),
        (["main", "--task", "hugo"], "--task hugo: no such folder of configs; configs/ has "),
        (["main", "--task", "toy"], "configs/toy/transformer.yaml: cannot be read"),
        (["pair", "--task", "toy", "--seeds", "one"], "--seeds one: should be numbers"),
        (["pair", "--task", "toy", "--measure"], "--measure: goes with --dry-run"),
        (["pair", "--tables", "--seeds", "1"], "--tables: makes the tables of all results that"),
        (["pair", "--tables", "--systems", "seq"], "--tables: makes the tables of all results"),
    ],
)
def test_a_mistake_is_one_sentence(
    place: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("study", *arguments) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"mute: {message}")
    assert len(told.splitlines()) == 1


def test_the_list_has_every_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("study", "--list") == 0
    shown = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert shown[:2] == ["main", "ablation"]
    assert {"averaging", "diversity", "units", "weights", "sample-rate", "case"} < set(shown)


def test_unfinished_runs_are_counted() -> None:
    check(Outcome(finished=["a"]), "again")
    with pytest.raises(MuteError, match="stopped with 2 runs"):
        check(Outcome(stopped=["a"], waiting=["b"]), "again")
