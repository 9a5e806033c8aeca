"""What callers from Python hand over, checked: nothing else does it for them."""

from collections.abc import Sequence
from numbers import Integral

from mute.errors import MuteError


def check_whole(**numbers: int) -> None:
    """Raise a MuteError that names the argument which is no whole number."""
    for name, number in numbers.items():
        if not isinstance(number, Integral):
            raise MuteError(f"{name} {number}: should be a whole number")


def check_at_least(least: int, **numbers: float) -> None:
    """Raise a MuteError that names the argument which is less."""
    for name, number in numbers.items():
        if not number >= least:  # NaN is not, either
            raise MuteError(f"{name} {number}: should be at least {least}")


def check_many(**texts: Sequence[str] | None) -> None:
    """Refuse one string: it is a sequence of strings too, its characters."""
    for name, text in texts.items():
        if isinstance(text, str):
            raise MuteError(f"{name}: should be a list of sentences, not one string; write [text]")
