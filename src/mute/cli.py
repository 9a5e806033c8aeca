"""The `mute` command: the one module that knows all others.

Every command imports what it needs when it runs, so that `mute --help` is instant.
"""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, cast

import typer

from mute.errors import MuteError

if TYPE_CHECKING:
    from mute.evaluate.score import Tokenization
    from mute.evaluate.significance import Method

LINES_AT_ONCE = 2000
"""Lines that are sorted by length together: enough for full batches, whatever the input's size."""

app = typer.Typer(
    help="Multi-Unit Transformers for machine translation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


ConfigFile = Annotated[Path, typer.Argument(metavar="CONFIG", help="A YAML file.")]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", help="Change a setting: model.units=6.")
]

Tokenize = Annotated[
    str, typer.Option(help="How words are cut: none (tokenised already), 13a, zh, char, intl.")
]
Lowercase = Annotated[bool, typer.Option("--lowercase", help="Ignore case.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def main() -> None:
    """Run a command; a user's mistake is told in one sentence, with exit status 2."""
    try:
        app()
    except MuteError as error:
        sys.stderr.write(f"mute: {error}\n")
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        sys.stderr.write("mute: stopped\n")
        raise SystemExit(130) from None


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Multi-Unit Transformers for machine translation."""
    if show:
        from mute import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.command("info")
def info_command(
    model: Annotated[
        str,
        typer.Argument(
            help="A config file, a run or model folder, or a preset: tiny, small, base, big."
        ),
    ] = "",
    vocab_size: Annotated[
        str, typer.Option(help="Entries of the vocabulary, or SOURCE,TARGET.")
    ] = "32000",
    overrides: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Show how many parameters a model has, and where.

    For a config file or a model: its parts. For a preset: the parts of each of the paper's
    systems in that shape. Without an argument: the totals of every system in every shape.
    """
    from mute import overview

    table = overview.parameter_table(model, _sizes(vocab_size), overrides or [])
    if as_json:
        typer.echo(json.dumps(table.columns, indent=2))
    else:
        from rich.console import Console

        Console().print(overview.render(table))


@app.command("prepare")
def prepare_command(
    config: ConfigFile,
    overrides: Overrides = None,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch missing public corpora into MUTE_DATA first.")
    ] = False,
) -> None:
    """Turn raw parallel text into a tokenizer and shards of ids.

    Says how many pairs were dropped and why. Does nothing if nothing has changed.
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
    Console().print(render(report))
    if report.reused:
        typer.echo(f"{settings.prepared}: nothing has changed since it was made")


@app.command("train")
def train_command(config: ConfigFile, overrides: Overrides = None) -> None:
    """Train a model, or go on where the run stopped; under torchrun, with many processes."""
    from mute import experiment
    from mute.configfile import load_config

    settings = load_config(config, overrides or [])
    state = experiment.train(settings)
    if int(os.environ.get("RANK", "0")) == 0:
        _, training = experiment.sections(settings)
        best = f"best BLEU {state.best_score:.2f} at step {state.best_step}"
        typer.echo(f"{training.run}: {state.step} steps, {best}")


@app.command("translate")
def translate_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A run or model folder.")],
    beam: Annotated[int, typer.Option(min=1, help="Partial translations kept.")] = 4,
    length_penalty: Annotated[float, typer.Option(min=0, help="GNMT's exponent.")] = 0.6,
) -> None:
    """Translate lines from standard input to standard output."""
    from mute.translate.translator import load

    translator = load(model)
    lines = _lines(sys.stdin.buffer)
    while block := list(islice(lines, LINES_AT_ONCE)):
        for translation in translator.translate(block, beam, length_penalty):
            sys.stdout.buffer.write(f"{translation.text}\n".encode())
        sys.stdout.flush()


def _lines(stream: BinaryIO) -> Iterator[str]:
    """The lines of a stream; only a line feed ends one, so there are as many as `wc -l` says."""
    for number, line in enumerate(stream, 1):
        try:
            yield line.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise MuteError(f"standard input:{number}: not UTF-8 at byte {error.start}") from None


@app.command("average")
def average_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    last: Annotated[int, typer.Option(min=1, help="How many checkpoints.")] = 5,
) -> None:
    """Average the weights of a run's last checkpoints into a model folder of its own."""
    from mute.model.folder import load_model, save_model
    from mute.train.average import average_checkpoints

    model, tokenizer = load_model(run)
    folder = run / f"average-{last}"
    save_model(folder, model.config, average_checkpoints(run, last), tokenizer)
    typer.echo(folder)


@app.command("score")
def score_command(
    hypotheses: Annotated[Path, typer.Argument(metavar="HYP", help="The translations.")],
    references: Annotated[list[Path], typer.Argument(metavar="REF…", help="The right ones.")],
    tokenize: Tokenize = "13a",
    lowercase: Lowercase = False,
    as_json: AsJson = False,
) -> None:
    """Score translations by BLEU and chrF; the signature says how, and belongs to the score."""
    from mute.evaluate.score import bleu, chrf
    from mute.evaluate.segments import read_parallel

    hyp, *refs = read_parallel([hypotheses, *references])
    scores = {
        "BLEU": bleu(hyp, refs, tokenize=_tokenization(tokenize), lowercase=lowercase),
        "chrF2": chrf(hyp, refs, lowercase=lowercase),
    }
    if as_json:
        typer.echo(json.dumps({name: asdict(score) for name, score in scores.items()}, indent=2))
        return
    for name, score in scores.items():
        typer.echo(f"{name:6}{score.value:6.2f}  {score.signature}")


@app.command("compare")
def compare_command(
    baseline: Annotated[Path, typer.Argument(metavar="HYP_A", help="The baseline's.")],
    systems: Annotated[list[Path], typer.Argument(metavar="HYP_B…", help="The systems'.")],
    references: Annotated[list[Path], typer.Option("--ref", help="The right ones.")],
    method: Annotated[str, typer.Option(help="bootstrap or randomisation.")] = "bootstrap",
    samples: Annotated[int, typer.Option(min=1, help="How many draws.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws.")] = 1,
    tokenize: Tokenize = "13a",
    lowercase: Lowercase = False,
    as_json: AsJson = False,
) -> None:
    """Compare systems with a baseline: is the difference in BLEU significant?"""
    from typing import get_args

    from mute.evaluate import significance
    from mute.evaluate.segments import read_parallel

    if method not in get_args(significance.Method):
        raise MuteError(f"--method {method}: should be bootstrap or randomisation")
    texts = read_parallel([baseline, *systems, *references])
    refs = texts[1 + len(systems) :]
    found = {
        str(path): significance.compare(
            texts[0],
            hyp,
            refs,
            method=cast("Method", method),
            samples=samples,
            seed=seed,
            tokenize=_tokenization(tokenize),
            lowercase=lowercase,
        )
        for path, hyp in zip(systems, texts[1:], strict=False)
    }
    if as_json:
        typer.echo(json.dumps({name: asdict(each) for name, each in found.items()}, indent=2))
        return
    from rich.console import Console

    Console().print(significance.render(str(baseline), found))
    for name, comparison in found.items():
        typer.echo(f"{name}: {comparison.verdict}")
    typer.echo(next(iter(found.values())).signature)


def _tokenization(name: str) -> "Tokenization":
    from mute.evaluate.score import TOKENIZATIONS

    if name not in TOKENIZATIONS:
        raise MuteError(f"--tokenize {name}: should be one of {', '.join(TOKENIZATIONS)}")
    return cast("Tokenization", name)


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
        typer.echo(f"encoder layer {layer + 1}: unit weights {weights}; order {order}")
    typer.echo(f"\nThe report: {demo.page}")


def _sizes(text: str) -> tuple[int, int]:
    """'32000' → (32000, 32000); '40000,30000' → (40000, 30000)."""
    try:
        sizes = [int(part) for part in text.split(",")]
        source, target = sizes * 2 if len(sizes) == 1 else sizes
    except ValueError:
        raise MuteError(
            f"--vocab-size {text}: should be a number, or two with a comma between them"
        ) from None
    return source, target
