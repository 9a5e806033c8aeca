"""YAML text ↔ values, with the numbers of YAML 1.2."""

import re
from collections.abc import Iterable
from typing import Any

import yaml

KeyPath = tuple[str | int, ...]
_NOT_WHAT_ITS_TAG_SAYS = (ValueError, KeyError, IndexError, AttributeError)
"""What PyYAML raises for !!int abc, !!bool abc, !!float '' and !!timestamp abc."""


class YAMLTextError(ValueError):
    """Text that is no YAML, or none that a config can have.

    Args:
        problem: what is wrong
        line: where, if that is known
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def parse(text: str) -> tuple[Any, dict[KeyPath, int]]:
    """The value that a text stands for, and the line of every key and list item in it.

    Raises:
        YAMLTextError: it cannot be understood, or has a key twice.
    """
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YAMLTextError(f"not valid YAML: {error.reason}", line) from None
    lines: dict[KeyPath, int] = {}
    try:
        node = loader.get_single_node()
        for path, line in _lines(node, ()):
            if path in lines:
                raise YAMLTextError(f"{'.'.join(map(str, path))}: given twice", line)
            lines[path] = line
        return loader.construct_document(node) if node else None, lines
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or error
        raise YAMLTextError(f"not valid YAML: {problem}", mark and mark.line + 1) from None
    except YAMLTextError:
        raise
    except _NOT_WHAT_ITS_TAG_SAYS:
        raise YAMLTextError("not valid YAML: a value is not what its tag says") from None
    except RecursionError:
        raise YAMLTextError("nested too deeply") from None
    finally:
        loader.dispose()


def dump(values: Any) -> str:
    """A text that stands for these values."""
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


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
