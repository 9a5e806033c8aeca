"""What ends a command without a traceback, and the remedy for what is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager


class MuteError(ValueError):
    """A mistake in what the user gave: one sentence that says what, where, and what to do.

    The command line prints it without a traceback and exits with status 2. Anything else that
    is raised is a defect of mute and keeps its traceback.
    """


class ToldElsewhereError(MuteError):
    """A mistake that another process has told the user of: this one leaves without a word."""


class NotFiniteError(MuteError):
    """A model computes NaN or infinity."""


class Stopped(Exception):  # noqa: N818 (it is no error)
    """A run was asked to stop: it has saved, said so, and the same command goes on."""


@contextmanager
def refusals_told(what: str, remedy: str) -> Iterator[None]:
    """Tell of a disk that is full or refuses: what could not be done, why, and what helps.

    Raises:
        MuteError: it was.
    """
    try:
        yield
    except BrokenPipeError:  # nobody reads on: that is no refusal
        raise
    except OSError as error:
        raise MuteError(f"{what} ({error.strerror}); {remedy}") from None


def install(extra: str) -> str:
    """The command that adds one of the optional parts of pyproject.toml to an installed mute."""
    return f"pip install -c constraints.txt -e '.[{extra}]'"
