"""YAML files → configs; a mistake is told with file, line, path and the nearest valid key."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from mute.config import PRESETS, Config, Experiment
from mute.errors import MuteError

KeyPath = tuple[str | int, ...]
_Kind = TypeVar("_Kind", bound=Config)
_LONGEST_QUOTE = 200
_NOT_WHAT_ITS_TAG_SAYS = (ValueError, KeyError, IndexError, AttributeError)
"""What PyYAML raises for !!int abc, !!bool abc, !!float '' and !!timestamp abc."""

# Where pydantic speaks of Python's classes; of those, a config has no instances but sequences.
_EXPECTED = {
    "model_type": "should be a section, {{key: value, …}}",
    "model_attributes_type": "should be a section, {{key: value, …}}",
    "dict_type": "should be a section, {{key: value, …}}",
    "mapping_type": "should be a section, {{key: value, …}}",
    "string_too_short": "should not be empty",
    "string_type": "should be text, in quotes if YAML takes it for something else",
    "is_instance_of": "should be a list",
    "sequence_str": "should be a list",
    "too_short": "should be a list of at least {min_length}",
    "too_long": "should be a list of at most {max_length}",
}


@dataclass(frozen=True)
class _Settings:
    """A tree of values and, for every path in it, the place a person would look for it."""

    values: dict[str, Any]
    places: dict[KeyPath, str]

    def place(self, path: KeyPath) -> str:
        """The place of `path`, or of the nearest thing above it that somebody wrote."""
        while path not in self.places:
            path = path[:-1]
        return self.places[path]


def load_config(path: Path | str, overrides: Sequence[str] = ()) -> Config:
    """Read a config file, with `a.b=c` overrides applied in order.

    A file may name another one that it `extends`, relative to itself: its own settings then
    win, section by section and key by key.

    Raises:
        MuteError: a file cannot be read, or a setting in it is wrong; each mistake is one line
            with its file and line number.
    """
    return _load(path, overrides, Config)


def load_experiment(path: Path | str, overrides: Sequence[str] = ()) -> Experiment:
    """Read the config of a run, as `load_config`.

    Raises:
        MuteError: as there, or a section that training needs is missing.
    """
    return _load(path, overrides, Experiment)


def _load(path: Path | str, overrides: Sequence[str], kind: type[_Kind]) -> _Kind:
    settings = _read(Path(path), seen=())
    for override in overrides:
        settings = _override(settings, override)
    try:
        return kind.model_validate(settings.values)
    except ValidationError as error:
        raise MuteError(_explain(error, kind, settings.place)) from None


def dump_config(config: Config) -> str:
    """The text of a config file that loads as this config.

    What a preset says is left to it, so that another preset may be put in its place.
    """
    values = config.model_dump(mode="json")
    for key, number in PRESETS[config.model.preset].items():
        if values["model"][key] == number:
            del values["model"][key]
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def _explain(
    error: ValidationError, model: type[BaseModel], place: Callable[[KeyPath], str]
) -> str:
    """One line per mistake: its place, its path, what is wrong and the nearest valid key."""
    lines = []
    for mistake in error.errors():
        path: KeyPath = mistake["loc"]
        if path[-1:] == ("[key]",):  # pydantic's word for a name that is not text
            path = path[:-1]
        name = ".".join(map(str, path))
        where = f"{place(path)}: {name}: " if name else f"{place(path)}: "
        if mistake["type"] == "extra_forbidden":
            lines.append(where + _unknown_key(path, model))
        elif mistake["type"] == "missing":
            lines.append(f"{where}is missing")
        elif mistake["type"] == "value_error":
            lines.append(where + str(mistake["ctx"]["error"]))
        else:
            ours = _EXPECTED.get(mistake["type"], "").format(**mistake.get("ctx", {}))
            expected = ours or mistake["msg"].removeprefix("Input ")
            lines.append(f"{where}{expected}, not {_quoted(mistake['input'])}")
    return "\n".join(lines)


def _quoted(value: object) -> str:
    """As YAML's reader understood it; of what is long, the beginning."""
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"


def _unknown_key(path: KeyPath, model: type[BaseModel]) -> str:
    for step in path[:-1]:
        if isinstance(step, str) and step in model.model_fields:
            # A test set may be named like a key that is no section.
            model = _section(model.model_fields[step].annotation) or model
    known = list(model.model_fields)
    nearest = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.5)
    hint = f"did you mean '{nearest[0]}'?" if nearest else f"known keys: {', '.join(known)}"
    return f"unknown key; {hint}"


def _section(annotation: Any) -> type[BaseModel] | None:
    """The config class in an annotation such as DataConfig | None or Sequence[ParallelText]."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_section, reversed(get_args(annotation)))), None)


def _read(path: Path, seen: tuple[Path, ...]) -> _Settings:
    if "\0" in str(path):
        raise MuteError(f"{str(path)!r}: no file has such a name")
    try:
        place = path.resolve()
    except RuntimeError as error:  # a link that leads to itself
        raise MuteError(f"{path}: cannot be read ({error})") from None
    if place in seen:
        chain = " → ".join(str(file) for file in (*seen, path))
        raise MuteError(f"{path}: extends itself ({chain})")
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MuteError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise MuteError(f"{path}: not UTF-8 at byte {error.start}") from None
    settings = _parse(text, str(path))
    base = settings.values.pop("extends", None)
    if base is None:
        return settings
    if not isinstance(base, str):
        raise MuteError(f"{settings.place(('extends',))}: extends: should be a file name")
    try:
        file = path.parent / Path(base).expanduser()
    except RuntimeError as error:  # no such ~user
        raise MuteError(f"{settings.place(('extends',))}: extends: {base}: {error}") from None
    return _merge(_read(file, (*seen, place)), settings)


def _parse(text: str, file: str) -> _Settings:
    places: dict[KeyPath, str] = {(): file}
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise MuteError(f"{file}:{line}: not valid YAML: {error.reason}") from None
    try:
        node = loader.get_single_node()
        for path, line in _lines(node, ()):
            if path in places:
                raise MuteError(f"{file}:{line}: {'.'.join(map(str, path))}: given twice")
            places[path] = f"{file}:{line}"
        values = loader.construct_document(node) if node else {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{file}:{mark.line + 1}" if mark else file
        problem = getattr(error, "problem", None) or error
        raise MuteError(f"{place}: not valid YAML: {problem}") from None
    except MuteError:
        raise
    except _NOT_WHAT_ITS_TAG_SAYS:
        raise MuteError(f"{file}: not valid YAML: a value is not what its tag says") from None
    except RecursionError:
        raise MuteError(f"{file}: nested too deeply") from None
    finally:
        loader.dispose()
    if not isinstance(values, dict):
        raise MuteError(f"{file}: should hold sections such as 'model:', not {_quoted(values)}")
    return _Settings(values, places)


def overridden(override: str) -> list[str]:
    """The keys that one --set changes, and the sections: model={units: 4} does model.units.

    Raises:
        MuteError: it cannot be understood.
    """
    keys, value = _parse_override(override)
    return [".".join(map(str, path)) for path in _paths_below(value, keys, f"--set {override}")]


def _override(settings: _Settings, override: str) -> _Settings:
    """The settings with one of them changed by --set."""
    keys, value = _parse_override(override)
    tree: Any = value
    for key in reversed(keys):
        tree = {key: tree}
    place = f"--set {override}"
    # What a value replaces has no place any more, and a section is what all have made of it.
    places = {
        path: where
        for path, where in settings.places.items()
        if isinstance(value, dict) or path[: len(keys)] != keys
    }
    sections = (keys[:depth] for depth in range(len(keys)))
    places |= {path: f"{settings.place(path)}, {place}" for path in sections}
    places |= dict.fromkeys(_paths_below(value, keys, place), place)
    return _Settings(_merge_values(settings.values, tree), places)


def _parse_override(override: str) -> tuple[tuple[str, ...], Any]:
    name, equals, value = override.partition("=")
    keys = name.strip().split(".")
    if not equals or not all(keys):
        raise MuteError(f"--set {override}: should look like model.units=4")
    try:
        return tuple(keys), yaml.load(value, _Loader)  # noqa: S506 (a SafeLoader)
    except (yaml.YAMLError, RecursionError, *_NOT_WHAT_ITS_TAG_SAYS):
        raise MuteError(f"--set {override}: '{value}' is not valid YAML") from None


def _paths_below(value: Any, path: KeyPath, place: str) -> list[KeyPath]:
    try:
        return list(_paths(value, path))
    except RecursionError:  # a section that holds itself
        raise MuteError(f"{place}: nested too deeply") from None


def _paths(value: Any, path: KeyPath) -> Iterable[KeyPath]:
    """A path and those of the sections and keys below it."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))


def _merge(below: _Settings, above: _Settings) -> _Settings:
    return _Settings(_merge_values(below.values, above.values), {**below.places, **above.places})


def _merge_values(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        inner = below.get(key)
        both = isinstance(value, dict) and isinstance(inner, dict)
        merged[key] = _merge_values(inner, value) if both else value  # type: ignore[arg-type]
    return merged


def _lines(node: yaml.Node | None, path: KeyPath) -> Iterable[tuple[KeyPath, int]]:
    """Every path below `node` with its line, in the order of the file."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                mark = key.start_mark
                raise yaml.MarkedYAMLError(problem="a key should be a word", problem_mark=mark)
            yield (*path, key.value), key.start_mark.line + 1
            yield from _lines(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield (*path, index), item.start_mark.line + 1
            yield from _lines(item, (*path, index))


_INT, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
_OF_YAML_1_1 = ("timestamp", "int", "float")


class _Loader(yaml.SafeLoader):
    """YAML 1.2's numbers.

    PyYAML alone reads 1e-4 as a string, 010 as 8, 4:30 as 270, and a run called 2026-11-16 as a
    date.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 (as PyYAML has it)
        first: [each for each in known if each[0].rpartition(":")[2] not in _OF_YAML_1_1]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def whole_number(self, node: yaml.ScalarNode) -> int:
        """Of what the resolver below has found."""
        return int(node.value)


_FIRST = list("-+.0123456789")
_Loader.add_implicit_resolver(_INT, re.compile(r"^[-+]?\d+$"), _FIRST)
_Loader.add_implicit_resolver(
    _FLOAT, re.compile(r"^[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?$"), _FIRST
)
_Loader.add_implicit_resolver(_FLOAT, re.compile(r"^([-+]?\.inf|\.nan)$", re.IGNORECASE), _FIRST)
_Loader.add_constructor(_INT, _Loader.whole_number)


class _Dumper(yaml.SafeDumper):
    """Quotes what the loader would take for something else than text: 08, 1e5."""

    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers
