"""What a study would do, told before it does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mute.data.prepared import vocabulary_sizes
from mute.errors import MuteError
from mute.model.parameters import parameter_count
from mute.runtime import choose_device
from mute.studies.definitions import PAPER_TASKS
from mute.studies.grid import Run, find_twin
from mute.train.checkpoint import checkpoints, step_of

if TYPE_CHECKING:
    from rich.table import Table

_MEASURED_STEPS = 5


@dataclass(frozen=True)
class Planned:
    """A run, and what it will take."""

    name: str
    label: str
    state: str
    steps: int
    batch: int
    """The tokens of a step, those of all processes."""
    parameters: int
    guessed: bool
    """Whether the vocabulary is not prepared yet, and the parameters so a guess."""
    hours: float | None
    """Of training alone, at the speed of this machine; None if it was not measured."""
    problem: str = ""
    """Why it cannot be measured here, if it was to be."""


def plan(runs: Sequence[Run], *, measure: bool) -> list[Planned]:
    """Look at every run; with `measure`, time a few steps of each system with a run to do."""
    whole: dict[str, float | None] = {}  # hours by system: a seed changes nothing in them
    problems: dict[str, str] = {}
    planned = []
    for run in runs:
        training = run.config.train
        sizes, known = vocabulary_sizes(run.config.data)
        state, share = _state(run, training.steps)
        system = run.system
        if measure and known and share > 0 and system.name not in whole:
            try:
                whole[system.name] = _hours(run)
            except MuteError as error:  # the others can be planned all the same
                whole[system.name], problems[system.name] = None, str(error)
        planned.append(
            Planned(
                run.name,
                system.label,
                state,
                training.steps,
                _tokens_of_a_step(run),
                parameter_count(run.config.model, sizes),
                not known,
                _hours_left(whole.get(system.name), share),
                problems.get(system.name, ""),
            )
        )
    return planned


def doubts(runs: Sequence[Run]) -> Iterator[str]:
    """A word if steps are not of the paper's size: a config knows nothing of its GPUs."""
    sizes = {(_tokens_of_a_step(run), PAPER_TASKS.get(run.task)) for run in runs}
    for step, paper in sizes:
        if paper not in (None, step):
            yield (
                f"a step has {step:,} tokens, the paper's {paper:,}: --processes and --set "
                f"train.accumulate=… say how many batches it has"
            )


def _tokens_of_a_step(run: Run) -> int:
    """Those of all processes."""
    training = run.config.train
    return run.processes * training.accumulate * training.batch_tokens


def _state(run: Run, steps: int) -> tuple[str, float]:
    """How far a run is, in words, and which share of its training is still to do."""
    if run.finished():
        return "finished", 0.0
    if twin := find_twin(run.config, run.processes):
        return f"is {twin}", 0.0
    if saved := checkpoints(run.folder / "checkpoints"):
        done = step_of(saved[-1])
        return f"at step {done:,}", max(0.0, 1 - done / steps)
    return "to do", 1.0


def _hours_left(whole: float | None, share: float) -> float | None:
    """Of a run with a share still to do; where nothing is, that needs no measuring."""
    if share == 0:
        return 0.0
    return None if whole is None else share * whole


def _hours(run: Run) -> float | None:
    from mute.bench.estimate import estimate_run

    seconds = estimate_run(run.config, _MEASURED_STEPS).seconds_of_run
    # Each process has a GPU of its own, but they all share the CPU that one of them had alone.
    sharing = run.processes if choose_device().type == "cpu" else 1
    return None if seconds is None else sharing * seconds / 3600


def render(planned: Sequence[Planned]) -> Table:
    """The plan as a table for people."""
    from rich import box
    from rich.table import Table

    sizes = ", ".join(f"{size:,}" for size in sorted({each.batch for each in planned}))
    notes = [f"tokens of a step, those of all processes: {sizes}"]
    if any(each.guessed for each in planned):
        notes.append(
            "~: the data is not prepared ('mute prepare CONFIG' does that), so the size of the "
            "vocabulary is guessed, and hours cannot be measured"
        )
    notes += dict.fromkeys(f"{each.label}: {each.problem}" for each in planned if each.problem)
    table = Table(
        box=box.SIMPLE_HEAD,
        collapse_padding=True,  # for the labels of systems, in a terminal of 80 columns
        pad_edge=False,
        caption="\n".join(notes),
        caption_justify="left",
    )
    for heading in ("run", "system", "state"):
        table.add_column(heading, no_wrap=heading != "system", overflow="fold")
    for heading in ("steps", "parameters", "hours"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in planned:
        about = "~" if each.guessed else ""
        hours = "—" if each.hours is None else f"{each.hours:.1f}"
        row = (each.name, each.label, each.state)
        table.add_row(*row, f"{each.steps:,}", f"{about}{each.parameters / 1e6:.2f}M", hours)
    known = [each.hours for each in planned if each.hours is not None]
    if len(known) == len(planned):
        table.add_section()
        table.add_row("all", *[""] * 4, f"{sum(known):.1f}")
    return table
