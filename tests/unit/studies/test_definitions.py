"""Every declared study, against every task that is shipped."""

from itertools import combinations
from pathlib import Path

import pytest

from mute.configfile import load_config
from mute.errors import MuteError
from mute.studies.definitions import PAPER_TASKS, SMALL_BUDGET, STUDIES, Study, find_study
from mute.studies.figures import FIGURES
from mute.studies.grid import runs_of
from mute.studies.measures import MEASURES
from mute.studies.plan import doubts

ROOT = Path(__file__).parents[3]
TASKS = sorted(path.name for path in (ROOT / "configs").iterdir() if path.is_dir())


@pytest.fixture(autouse=True)
def _where_the_configs_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", STUDIES)
def test_every_study_fits_every_task(name: str, task: str) -> None:
    study = STUDIES[name]
    if study.only_task not in ("", task):
        with pytest.raises(MuteError, match=f"{name}' changes settings of {study.only_task}, "):
            runs_of(study, task)
        return
    runs = runs_of(study, task)
    assert len({run.folder for run in runs}) == len(runs)
    assert study.baseline in {run.system.name for run in runs}
    settings = [
        run.config.model_dump(exclude={"train": {"run"}})
        for run in runs
        if run.seed == runs[0].seed
    ]
    assert all(one != other for one, other in combinations(settings, 2))


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_what_a_study_names_exists(study: Study) -> None:
    assert set(study.measures) <= set(MEASURES)
    assert set(study.figures) <= set(FIGURES)


def test_the_tasks_that_are_named_are_shipped() -> None:
    assert {*PAPER_TASKS, *SMALL_BUDGET} <= set(TASKS)


@pytest.mark.parametrize(
    ("task", "processes", "changes", "doubted"),
    [
        ("multi30k", 1, [], False),
        ("wmt14-en-de", 1, [], True),
        ("wmt14-en-de", 4, [], False),
        ("wmt14-en-de", 2, ["train.accumulate=2"], False),
        ("nist-zh-en", 2, [], False),
        ("nist-zh-en", 4, [], True),
    ],
)
def test_steps_that_are_not_the_papers_are_doubted(
    task: str, processes: int, changes: list[str], doubted: bool
) -> None:
    runs = runs_of(STUDIES["main"], task, [1], changes, [], processes)
    assert bool(list(doubts(runs))) == doubted


def test_only_the_papers_tasks_have_big() -> None:
    def names(task: str) -> list[str]:
        return [run.name for run in runs_of(STUDIES["main"], task, seeds=[1])]

    assert "big-seed1" in names("wmt14-en-de")
    assert "big-seed1" not in names("multi30k")


def test_budgets_are_small_for_small_tasks_and_the_papers_for_the_papers() -> None:
    def steps(study: str, task: str) -> set[int]:
        return {run.config.train.steps for run in runs_of(STUDIES[study], task)}

    own = load_config("configs/multi30k/seq.yaml").train
    assert own is not None
    assert steps("main", "multi30k") == {own.steps}
    (fewer,) = steps("ablation", "multi30k")
    assert fewer < own.steps
    assert steps("ablation", "nist-zh-en") == {150_000}


def test_overrides_win_and_seeds_can_be_chosen() -> None:
    runs = runs_of(STUDIES["ablation"], "multi30k", [7, 8], ["train.steps=10"])
    assert {run.config.train.steps for run in runs} == {10}
    assert runs[0].name == "seq-seed7"
    assert {run.seed for run in runs} == {7, 8}


def test_systems_can_be_chosen() -> None:
    names = [run.name for run in runs_of(STUDIES["main"], "multi30k", systems=["seq", "relative"])]
    assert names[:2] == ["relative-seed1", "seq-seed1"]
    assert len(names) == 2 * len(STUDIES["main"].seeds)
    with pytest.raises(MuteError, match="'sec' is no system of 'main'; there are transformer, re"):
        runs_of(STUDIES["main"], "multi30k", systems=["seq", "sec"])


def test_only_the_baseline_is_averaged_over_seeds() -> None:
    names = [run.name for run in runs_of(STUDIES["averaging"], "multi30k")]
    assert names == [
        *("relative-seed1", "mute-seed1", "seq-seed1"),
        *(f"relative-seed{seed}" for seed in (2, 3, 4, 5)),
    ]
    assert [run.name for run in runs_of(STUDIES["averaging"], "multi30k", [7], (), ["seq"])] == [
        "seq-seed7"
    ]
    later = [run.name for run in runs_of(STUDIES["averaging"], "multi30k", [4, 5])]
    assert later == ["relative-seed4", "relative-seed5"], "the others have their seed"


def test_the_ablation_takes_one_unit_away() -> None:
    runs = {run.system.name: run.config.model for run in runs_of(STUDIES["ablation"], "multi30k")}
    assert runs["no-swap"].units == 3
    assert runs["no-swap"].bias == ("identity", "disorder", "mask")
    assert runs["no-swap"].sequential
    assert not runs["no-seq"].sequential


def test_the_learned_order_is_compared_with_a_fixed_one_and_with_none() -> None:
    runs = runs_of(STUDIES["permutation"], "multi30k")
    models = {run.system.name: run.config.model for run in runs}
    learned, fixed = models["seq"], models["fixed"]
    assert fixed == learned.model_copy(update={"order": "fixed"}) != learned
    assert not models["bias"].sequential


def test_an_unknown_study_or_task_is_told() -> None:
    with pytest.raises(MuteError, match="'hugo' is no study; there are main, ablation"):
        find_study("hugo")
    with pytest.raises(MuteError, match="configs/ has 3am-zh-en, multi30k, nist-zh-en"):
        runs_of(STUDIES["main"], "hugo")
