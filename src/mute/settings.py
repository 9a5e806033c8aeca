"""Settings: values as they were written, in files that extend one another and by --set.

Every one of them knows its place, so that a mistake can be told where a person would mend it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mute.errors import MuteError
from mute.yamltext import KeyPath, YAMLTextError, parse

_LONGEST_QUOTE = 200


@dataclass(frozen=True)
class Settings:
    """A tree of values and, for every path in it, the place a person would look for it."""

    values: dict[str, Any]
    places: dict[KeyPath, str]

    def place(self, path: KeyPath) -> str:
        """The place of `path`, or of the nearest thing above it that somebody wrote."""
        while path not in self.places:
            path = path[:-1]
        return self.places[path]

    def below(self, above: Settings) -> Settings:
        """With other settings that win, section by section and key by key."""
        return Settings(_merged(self.values, above.values), {**self.places, **above.places})

    def overridden(self, override: str) -> Settings:
        """With one of them changed by --set.

        Raises:
            MuteError: the change cannot be understood.
        """
        change = Override(override)
        tree: Any = change.value
        for key in reversed(change.keys):
            tree = {key: tree}
        # What a value replaces has no place any more, and a section is what all have made of it.
        places = {
            path: where
            for path, where in self.places.items()
            if isinstance(change.value, dict) or path[: len(change.keys)] != change.keys
        }
        sections = (change.keys[:depth] for depth in range(len(change.keys)))
        places |= {path: f"{self.place(path)}, {change}" for path in sections}
        places |= dict.fromkeys(change.paths, str(change))
        return Settings(_merged(self.values, tree), places)


class Override:
    """One --set: model.units=4, or a whole section, model={units: 4}.

    Raises:
        MuteError: it cannot be understood.
    """

    keys: tuple[str, ...]
    """The path that is named: model, units."""
    value: Any
    paths: tuple[KeyPath, ...]
    """All that is changed: the named path, and what the value has below it."""

    def __init__(self, text: str) -> None:
        self.text = text
        name, equals, value = text.partition("=")
        self.keys = tuple(name.strip().split("."))
        if not equals or not all(self.keys):
            raise MuteError(f"{self}: should look like model.units=4")
        try:
            self.value, lines = parse(value)
        except YAMLTextError as error:
            raise MuteError(f"{self}: {error}") from None
        self.paths = (self.keys, *((*self.keys, *path) for path in lines))

    def __str__(self) -> str:
        return f"--set {self.text}"


def settings_of(text: str, file: str) -> Settings:
    """The settings that a config file's text has.

    Raises:
        MuteError: it is no YAML, or does not hold sections.
    """
    try:
        values, lines = parse(text)
    except YAMLTextError as error:
        place = file if error.line is None else f"{file}:{error.line}"
        raise MuteError(f"{place}: {error}") from None
    if values is None:  # an empty file
        values = {}
    if not isinstance(values, dict):
        raise MuteError(f"{file}: should hold sections such as 'model:', not {quoted(values)}")
    return Settings(values, {(): file} | {path: f"{file}:{line}" for path, line in lines.items()})


def quoted(value: object) -> str:
    """As YAML's reader understood it; of what is long, the beginning."""
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        inner = below.get(key)
        both = isinstance(value, dict) and isinstance(inner, dict)
        merged[key] = _merged(inner, value) if both else value  # type: ignore[arg-type]
    return merged
