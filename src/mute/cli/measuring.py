"""What a model costs and what its systems are worth: info, bench, study."""

import json
import shlex
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from mute.cli.app import AsJson, ConfigFile, Overrides, Threads, app
from mute.errors import MuteError
from mute.files import is_terminal, say

_MOST_ENTRIES = 10**8
"""Of a vocabulary: more than anybody has words."""


@app.command("info")
def info_command(
    model: Annotated[
        str,
        typer.Argument(
            help="A config file, a run or model folder, or a preset: tiny, small, base, big."
        ),
    ] = "",
    vocab_size: Annotated[
        str | None,
        typer.Option(
            help="Entries of the vocabulary, or SOURCE,TARGET.",
            show_default="those of the config's data, or 32000",
        ),
    ] = None,
    overrides: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Show how many parameters a model has, and where.

    For a config file or a model: its parts. For a preset: the parts of each of the paper's
    systems in that shape. Without an argument: the totals of every system in every shape.
    """
    from mute import overview

    sizes = None if vocab_size is None else _sizes(vocab_size)
    table = overview.parameter_table(model, sizes, overrides or [])
    if as_json:
        typer.echo(json.dumps(table.columns, indent=2))
        say(table.note)
    else:
        from rich.console import Console

        Console(emoji=False).print(overview.render(table))


@app.command("bench")
def bench_command(
    config: ConfigFile,
    overrides: Overrides = None,
    steps: Annotated[int, typer.Option(min=1, help="Of training, to measure.")] = 10,
    threads: Threads = None,
    vocab_size: Annotated[
        str | None,
        typer.Option(
            help="Use random sentences with so many words, or SOURCE,TARGET.",
            show_default="the prepared data; 32000 if there is none",
        ),
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what the run will take: time, memory, disk.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure how fast a config trains and translates here, and where the time goes.

    Speeds are also given as shares of the machine's own peak, measured in the same run. Nothing
    is written. A minute with --estimate tells how long a run will take, and whether it fits.
    """
    import torch
    from rich.console import Console

    from mute.bench import report
    from mute.bench.estimate import Estimate, estimate_run
    from mute.bench.measurement import Measurement, measure
    from mute.configfile import load_config, load_experiment
    from mute.runtime import source_commit

    if estimate and vocab_size is not None:
        raise MuteError("--vocab-size: means nothing with --estimate; leave one of them")
    if threads is not None:
        torch.set_num_threads(threads)
    found: Estimate | Measurement
    if estimate:
        found = estimate_run(load_experiment(config, overrides or []), steps)
    else:
        sizes = None if vocab_size is None else _sizes(vocab_size)
        found = measure(load_config(config, overrides or []), steps, sizes, _tell)
    if as_json:
        typer.echo(json.dumps({"commit": source_commit(), **asdict(found)}, indent=2))
    else:
        Console(emoji=False, soft_wrap=True).print(report.render(found))


@app.command("study")
def study_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="See --list.")] = "",
    task: Annotated[
        str, typer.Option(help="A folder of configs/: multi30k, wmt14-en-de, …, or another one.")
    ] = "multi30k",
    seeds: Annotated[
        str, typer.Option(help="With commas between them.", show_default="the study's own")
    ] = "",
    systems: Annotated[
        str, typer.Option(help="Only these: relative,seq.", show_default="all of the study")
    ] = "",
    overrides: Overrides = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Runs at a time; on 2 cores, 2 are faster than 1.")
    ] = 1,
    processes: Annotated[int, typer.Option(min=1, help="Of each run, by torchrun.")] = 1,
    list_all: Annotated[bool, typer.Option("--list", help="Show what studies there are.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the runs, do none.")] = False,
    measure: Annotated[
        bool, typer.Option("--measure", help="With --dry-run: time some steps of each system.")
    ] = False,
    tables: Annotated[
        bool, typer.Option("--tables", help="Make tables and figures of what is there, no run.")
    ] = False,
) -> None:
    """Run a grid of runs for one of the paper's tables or figures, and make it.

    The same command goes on where it was stopped or killed. Finished runs leave a JSON file in
    results/NAME/TASK/, from which the tables and figures beside it are made.
    """
    from rich.console import Console

    from mute.studies import plan, runner, study
    from mute.studies.definitions import STUDIES, find_study
    from mute.studies.grid import runs_of, task_folder

    if measure and not dry_run:
        raise MuteError("--measure: goes with --dry-run")
    if list_all:
        for each in STUDIES.values():
            typer.echo(f"{each.name:12} {each.shows}")
        return
    if not name:
        raise MuteError("which study? 'mute study --list' shows what there are")
    chosen = find_study(name)
    if tables and (seeds or systems or overrides or dry_run):
        raise MuteError(
            "--tables: makes the tables of all results that there are; leave --seeds, --systems, "
            "--set and --dry-run out"
        )
    if tables:
        typer.echo(study.make_tables(chosen, task_folder(task), typer.echo))
        return
    only = systems.split(",") if systems else []
    runs = runs_of(chosen, task, _seeds(seeds), overrides or [], only, processes)
    for doubt in plan.doubts(runs):
        say(doubt)
    if dry_run:
        Console(emoji=False).print(plan.render(plan.plan(runs, measure=measure)))
        return
    outcome, table = study.run_study(chosen, runs, jobs, typer.echo)
    if table:
        typer.echo(table.read_text(encoding="utf-8"))
    runner.check(outcome, shlex.join(["mute", *sys.argv[1:]]))


def _sizes(text: str) -> tuple[int, int]:
    """'32000' → (32000, 32000); '40000,30000' → (40000, 30000)."""
    try:
        sizes = [int(part) for part in text.split(",")]
        source, target = sizes * 2 if len(sizes) == 1 else sizes
    except ValueError:
        source = target = 0
    if not 0 < min(source, target) <= max(source, target) <= _MOST_ENTRIES:
        raise MuteError(
            f"--vocab-size {text}: should be a number up to {_MOST_ENTRIES:,}, or two with a comma "
            f"between them"
        )
    return source, target


def _seeds(text: str) -> list[int]:
    """'1,2,3' → [1, 2, 3]; a seed that is named twice is still one run."""
    numbers = text.split(",") if text else []
    if not all(number.strip().isdecimal() for number in numbers):
        raise MuteError(f"--seeds {text}: should be numbers from 0 on with commas between them")
    return list(dict.fromkeys(map(int, numbers)))


def _tell(sentence: str) -> None:
    """Say what is being done, if someone is watching."""
    if is_terminal(sys.stderr):
        say(sentence)
