"""The `mute` command: the one part that knows all others.

Every command imports what it needs when it runs, so that `mute --help` is instant.
"""

import errno
import sys
from io import TextIOWrapper

from mute.cli import scoring, training, translating
from mute.cli.app import app
from mute.errors import MuteError, Stopped

__all__ = ["app", "main", "scoring", "training", "translating"]

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def main() -> None:
    """Run a command; a user's mistake is told in one sentence, with exit status 2.

    Training that was asked to stop ends with status 3, since it is not finished.
    """
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.encoding != "utf-8":
        sys.stdout.reconfigure(errors="replace")  # a table's lines and arrows are worth no crash
    try:
        app()
    except MuteError as error:
        sys.stderr.write(f"mute: {error}\n")
        raise SystemExit(2) from None
    except OSError as error:
        if error.errno not in _FULL:
            raise
        which = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(
            f"mute: {which}the disk takes no more ({error.strerror}); make room and run the same "
            f"command again\n"
        )
        raise SystemExit(2) from None
    except Stopped:
        from mute.runtime import status_when_stopped

        raise SystemExit(status_when_stopped()) from None
