"""A study on a task, spelled out: every run with its config, its folder and its result."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mute.config import Config, Experiment
from mute.configdiff import differences, told
from mute.configfile import load_config, load_experiment
from mute.data.prepared import load_prepared
from mute.errors import MuteError
from mute.result import RESULT, references_of
from mute.settings import Override
from mute.studies.definitions import Study, System
from mute.studies.results import batches_per_step, read_json, results_folder
from mute.train.checkpoint import checkpoints, step_of
from mute.train.folder import prepared_anew

CONFIGS, RUNS = Path("configs"), Path("runs")
# What does not change a run's outcome: two runs that differ in these alone are the same. How many
# batches a step has does, but not which process computes them.
WITHOUT_EFFECT = ("train.run", "train.max_bad_steps", "train.accumulate")
BATCHES, TEXT = "processes × train.accumulate", "the prepared text"
"""What makes runs differ beside their settings."""


@dataclass(frozen=True)
class Run:
    """One cell of the grid."""

    study: str
    configs: Path
    """The folder of its task's configs."""
    system: System
    seed: int
    config: Experiment
    processes: int = 1
    """That train it together."""

    @property
    def task(self) -> str:
        """The task's name."""
        return self.configs.name

    @property
    def name(self) -> str:
        """Such as seq-seed2."""
        return f"{self.system.name}-seed{self.seed}"

    @property
    def result_file(self) -> Path:
        """What it leaves when it is finished."""
        return results_folder(self.study, self.task) / f"{self.name}.json"

    @property
    def folder(self) -> Path:
        """Its run folder."""
        return Path(self.config.train.run)

    def finished(self) -> bool:
        """Whether its result is there, of this very config and of the references as they are.

        Where references were corrected, it is if its model is not here to be scored anew.
        """
        if not self.result_file.is_file():
            return False
        result = read_json(self.result_file)
        if not same_run(result, self.config, self.processes):
            return False
        folder = Path(result["config"]["train"]["run"])  # maybe that of another study
        is_here = is_trained(folder, self.config, self.processes)
        return not (is_here and corrected(result, self.config))


def task_folder(task: str) -> Path:
    """The folder of a task's configs: one of `configs/`, or any other.

    Raises:
        MuteError: there is no such folder.
    """
    for folder in (CONFIGS / task, Path(task)):
        if folder.is_dir():
            return folder
    known = ", ".join(sorted(path.name for path in CONFIGS.glob("*") if path.is_dir()))
    raise MuteError(
        f"--task {task}: no such folder of configs; "
        + (f"{CONFIGS}/ has {known}" if known else f"run mute where {CONFIGS}/ is")
    )


def runs_of(
    study: Study,
    task: str,
    seeds: Sequence[int] = (),
    overrides: Sequence[str] = (),
    systems: Sequence[str] = (),
    processes: int = 1,
) -> list[Run]:
    """Every run of a study, seed by seed, so that each system has one before any has two.

    Args:
        study: which
        task: a folder of configs
        seeds: other ones than the study's own
        overrides: settings of all runs, such as train.steps=100; they win over the study's
        systems: only these of the study's, by name
        processes: that each run is trained by

    Raises:
        MuteError: the task or a system is not there, or a setting of it is wrong.
    """
    folder = task_folder(task)
    if study.only_task not in ("", folder.name):
        raise MuteError(
            f"--task {task}: the study '{study.name}' changes settings of {study.only_task}, which "
            f"do not suit other tasks"
        )
    known = study.systems_for(folder.name)
    for name in systems:
        if name not in (system.name for system in known):
            names = ", ".join(system.name for system in known)
            raise MuteError(f"'{name}' is no system of '{study.name}'; there are {names}")
    chosen = [system for system in known if not systems or system.name in systems]
    seeds = seeds or study.seeds
    _check_overrides(overrides, chosen, _differing_models(folder, known) if overrides else [])
    return [
        Run(
            study.name,
            folder,
            system,
            seed,
            _config(study, folder, system, seed, overrides),
            processes,
        )
        for seed in seeds
        for system in chosen
        if not system.one_seed or seed == study.seeds[0] or system.name in systems
    ]


def _check_overrides(
    overrides: Sequence[str], systems: Sequence[System], varied: Collection[str]
) -> None:
    """Refuse settings that would make a row another than its label says, or be lost.

    Args:
        overrides: to be looked at
        systems: that are to be run
        varied: what the configs of the study's systems differ in
    """
    about = {
        change.partition("=")[0]: f"'{system.name}' ({system.label}) is"
        for system in reversed(systems)
        for change in system.changes
    }
    for override in overrides:
        keys = [".".join(map(str, path)) for path in Override(override).paths]
        if keys in (["model"], ["data"], ["train"]):
            raise MuteError(f"--set {override}: takes a whole section away; set single keys of it")
        for key in keys:
            if key == "train.seed":
                raise MuteError(f"--set {key}: a study's seeds are given by --seeds")
            if key == "train.run":
                raise MuteError(f"--set {key}: every run of a study has a folder of its own")
            if key in about:
                raise MuteError(
                    f"--set {key}: that is what {about[key]} about; leave it out, or choose other "
                    f"systems by --systems"
                )
            if key in varied:
                raise MuteError(
                    f"--set {key}: the study's systems differ in it, and their names would not be "
                    f"true any more; leave it out, or use a config of your own and `mute train`"
                )


def _differing_models(folder: Path, systems: Sequence[System]) -> set[str]:
    """The settings of model and text in which the configs of some systems differ."""
    files = dict.fromkeys(folder / f"{system.config}.yaml" for system in systems)
    there = [load_config(file).model_dump(mode="json") for file in files if file.is_file()]
    found = (differences(there[0], other, ()) for other in there[1:])
    return {key for each in found for key in each if not key.startswith("train.")}


def _config(
    study: Study, folder: Path, system: System, seed: int, overrides: Sequence[str]
) -> Experiment:
    settings = [
        *study.budget.get(folder.name, ()),
        *system.changes,  # what a row is about wins over what all rows share
        *overrides,
        f"train.seed={seed}",
        f"train.run={RUNS}/study/{study.name}/{folder.name}/{system.name}-seed{seed}",
    ]
    return load_experiment(folder / f"{system.config}.yaml", settings)


def find_twin(config: Experiment, processes: int) -> Path | None:
    """The folder of a finished run of the same config, by another study or by hand."""
    for file in (*RUNS.glob(f"*/{RESULT}"), *RUNS.glob(f"study/*/*/*/{RESULT}")):
        run = file.parent
        if run != Path(config.train.run) and is_trained(run, config, processes):
            return run
    return None


def is_trained(run: Path, config: Experiment, processes: int) -> bool:
    """Whether a run folder holds what a finished run of `config` leaves, and nothing later.

    A run that was made longer and then stopped has its first result still, and another model.
    """
    file, saved = run / RESULT, checkpoints(run / "checkpoints")
    if not (file.is_file() and saved):
        return False
    result = read_json(file)
    if not isinstance(result, dict):
        return False  # somebody else's
    if result.get("steps") != step_of(saved[-1]) or not same_run(result, config, processes):
        return False
    text = _text_now(config)
    return text is None or not prepared_anew(run, text)  # early results do not tell of it


def corrected(result: dict[str, Any], config: Experiment) -> bool:
    """Whether references of the test sets have changed since a result was scored on them."""
    then = {name: score.get("references") for name, score in result["tests"].items()}
    if None in then.values():  # early results do not tell
        return False
    try:
        return then != references_of(config.data)
    except MuteError:  # they are not here
        return False


def _text_now(config: Experiment) -> str | None:
    """The digest of the text as it is prepared now, if it is."""
    try:
        return load_prepared(config.data).digest
    except MuteError:
        return None


def same_run(result: dict[str, Any], config: Experiment, processes: int) -> bool:
    """Whether a result is what a run of `config` leaves."""
    try:
        return not differing(result, config, processes)
    except (KeyError, ValidationError):  # of a version with other settings
        return False


def differing(
    result: dict[str, Any], config: Experiment, processes: int
) -> dict[str, tuple[Any, Any]]:
    """What matters in which a result's run was otherwise than one of `config` would be.

    Raises:
        KeyError, ValidationError: the result has settings of another version of mute.
    """
    before = Config.model_validate(result["config"]).model_dump(mode="json")
    found = differences(before, config.model_dump(mode="json"), WITHOUT_EFFECT)
    batches = batches_per_step(result), processes * config.train.accumulate
    if batches[0] != batches[1]:
        found[BATCHES] = batches
    if text := result.get("text"):  # early results do not tell of it
        now = _text_now(config)
        if now not in (None, text):
            found[TEXT] = text, now
    return found


def check_results_are_kept(runs: Sequence[Run]) -> None:
    """Make sure that no run would overwrite the result of another.

    Raises:
        MuteError: a result file is of a run with other settings; they are named.
    """
    for run in runs:
        if not run.result_file.is_file():
            continue
        try:
            why = told(differing(read_json(run.result_file), run.config, run.processes))
        except (KeyError, ValidationError):
            why = "it has settings of another version of mute"
        if why:
            raise MuteError(
                f"{run.result_file}: the result of a run with other settings, which this one "
                f"would overwrite: {why}. Move it away first"
            )
