"""Config files → configs; a mistake is told with file, line, path and the nearest valid key."""

import difflib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from mute.config import PRESETS, Config, Experiment
from mute.errors import MuteError
from mute.settings import Settings, quoted, settings_of
from mute.yamltext import KeyPath, dump

_Kind = TypeVar("_Kind", bound=Config)

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
        settings = settings.overridden(override)
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
    return dump(values)


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
            lines.append(f"{where}{expected}, not {quoted(mistake['input'])}")
    return "\n".join(lines)


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


def _read(path: Path, seen: tuple[Path, ...], named: str = "") -> Settings:
    """A file and all it extends; `named` says where another file names it, for messages."""
    if "\0" in str(path):
        raise MuteError(f"{str(path)!r}: no file has such a name")
    try:
        place = path.resolve()
    except RuntimeError as error:  # a link that leads to itself
        raise MuteError(f"{named}{path}: cannot be read ({error})") from None
    if place in seen:
        chain = " → ".join(str(file) for file in (*seen, path))
        raise MuteError(f"{path}: extends itself ({chain})")
    try:
        text = path.read_text(encoding="utf-8")
    except IsADirectoryError:
        inside = path / "config.yaml"  # as a run keeps it
        hint = f"did you mean {inside}?" if inside.is_file() else "give a YAML file"
        raise MuteError(f"{named}{path}: is a folder; {hint}") from None
    except OSError as error:
        raise MuteError(f"{named}{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise MuteError(f"{path}: not UTF-8 at byte {error.start}") from None
    settings = settings_of(text, str(path))
    base = settings.values.pop("extends", None)
    if base is None:
        return settings
    named = f"{settings.place(('extends',))}: extends: "
    if not isinstance(base, str):
        raise MuteError(f"{named}should be a file name")
    try:
        file = path.parent / Path(base).expanduser()
    except RuntimeError as error:  # no such ~user
        raise MuteError(f"{named}{base}: {error}") from None
    return _read(file, (*seen, place), named).below(settings)
