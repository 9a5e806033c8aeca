"""The reference of all config keys inside a document, made from `mute.config`.

    python -m mute.reference docs/config.md

puts a table for each section of a config between the lines `<!-- keys -->` and `<!-- end -->`.
A key's meaning is the docstring below it, which is read from the source: pydantic could keep them
at run time, but then every command would wait for it.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mute.config import PRESETS, Config

_PLACE = re.compile(r"(<!-- keys -->\n).*?(<!-- end -->)", flags=re.DOTALL)
_PLAIN = {int: "integer", float: "number", bool: "`true` or `false`", str: "text"}
_LIMITS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
Section = type[BaseModel]


def fill(text: str) -> str:
    """A document's text with the keys as `mute.config` has them now."""
    content = "\n\n".join(_section(section, paths) for section, paths in sections().items())
    return _PLACE.sub(lambda place: f"{place[1]}\n{content}\n\n{place[2]}", text)


def sections() -> dict[Section, list[str]]:
    """Every class of the config, and where it stands: {TokenizerConfig: ['data.tokenizer'], …}."""
    found: dict[Section, list[str]] = {}
    for section, path in _below(Config, ""):
        found.setdefault(section, []).append(path)
    return found


def meanings(section: Section) -> dict[str, str]:
    """What the keys of a section mean: the docstrings below them and below those inherited."""
    found: dict[str, str] = {}
    for base in reversed(section.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            found |= _docstrings(base)
    return found


def _docstrings(section: Section) -> dict[str, str]:
    (definition,) = ast.parse(inspect.getsource(section)).body
    assert isinstance(definition, ast.ClassDef)
    return {
        key.target.id: " ".join(str(below.value.value).split())
        for key, below in pairwise(definition.body)
        if isinstance(key, ast.AnnAssign) and isinstance(key.target, ast.Name)
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }


def _below(section: Section, prefix: str) -> Iterator[tuple[Section, str]]:
    for key, field in section.model_fields.items():
        for inner in _sections_in(field.annotation):
            yield inner, prefix + key
            yield from _below(inner, f"{prefix}{key}.")


def _sections_in(annotation: Any) -> Iterator[Section]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _sections_in(inner)


def _section(section: Section, paths: Sequence[str]) -> str:
    told = meanings(section)
    rows = [
        (
            f"`{key}`",
            _type(field.annotation, field.metadata),
            _default(key, field),
            told.get(key, ""),
        )
        for key, field in section.model_fields.items()
    ]
    parts = [
        f"## {_title(paths)}",
        inspect.cleandoc(section.__doc__ or ""),
        _table(("key", "type", "default", "meaning"), rows),
    ]
    if "preset" in section.model_fields:
        numbers = [(f"`{name}`", *map(str, shape.values())) for name, shape in PRESETS.items()]
        keys = [f"`{key}`" for key in PRESETS["base"]]
        parts += ["The presets:", _table(("preset", *keys), numbers)]
    return "\n\n".join(parts)


def _title(paths: Sequence[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [
        head,
        ["---"] * len(head),
        *([cell.replace("|", "\\|") for cell in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _default(key: str, field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if key in PRESETS["base"]:
        return "the preset's"
    if field.default is None:
        return "none"
    if isinstance(field.default, BaseModel):
        return "its own"
    return f"`{_yaml(field.default)}`"


def _yaml(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_yaml, value))}]"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _type(annotation: Any, metadata: Sequence[Any] = ()) -> str:
    """An annotation in plain words, with its limits."""
    inner = get_args(annotation)
    if get_origin(annotation) is Annotated:
        return _type(inner[0], inner[1].metadata)
    if inner:
        return _of_several(annotation, metadata)
    limits = [
        f"{words} {getattr(each, name)}"
        for each in metadata
        for name, words in _LIMITS.items()
        if hasattr(each, name)
    ]
    return ", ".join([_single(annotation), *limits])


def _of_several(annotation: Any, metadata: Sequence[Any]) -> str:
    origin = get_origin(annotation)
    inner = [each for each in get_args(annotation) if each is not NoneType]
    if origin is Literal:
        *most, last = (f"`{choice}`" for choice in inner)
        return f"{', '.join(most)} or {last}"
    if origin is Sequence:
        return f"list{_count(metadata)}: {_type(inner[0])}"
    if origin is Mapping:
        return f"names, each with {_type(inner[1])}"
    return " or ".join(map(_type, inner))  # a union


def _count(metadata: Sequence[Any]) -> str:
    """How many a list has; only the least is limited, or it is the same as the most."""
    least, most = (
        [getattr(each, name) for each in metadata if hasattr(each, name)]
        for name in ("min_length", "max_length")
    )
    if not least:
        return ""
    return f" of {least[0]}" if least == most else f" of at least {least[0]}"


def _single(annotation: Any) -> str:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    return f"[a section]({_anchor(_title(sections()[annotation]))})"


def _anchor(title: str) -> str:
    """The link to a heading, as GitHub makes it."""
    return "#" + re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def main(file: Path) -> None:
    """Fill a document in its place."""
    file.write_text(fill(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
