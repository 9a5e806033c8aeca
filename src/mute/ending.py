"""How a process of mute ends: a user's mistake is told in one sentence, not in a traceback."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from mute.errors import MuteError, Stopped, ToldElsewhereError
from mute.files import say

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG}


@contextmanager
def mistakes_told() -> Iterator[None]:
    """Leave with exit status 2 and a sentence about what is amiss.

    Training that was asked to stop ends with status 3, since it is not finished.

    Raises:
        SystemExit: there was a mistake, or training was stopped.
    """
    try:
        yield
    except ToldElsewhereError:
        raise SystemExit(2) from None
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
        from mute.runtime import status_when_stopped  # with PyTorch, which `mute --help` can spare

        raise SystemExit(status_when_stopped()) from None


def _refuse(why: str) -> NoReturn:
    say(f"mute: {why}")
    raise SystemExit(2) from None
