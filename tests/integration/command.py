"""The `mute` command inside the test's own process: torch is imported once, not per call."""

import os
import sys
from unittest import mock

from mute.cli import main


def run(*arguments: str) -> int:
    """Run `mute …` and return its exit status; what it prints goes where the test looks."""
    argv = mock.patch.object(sys, "argv", ["mute", *arguments])
    wide = mock.patch.dict(os.environ, {"COLUMNS": "200"})  # the same tables on every terminal
    with argv, wide:
        try:
            main()
        except SystemExit as done:
            return int(done.code or 0)
    return 0
