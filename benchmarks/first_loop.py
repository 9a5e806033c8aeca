"""Our first whole training loop, before any work on its speed, from this repository's history."""

import os
import sys
from pathlib import Path

from outcome import ROOT
from peers import run

from mute.data.places import data_folder

COMMIT = "f62eadc"
TREE = ROOT / "benchmarks" / ".first"


def package_of(tree: Path) -> dict[str, str]:
    """An environment in which Python finds the package in a checkout, and the same data."""
    data = str(data_folder().resolve())
    return {**os.environ, "PYTHONPATH": str(tree / "src"), "MUTE_DATA": data}


def first_tree() -> Path:
    """A checkout of the first loop's commit, with its data prepared; made once.

    Raises:
        NotInstalledError: the commit is not in this clone, or its data cannot be prepared.
    """
    if not TREE.exists():
        run("git", "git", "-C", str(ROOT), "worktree", "add", "--detach", str(TREE), COMMIT)
    if not (TREE / "ready").exists():
        prepare = [sys.executable, "-m", "mute", "prepare", "configs/multi30k/relative.yaml"]
        run("mute prepare", *prepare, folder=TREE, environment=package_of(TREE))
        (TREE / "ready").touch()
    return TREE
