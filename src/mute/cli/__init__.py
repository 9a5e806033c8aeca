"""The `mute` command: the one part that knows all others.

Every command imports what it needs when it runs, so that `mute --help` is instant.
"""

import errno
import sys
from io import TextIOWrapper
from typing import NoReturn

# `mute --help` lists commands in the order in which they are imported.
# isort: off
from mute.cli import training
from mute.cli import measuring
from mute.cli import translating
from mute.cli import scoring

# isort: on
from mute.cli.app import app
from mute.errors import MuteError, Stopped, ToldElsewhereError
from mute.files import say

__all__ = ["app", "main", "measuring", "scoring", "training", "translating"]

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG}


def main() -> None:
    """Run a command; a user's mistake is told in one sentence, with exit status 2.

    Training that was asked to stop ends with status 3, since it is not finished.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        # A table's lines and arrows, and names that are no text, are worth no crash.
        sys.stdout.reconfigure(errors="replace")
    try:
        app()
    except ToldElsewhereError:
        sys.exit(2)
    except MuteError as error:
        _refuse(str(error))
    except OSError as error:
        which = f"{error.filename}: " if error.filename else ""
        if error.errno in _FULL:
            _refuse(
                f"{which}the disk takes no more ({error.strerror}); make room and run the same "
                f"command again"
            )
        if error.errno in _REFUSED:
            _refuse(f"{which}not to be had ({error.strerror}); correct the path or its permissions")
        raise
    except Stopped:
        from mute.runtime import status_when_stopped

        raise SystemExit(status_when_stopped()) from None


def _refuse(why: str) -> NoReturn:
    say(f"mute: {why}")
    raise SystemExit(2)
