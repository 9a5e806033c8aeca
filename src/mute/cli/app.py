"""The command itself, and the options that several of its commands have."""

from pathlib import Path
from typing import Annotated, Literal

import typer

app = typer.Typer(
    help="Multi-Unit Transformers for machine translation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

ConfigFile = Annotated[Path, typer.Argument(metavar="CONFIG", help="A YAML file.")]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", help="Change a setting: train.steps=2000.")
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, max=1024, help="Of the CPU.", show_default="PyTorch's choice"),
]
Compute = Annotated[
    Literal["float32", "int8"], typer.Option(help="Numbers to compute with; int8 on x86 CPUs.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Multi-Unit Transformers for machine translation."""
    if show:
        from mute import __version__

        typer.echo(__version__)
        raise typer.Exit
