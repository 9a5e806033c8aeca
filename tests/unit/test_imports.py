"""Imports go one way: raw text → … → server. Only cli/ knows everything."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "mute"

# Each may import itself and what stands before it.
LINE = [
    "mkl",
    "errors",
    "files",
    "languages",
    "config",
    "yamltext",
    "settings",
    "configfile",
    "configdiff",
    "reference",
    "cores",
    "runtime",
    "ending",
    "probe",
    "data",
    "model",
    "train",
    "translate",
    "evaluate",
    "analysis",
    "result",
    "experiment",
    "bench",
    "studies",
    "serve",
    "overview",
    "demo",
    "cli",
]
EVERYTHING = {"__init__.py", "__main__.py", "cli"}
"""What may know of all: the package's own two files, and the commands."""
MODULES = sorted(
    path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in EVERYTHING
)


def stage(module: str) -> str:
    """'mute.model.bias' → 'model'."""
    return module.split(".")[1]


def imports_of_mute(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("mute."))
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "mute":
                names = [alias.name for alias in node.names]
                yield from (f"mute.{name}" for name in names if name != "__version__")
            elif node.module.startswith("mute."):
                yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_only_backwards(path: Path) -> None:
    own = path.relative_to(SOURCE).with_suffix("").parts[0]
    for module in imports_of_mute(path):
        assert LINE.index(stage(module)) <= LINE.index(own), f"{own} imports {module}"


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("mute.cli", {"torch", "numpy", "scipy", "sentencepiece", "matplotlib"}),
        ("mute.translate.command", {"scipy", "matplotlib", "sacrebleu", "tensorboard"}),
    ],
)
def test_what_starts_often_starts_without_anything_heavy(module: str, heavy: set[str]) -> None:
    code = (
        f"import sys, mute, {module}; "
        f"found = {heavy} & set(sys.modules); "
        "sys.exit(str(found) if found else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_package_offers_what_it_promises() -> None:
    import mute

    for name in mute.__all__:
        assert getattr(mute, name) is not None
    assert set(dir(mute)) == set(mute.__all__)
    with pytest.raises(AttributeError, match="no attribute 'biuld'"):
        _ = mute.biuld
