"""The `mute` command: the one part that knows all others.

Every command imports what it needs when it runs, so that `mute --help` is instant.
"""

import sys

from mute.cli import scoring, training, translating
from mute.cli.app import app
from mute.errors import MuteError

__all__ = ["app", "main", "scoring", "training", "translating"]


def main() -> None:
    """Run a command; a user's mistake is told in one sentence, with exit status 2."""
    try:
        app()
    except MuteError as error:
        sys.stderr.write(f"mute: {error}\n")
        raise SystemExit(2) from None
