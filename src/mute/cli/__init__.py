"""The `mute` command: the one part that knows all others.

Every command imports what it needs when it runs, so that `mute --help` is instant.
"""

import sys
from io import TextIOWrapper

# `mute --help` lists commands in the order in which they are imported.
# isort: off
from mute.cli import training
from mute.cli import measuring
from mute.cli import translating
from mute.cli import scoring

# isort: on
from mute.cli.app import app
from mute.ending import mistakes_told

__all__ = ["app", "main", "measuring", "scoring", "training", "translating"]


def main() -> None:
    """Run a command."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A table's lines and arrows, and names that are no text, are worth no crash.
        sys.stdout.reconfigure(errors="replace")
    with mistakes_told():
        app()
