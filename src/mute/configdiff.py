"""What two experiments differ in."""

from collections.abc import Collection, Mapping
from typing import Any

Settings = Mapping[str, Any]
"""A config as its file has it: {'model': {'units': 4, …}, …}."""


def differences(
    one: Settings, other: Settings, apart_from: Collection[str]
) -> dict[str, tuple[Any, Any]]:
    """What is not the same in both, such as {'model.units': (4, 1)}; None where there is none.

    Args:
        one: the settings of an experiment
        other: those of another
        apart_from: keys that do not count
    """
    ours, theirs = _flat(one), _flat(other)
    return {
        key: (ours.get(key), theirs.get(key))
        for key in dict.fromkeys((*ours, *theirs))
        if key not in apart_from and ours.get(key) != theirs.get(key)
    }


def told(differing: Mapping[str, tuple[Any, Any]]) -> str:
    """The differences for people: 'model.units was 4, is 1; …'."""
    return "; ".join(f"{key} was {old}, is {new}" for key, (old, new) in differing.items())


def _flat(settings: Settings) -> dict[str, Any]:
    return {
        f"{section}.{key}": value
        for section, values in settings.items()
        for key, value in (values or {}).items()
    }
