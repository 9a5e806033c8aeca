"""The `mute` command: the one module that knows all others.

Every command imports what it needs when it runs, so that `mute --help` is instant.
"""

import json
import sys
from typing import Annotated

import typer

from mute.errors import MuteError

app = typer.Typer(
    help="Multi-Unit Transformers for machine translation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run a command; a user's mistake is told in one sentence, with exit status 2."""
    try:
        app()
    except MuteError as error:
        sys.stderr.write(f"mute: {error}\n")
        raise SystemExit(2) from None


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Multi-Unit Transformers for machine translation."""
    if show:
        from mute import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.command()
def info(
    model: Annotated[
        str, typer.Argument(help="A config file, or a preset: tiny, small, base, big.")
    ] = "",
    vocab_size: Annotated[
        str, typer.Option(help="Entries of the vocabulary, or SOURCE,TARGET.")
    ] = "32000",
    overrides: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: model.units=6.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Show how many parameters a model has, and where.

    For a config file: its parts. For a preset: the parts of each of the paper's systems in that
    shape. Without an argument: the totals of every system in every shape.
    """
    from mute import overview

    table = overview.parameter_table(model, _sizes(vocab_size), overrides or [])
    if as_json:
        typer.echo(json.dumps(table.columns, indent=2))
    else:
        from rich.console import Console

        Console().print(overview.render(table))


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
