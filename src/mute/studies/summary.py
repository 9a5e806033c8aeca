"""The finished runs of a study in numbers: means over seeds, differences, significance.

Everything is read from the files among the results; no run folder is needed.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mute.configdiff import differences
from mute.errors import MuteError
from mute.evaluate.significance import dagger
from mute.studies import comparisons, measures
from mute.studies.definitions import Study, System
from mute.studies.grid import BATCHES, TEXT, WITHOUT_EFFECT, runs_of
from mute.studies.results import (
    as_today,
    batches_per_step,
    read_known,
    read_results,
    results_folder,
)


@dataclass(frozen=True)
class Spread:
    """A mean over seeds."""

    mean: float
    deviation: float | None
    """The standard deviation of the sample; None for a single seed."""


Scores = tuple[Spread | None, dict[str, Spread]]
"""On the development set and on the test sets."""
VARIANTS = {
    "average": "Average of each run's last checkpoints",
    "tuned": "The best model, with the length penalty that is best on dev",
}
"""What every result has beside the best model's scores, and its heading."""


@dataclass(frozen=True)
class Variant:
    """The scores of other models that the same runs gave, or of another search."""

    dev: Spread | None
    tests: dict[str, Spread]
    note: str = ""


@dataclass(frozen=True)
class Row:
    """One line of the table; what was not measured is missing or None."""

    label: str
    dev: Spread | None
    tests: dict[str, Spread]
    difference: float | None
    """From the baseline's runs of the same seeds, averaged over the development set and tests."""
    system: str | None = None
    """None for what was made from trained models; the rest is missing then, too."""
    parameters: int | None = None
    seeds: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    variants: dict[str, Variant] = field(default_factory=dict)
    """By their names in `VARIANTS`."""
    p: dict[str, list[float | None]] = field(default_factory=dict)
    """By test set, for every seed, against the baseline's run of that seed, if compared."""
    daggers: dict[str, str] = field(default_factory=dict)
    measured: dict[str, float] = field(default_factory=dict)
    hours: float | None = None
    """Of training, a mean over seeds."""
    baseline: str = ""
    """The system that is its baseline, if that is not the study's."""
    mixed: list[str] = field(default_factory=list)
    """Settings that its runs do not share, but for the seed: then the mean is of little worth."""
    unlike: list[str] = field(default_factory=list)
    """Settings that its baseline has otherwise, though the study does not mean it to."""


@dataclass(frozen=True)
class Summary:
    """A study on a task."""

    study: str
    task: str
    baseline: str
    tests: list[str]
    rows: list[Row]
    missing: list[str]
    """Labels of systems without a finished run."""
    signatures: list[str]
    commits: list[str]
    threads: list[int | None]
    """That the runs had; None where a result does not tell."""

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def spread(values: Iterable[float]) -> Spread | None:
    """Mean and standard deviation; None of nothing."""
    known = list(values)
    if not known:
        return None
    deviation = statistics.stdev(known) if len(known) > 1 else None
    return Spread(statistics.mean(known), deviation)


def summarise(study: Study, configs: Path | str) -> Summary:
    """All that the results' files say of a study on a task, which its folder of configs names."""
    task = Path(configs).name
    folder = results_folder(study.name, task)
    results = read_results(study, task)
    compared = read_known(folder / comparisons.FILE)
    measured = measures.up_to_date(read_known(folder / measures.FILE), results)
    declared = _declared(study, str(configs))
    rows = [
        _row(
            system,
            results[system.name],
            results[study.baseline_of(system)],
            compared,
            measured,
            declared.get(system.name),
        )
        for system in study.systems_for(task)
        if results[system.name]
    ]
    of_baseline = _of_best(results[study.baseline])
    rows += [_further_row(each, of_baseline) for each in measured.get("rows", [])]
    every = [result for of_system in results.values() for result in of_system]
    return Summary(
        study.name,
        task,
        next(system.label for system in study.systems if system.name == study.baseline),
        _in_order(test for result in every for test in result["tests"]),
        rows,
        [system.label for system in study.systems_for(task) if not results[system.name]],
        _in_order(test["signature"] for result in every for test in result["tests"].values()),
        _in_order(str(result["commit"]) for result in every),
        list(dict.fromkeys(result.get("threads") for result in every)),
    )


def _in_order(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _row(
    system: System,
    results: list[dict[str, Any]],
    baseline: list[dict[str, Any]],
    compared: dict[str, Any],
    measured: dict[str, Any],
    declared: set[str] | None,
) -> Row:
    dev, tests = _of_best(results)
    of_runs = [compared.get(f"{system.name}-seed{result['seed']}", {}) for result in results]
    pairs = {test: [each.get(test) for each in of_runs] for test in tests}
    seconds = [result["seconds"] for result in results if result["seconds"] is not None]
    unlike = [] if declared is None else _mixed([*baseline, *results], declared)
    return Row(
        label=system.label,
        dev=dev,
        tests=tests,
        difference=_seed_by_seed(results, baseline),
        system=system.name,
        parameters=results[0]["parameters"],
        seeds=[result["seed"] for result in results],
        steps=[result["steps"] for result in results],
        variants={
            name: _variant(name, results) for name in VARIANTS if _says_something(name, results)
        },
        p={
            test: [each and each["p"] for each in of_test]
            for test, of_test in pairs.items()
            if any(of_test)
        },
        daggers={
            test: dagger(
                min(each["difference"] for each in of_test), max(each["p"] for each in of_test)
            )
            for test, of_test in pairs.items()
            # Every seed has to earn it, and one that was not compared has not.
            if all(of_test) and not unlike
        },
        measured=measured.get("columns", {}).get(system.name, {}),
        hours=statistics.mean(seconds) / 3600 if seconds else None,
        baseline=system.baseline,
        mixed=_mixed(results),
        unlike=unlike,
    )


def _variant(name: str, results: list[dict[str, Any]]) -> Variant:
    if name == "average":
        note = ", ".join(_in_order(map(_averaged, results)))
    else:
        lengths = _in_order(str(result[name]["length_penalty"]) for result in results)
        note = f"length penalty {', '.join(lengths)}"
    return Variant(*_scores([result[name] for result in results]), note)


def _says_something(name: str, results: list[dict[str, Any]]) -> bool:
    """Not an average that reaches back into the first half of a run, far below the best model."""
    if not all(name in result for result in results):  # earlier versions knew fewer
        return False
    return name != "average" or all(
        _first_averaged(result) > result["steps"] / 2 for result in results
    )


def _averaged(result: dict[str, Any]) -> str:
    """Which checkpoints an average is of."""
    count, first = result["average"]["checkpoints"], _first_averaged(result)
    return f"{count} checkpoints from step {first:,} on"


def _first_averaged(result: dict[str, Any]) -> int:
    count, every = result["average"]["checkpoints"], result["config"]["train"]["save_every"]
    last = int(result["steps"])
    # The last checkpoint is of the last step; those before it are of multiples.
    return last if count == 1 else (last - 1) // every * every - (count - 2) * every


def _mixed(results: Sequence[dict[str, Any]], expected: Iterable[str] = ()) -> list[str]:
    """The settings that runs do not share, but for the seed and those that are expected."""
    first, *others = (as_today(result["config"]) for result in results)
    apart = (*WITHOUT_EFFECT, "train.seed", *expected)
    keys = _in_order(key for other in others for key in differences(first, other, apart))
    if len(set(map(batches_per_step, results))) > 1:
        keys.append(BATCHES)
    if len({result["text"] for result in results if "text" in result}) > 1 and not any(
        key.startswith("data.")
        for key in (*keys, *expected)  # of another text by its settings
    ):
        keys.append(TEXT)
    return keys + _corrected(results)


def _corrected(results: Sequence[dict[str, Any]]) -> list[str]:
    """The test sets of which some runs were scored on other references."""
    found: dict[str, set[str]] = {}
    for result in results:
        for test, score in result["tests"].items():
            if "references" in score:  # early results do not tell
                found.setdefault(test, set()).add(score["references"])
    return [f"the references of {test}" for test, digests in found.items() if len(digests) > 1]


def _declared(study: Study, task: str) -> dict[str, set[str]]:
    """By system, the settings in which it is meant to differ from its baseline, by the configs.

    Of a system whose config is not here, nor its baseline's, nothing is known.
    """
    declared = {}
    for system in study.systems_for(Path(task).name):
        baseline = study.baseline_of(system)
        try:
            runs = runs_of(study, task, study.seeds[:1], systems=[baseline, system.name])
        except MuteError:
            continue
        configs = {run.system.name: run.config.model_dump(mode="json") for run in runs}
        declared[system.name] = set(differences(configs[baseline], configs[system.name], ()))
    return declared


def _further_row(row: dict[str, Any], baseline: Scores) -> Row:
    dev, tests = _scores(row["scores"])
    return Row(row["label"], dev, tests, _difference((dev, tests), baseline) if tests else None)


def _seed_by_seed(
    ours: Sequence[dict[str, Any]], baseline: Sequence[dict[str, Any]]
) -> float | None:
    """The difference over the seeds that both have."""
    common = {result["seed"] for result in ours} & {result["seed"] for result in baseline}
    pair = ([each for each in of if each["seed"] in common] for of in (ours, baseline))
    return _difference(*map(_of_best, pair))


def _of_best(results: Sequence[dict[str, Any]]) -> Scores:
    return _scores([{**result, **result["best"]} for result in results])


def _scores(results: Sequence[dict[str, Any]]) -> Scores:
    """BLEU over seeds on the development set and on every test set."""
    by_test: dict[str, list[float]] = {}
    for result in results:
        for test, score in result["tests"].items():
            by_test.setdefault(test, []).append(score["bleu"])
    tests = {test: value for test, values in by_test.items() if (value := spread(values))}
    return spread(result["dev_bleu"] for result in results), tests


def _difference(found: Scores, baseline: Scores) -> float | None:
    (dev, tests), (dev_baseline, test_baseline) = found, baseline
    pairs = [(dev, dev_baseline), *((tests[test], test_baseline.get(test)) for test in tests)]
    differences = [ours.mean - its.mean for ours, its in pairs if ours and its]
    return statistics.mean(differences) if differences else None
