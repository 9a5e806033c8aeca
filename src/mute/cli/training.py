"""From a config to a trained model: info, prepare, train, average, bench, study, demo."""

import json
import os
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mute.cli.app import AsJson, ConfigFile, Overrides, Threads, app
from mute.errors import MuteError, ToldElsewhereError
from mute.files import is_terminal

if TYPE_CHECKING:
    from mute.config import ModelConfig
    from mute.data.tokenizer import Tokenizer


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
        typer.echo(table.note, err=True)
    else:
        from rich.console import Console

        Console(emoji=False).print(overview.render(table))


@app.command("prepare")
def prepare_command(
    config: ConfigFile,
    overrides: Overrides = None,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch missing public corpora into MUTE_DATA first.")
    ] = False,
) -> None:
    """Turn raw parallel text into a tokenizer and shards of ids.

    Says how many pairs were dropped and why, and what looks wrong in the text. Does nothing if
    nothing has changed.
    """
    from rich.console import Console

    from mute.configfile import load_config
    from mute.data.catalog import download_missing
    from mute.data.prepare import prepare
    from mute.data.report import render

    settings = load_config(config, overrides or []).data
    if settings is None:
        raise MuteError(f"{config}: has no 'data:' section, which preparing needs")
    if download:
        download_missing(settings)
    report = prepare(settings)
    Console(emoji=False).print(render(report))
    for warning in report.warnings:
        typer.echo(f"Warning: {warning}", err=True)
    if report.reused:
        typer.echo(f"{settings.prepared}: nothing has changed since it was made")


@app.command("train")
def train_command(config: ConfigFile, overrides: Overrides = None) -> None:
    """Train a model, or go on where the run stopped; under torchrun, with many processes."""
    from mute import experiment
    from mute.configfile import load_experiment
    from mute.data.manifest import changed_texts
    from mute.result import RESULT
    from mute.runtime import Share

    try:
        settings = load_experiment(config, overrides or [])
    except MuteError:
        if os.environ.get("LOCAL_RANK", "0") != "0":  # the first process of this machine tells
            raise ToldElsewhereError from None
        raise
    leads = Share.of_this_process().rank == 0
    if leads:
        for name in changed_texts(Path(settings.data.prepared)):
            typer.echo(
                f"Warning: {name} has changed since it was prepared, and that is what is trained "
                f"on; 'mute prepare' takes it in, for a new train.run",
                err=True,
            )
    state = experiment.train(settings)
    if leads:
        run = Path(settings.train.run)
        best = f"best BLEU {state.best_score:.2f} at step {state.best_step}"
        typer.echo(f"{run}: {state.step} steps, {best}")
        result = run / RESULT
        for name, test in json.loads(result.read_text(encoding="utf-8"))["tests"].items():
            typer.echo(f"{name}: BLEU {test['bleu']:.2f}  {test['signature']}")
        typer.echo(f"{result} has all of this, and the settings")


@app.command("average")
def average_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    last: Annotated[int, typer.Option(min=1, help="How many checkpoints.")] = 5,
) -> None:
    """Average the weights of a run's last checkpoints into a model folder of its own."""
    from mute.model.folder import save_model
    from mute.train.average import average_checkpoints

    if not (run / "checkpoints").is_dir():
        raise MuteError(f"{run}: has no checkpoints/; give the folder that train.run names")
    folder = run / f"average-{last}"
    weights = average_checkpoints(run, last)
    config, tokenizer, max_length = _parts_of(run)
    save_model(folder, config, weights, tokenizer, max_length)
    typer.echo(folder)


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
        typer.echo(doubt, err=True)
    if dry_run:
        Console(emoji=False).print(plan.render(plan.plan(runs, measure=measure)))
        return
    outcome, table = study.run_study(chosen, runs, jobs, typer.echo)
    if table:
        typer.echo(table.read_text(encoding="utf-8"))
    runner.check(outcome, shlex.join(["mute", *sys.argv[1:]]))


@app.command("demo")
def demo_command(
    folder: Annotated[Path, typer.Option(help="Where text, run and page go.")] = Path("runs/demo"),
) -> None:
    """Train a small model on made-up text, translate what it has not seen, show its units."""
    from mute.demo import SHOWN, run_demo

    demo = run_demo(folder)
    for english, german, translation in demo.translations[:SHOWN]:
        verdict = "right" if translation.text == german else f"should be: {german}"
        typer.echo(f"\n  {english}\n  {translation.text}\n  ({verdict})")
    typer.echo(f"\nBLEU on {len(demo.translations)} held-out sentences: {demo.score.value:.2f}")
    typer.echo(f"  {demo.score.signature}")
    for layer, coefficients in enumerate(demo.coefficients):
        weights = "  ".join(f"{value:.2f}" for value in coefficients)
        order = " → ".join(map(str, demo.orders[layer]))
        typer.echo(f"encoder layer {layer}: unit weights {weights}; order {order}")
    typer.echo(f"\nThe report: {demo.page}")


def _parts_of(run: Path) -> "tuple[ModelConfig, Tokenizer, int]":
    """All of a run's model but the weights; before it has one, from its config and data."""
    from mute.configfile import load_experiment
    from mute.data.prepared import load_prepared
    from mute.model.folder import CONFIG, load_model

    if (run / "model" / CONFIG).is_file():
        model = load_model(run)
        return model.network.config, model.tokenizer, model.max_length
    config = load_experiment(run / "config.yaml")
    prepared = load_prepared(config.data)
    return config.model, prepared.tokenizer, prepared.longest_source


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
        typer.echo(sentence, err=True)
