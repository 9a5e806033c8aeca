import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from mute.errors import MuteError
from mute.studies import grid, study
from mute.studies.definitions import STUDIES, Study, System
from mute.studies.results import as_today, read_json, write_json
from tests.unit.studies.made_up import experiment, result


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finished run of text that was prepared as A."""
    monkeypatch.chdir(tmp_path)
    run = Path("runs", "mine")
    (run / "checkpoints" / "step-00000012").mkdir(parents=True)
    (run / "data.digest").write_text("A\n")
    content = {"config": experiment(str(run)).model_dump(mode="json"), "steps": 12}
    (run / "result.json").write_text(json.dumps(content))
    return run


def prepared_as(digest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "load_prepared", lambda _: SimpleNamespace(digest=digest))


def test_a_run_of_the_same_settings_and_text_is_a_twin(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared_as("A", monkeypatch)
    assert grid.find_twin(experiment("runs/other"), 1) == trained


def test_one_of_text_that_was_prepared_otherwise_is_not(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared_as("B", monkeypatch)
    assert grid.find_twin(experiment("runs/other"), 1) is None


def test_one_that_has_gone_on_since_is_not(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its result is of step 12, its model and checkpoints are of later ones."""
    prepared_as("A", monkeypatch)
    (trained / "checkpoints" / "step-00000030").mkdir()
    assert grid.find_twin(experiment("runs/other"), 1) is None


def test_one_whose_checkpoints_are_gone_is_not(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared_as("A", monkeypatch)
    (trained / "checkpoints" / "step-00000012").rmdir()
    assert grid.find_twin(experiment("runs/other"), 1) is None


@pytest.mark.parametrize("model_is_here", [True, False])
def test_a_run_whose_references_were_corrected_is_unfinished_if_it_can_be_scored_anew(
    model_is_here: bool, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared_as("A", monkeypatch)
    run = grid.Run("main", Path("configs/toy"), System("a", "A", "a"), 1, experiment(str(trained)))
    scores = {"test": {"bleu": 40.0, "references": "as they were"}}
    content = read_json(trained / "result.json") | {"tests": scores}
    write_json(content, run.result_file)
    monkeypatch.setattr(grid, "references_of", lambda _: {"test": "as they were"})
    assert run.finished()
    monkeypatch.setattr(grid, "references_of", lambda _: {"test": "corrected"})
    if not model_is_here:
        shutil.rmtree(trained)
    assert run.finished() != model_is_here
    grid.check_results_are_kept([run])


@pytest.mark.parametrize("content", ["[]", "{}", '{"steps": 12}'])
def test_what_is_no_result_of_ours_is_not(
    content: str, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared_as("A", monkeypatch)
    (trained / "result.json").write_text(content)
    assert grid.find_twin(experiment("runs/other"), 1) is None


def test_before_the_text_is_prepared_settings_alone_count(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: object) -> None:
        raise MuteError("no prepared data")

    monkeypatch.setattr(grid, "load_prepared", missing)
    assert grid.find_twin(experiment("runs/other"), 1) == trained


def test_a_setting_that_is_new_has_its_default_in_older_results() -> None:
    before = experiment("a").model_dump(mode="json")
    del before["train"]["r_drop"]
    assert as_today(before) == experiment("a").model_dump(mode="json")
    assert as_today({"of": "somebody else"}) == {"of": "somebody else"}


@pytest.mark.parametrize(
    ("processes", "accumulate", "same"), [(4, 1, True), (2, 2, True), (1, 4, True), (1, 1, False)]
)
def test_what_counts_is_how_many_batches_a_step_has(
    processes: int, accumulate: int, same: bool
) -> None:
    """Four processes with a batch each train what one does with four."""
    of_four = {"config": experiment("a").model_dump(mode="json"), "batches_per_step": 4}
    config = experiment("b", accumulate=accumulate)
    assert grid.same_run(of_four, config, processes) == same


def test_what_counts_is_the_text_where_both_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"config": experiment("a").model_dump(mode="json")}
    prepared_as("A", monkeypatch)
    assert grid.same_run(settings | {"text": "A"}, experiment("b"), 1)
    assert grid.same_run(settings, experiment("b"), 1)  # of an earlier version
    assert grid.differing(settings | {"text": "B"}, experiment("b"), 1) == {
        "the prepared text": ("B", "A")
    }


def test_results_that_do_not_tell_of_processes_are_of_one() -> None:
    assert grid.same_run({"config": experiment("a").model_dump(mode="json")}, experiment("b"), 1)
    assert not grid.same_run(
        {"config": experiment("a").model_dump(mode="json")}, experiment("b"), 2
    )


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("model.units=4", r"--set model.units: that is what 'units1' \(.*\) is about"),
        ("model={units: 4}", r"--set model.units: that is what 'units1' \(.*\) is about"),
        ("train={seed: 9}", "--set train.seed: a study's seeds are given by --seeds"),
        ("train.seed=9", "--set train.seed: a study's seeds are given by --seeds"),
        ("train.run=x", "--set train.run: every run of a study has a folder of its own"),
        ("train=null", "--set train=null: takes a whole section away"),
    ],
)
def test_what_a_study_varies_cannot_be_set_for_all_its_runs(setting: str, told: str) -> None:
    with pytest.raises(MuteError, match=told):
        grid.runs_of(STUDIES["units"], "multi30k", overrides=[setting])


@pytest.mark.parametrize("systems", [[], ["seq"]])
def test_nor_can_what_the_configs_of_its_systems_differ_in(systems: list[str]) -> None:
    told = r"--set model\.units: the study's systems differ in it"
    with pytest.raises(MuteError, match=told):
        grid.runs_of(STUDIES["main"], "multi30k", [1], ["model.units=6"], systems)
    run, *_ = grid.runs_of(STUDIES["main"], "multi30k", [1], ["train.penalty_weight=1e-3"], systems)
    assert run.config.train.penalty_weight == 1e-3


def test_settings_may_be_changed_where_a_folder_has_not_all_of_a_studys_systems(
    tmp_path: Path,
) -> None:
    text = "{source: a.en, target: a.de}"
    for system in ("relative", "seq"):
        (tmp_path / f"{system}.yaml").write_text(
            f"data: {{source: en, target: de, prepared: x, train: [{text}], dev: {text}}}\n"
            "train: {run: r}\n"
        )
    chosen = ["relative", "seq"]
    runs = grid.runs_of(STUDIES["main"], str(tmp_path), [1], ["train.steps=100"], chosen)
    assert [run.config.train.steps for run in runs] == [100, 100]


@pytest.mark.parametrize("prepared", ["A", "B"])
def test_references_that_were_corrected_are_told_where_nothing_can_be_scored(
    prepared: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    prepared_as("A", monkeypatch)
    run = grid.Run("none", Path("configs/toy"), System("a", "A", "a"), 1, experiment("gone"))
    content = result(
        "none", "a", 1, 40.0, {"test": 40.0}, config=run.config.model_dump(mode="json")
    )
    content["tests"]["test"]["references"] = "A"
    write_json(content, run.result_file)
    monkeypatch.setattr(grid, "references_of", lambda _: {"test": prepared})
    monkeypatch.setattr(study, "make_tables", lambda *_: None)
    told: list[str] = []
    outcome, _ = study.run_study(Study("none", "", [run.system]), [run], 1, told.append)
    assert outcome.finished == ["a-seed1"]
    assert [each.startswith("a-seed1: scored on other references") for each in told] == (
        [True] if prepared == "B" else []
    )
