"""`mute study`: run what is missing, measure, compare, and make the tables and figures."""

from collections.abc import Sequence
from pathlib import Path

from mute.data.prepared import load_prepared
from mute.errors import MuteError, install
from mute.studies import figures
from mute.studies.comparisons import compare_runs
from mute.studies.definitions import Study
from mute.studies.grid import Run, check_results_are_kept, corrected
from mute.studies.measures import Trained, measure
from mute.studies.results import read_json, read_results, results_folder
from mute.studies.runner import Outcome, Runner, Tell
from mute.studies.summary import summarise
from mute.studies.tables import MARKDOWN, write_tables


def run_study(
    study: Study, runs: Sequence[Run], jobs: int, tell: Tell
) -> tuple[Outcome, Path | None]:
    """Run or go on with what is not finished, and make the tables of what is.

    Args:
        study: which
        runs: all of it
        jobs: how many at a time
        tell: says what happens

    Returns:
        how the runs ended, and the table's file if there is something to show

    Raises:
        MuteError: no run's data is prepared, or a result of other settings is in the way.
    """
    check_results_are_kept(runs)
    _check_something_is_prepared([run for run in runs if not run.finished()])
    outcome = Runner(jobs, tell).perform(runs)
    for run in runs:
        if run.finished() and corrected(read_json(run.result_file), run.config):
            tell(
                f"{run.name}: scored on other references than those that are here now, and its "
                f"model is not here to be scored anew"
            )
    configs, task = runs[0].configs, runs[0].task
    if len(outcome.finished) == len(runs):
        try:
            measure(Trained(study, task, read_results(study, task)), tell)
        except MuteError as error:  # of the scores there is a table all the same
            tell(f"not measured: {error}")
    there_is_one = any(read_results(study, task).values())
    return outcome, make_tables(study, configs, tell) if there_is_one else None


def _check_something_is_prepared(runs: Sequence[Run]) -> None:
    """Better told once than by every run; but those with other text need not wait for it."""
    refusals = []
    for run in runs:
        try:
            load_prepared(run.config.data)
        except MuteError as error:
            refusals.append(error)
    if runs and len(refusals) == len(runs):
        raise refusals[0]


def make_tables(study: Study, configs: Path, tell: Tell) -> Path:
    """Make tables and figures from the results' files alone; returns the table's file.

    The configs of the task only say what systems are meant to differ in.

    Raises:
        MuteError: no run of the study is finished.
    """
    compare_runs(study, configs.name)
    summary = summarise(study, configs)
    folder = results_folder(study.name, configs.name)
    if not summary.rows:
        raise MuteError(f"{folder}: no run of this study is finished yet")
    captions = {}
    if figures.can_draw():
        captions = figures.write_figures(study, summary)
    elif study.figures:
        tell(f"no figures: matplotlib is not installed; {install('plots')} gets it")
    write_tables(study, summary, captions)
    return folder / MARKDOWN
