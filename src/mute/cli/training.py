"""From a config to a trained model: prepare, train, average, demo."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mute.cli.app import ConfigFile, Overrides, app
from mute.errors import MuteError, ToldElsewhereError
from mute.files import say

if TYPE_CHECKING:
    from mute.config import ModelConfig
    from mute.data.tokenizer import Tokenizer


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
        say(f"Warning: {warning}")
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
    leads = Share.of_this_process().leads
    if leads:
        for name in changed_texts(Path(settings.data.prepared)):
            say(
                f"Warning: {name} has changed since it was prepared, and that is what is trained "
                f"on; 'mute prepare' takes it in, for a new train.run"
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
