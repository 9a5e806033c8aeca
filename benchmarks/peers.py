"""What training beside a peer takes: an environment of its own, our text, a run to watch."""

import os
import platform
import re
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from outcome import ROOT

from mute.config import ModelConfig, TrainConfig
from mute.data.prepared import Prepared
from mute.data.tokenizer import SIDES
from mute.data.vocabulary import SPECIALS

TORCH = f"torch=={version('torch').partition('+')[0]}"
"""Everyone stands on the same; without the number, pip would bring gigabytes for GPUs."""

KEPT = 1 << 30
"""Bytes: blocks up to this size, and as much at the end of the heap, are not given back."""
LARGEST_IN_OLD_GLIBC = 1 << 25
"""What the C library before 2.35 takes for a block; a larger number would be no number for it."""


class Trial(NamedTuple):
    """What everyone trains: one unit in this shape, on this text."""

    model: ModelConfig
    train: TrainConfig
    prepared: Prepared
    tokens: int
    """The budget of a batch: sentences times the longest of them, on the longer side."""
    folder: Path
    """Where the text lies as pieces, and where runs may write."""


class Speed(NamedTuple):
    """Of target tokens, without padding."""

    per_second: float
    per_batch: float | None
    """On average, where it can be had."""


class Peer(NamedTuple):
    """A toolkit to be compared with."""

    name: str
    environment: Callable[[], Path]
    speed: Callable[[Path, Trial], Speed]
    """From the environment's Python."""


class NotInstalledError(Exception):
    """An environment could not be made; says why."""


def make_environment(name: str, package: str, dependencies: Sequence[str]) -> Path:
    """The Python of a virtual environment with a peer and what it really imports, made once.

    Raises:
        NotInstalledError: there is no network, or nothing for this machine
    """
    home = ROOT / "benchmarks" / f".{name}"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        run("venv", sys.executable, "-m", "venv", str(home))
        install = [str(python), "-m", "pip", "install", "--quiet"]
        run("pip", *install, TORCH, *dependencies)
        run("pip", *install, "--no-deps", package)
        (home / "ready").touch()
    return python


def run(
    title: str,
    *command: str,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run what an environment is made by.

    Raises:
        NotInstalledError: it failed.
    """
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        told = (done.stdout + done.stderr).splitlines()
        errors = [line for line in told if line.upper().startswith(("ERROR", "FATAL"))]
        reason = errors[-1] if errors else f"exit status {done.returncode}"
        raise NotInstalledError(f"{title}: {reason}")


def write_pieces(prepared: Prepared, folder: Path) -> None:
    """The prepared text with its pieces as words, and their vocabulary."""
    tokenizer = prepared.tokenizer
    vocabulary = tokenizer.pieces(range(tokenizer.source_size), "source")
    words = [piece for piece in vocabulary if piece not in SPECIALS]
    (folder / "vocabulary.txt").write_text("\n".join(words) + "\n")
    for split, pairs in (("train", prepared.train), ("dev", prepared.dev)):
        for number, side in enumerate(SIDES):
            with (folder / f"{split}.{side}").open("w") as file:
                for index in range(len(pairs)):
                    pieces = tokenizer.pieces(pairs[index][number].tolist(), side)
                    file.write(" ".join(pieces) + "\n")


def keeping_memory() -> dict[str, str]:
    """Our environment, and what has the C library keep freed memory, as `mute train` has it."""
    library, number = platform.libc_ver()
    is_old = library == "glibc" and tuple(map(int, number.split(".")[:2])) < (2, 35)
    block = LARGEST_IN_OLD_GLIBC if is_old else KEPT
    return {
        **os.environ,
        "MALLOC_MMAP_THRESHOLD_": str(block),
        "MALLOC_TRIM_THRESHOLD_": str(KEPT),
    }


def watch(
    command: Sequence[str],
    record: str,
    wanted: int,
    folder: Path,
    environment: Mapping[str, str] | None = None,
) -> list[re.Match[str]]:
    """Let a program train until it has told its speed often enough, then stop it.

    Args:
        command: the program
        record: the form of a line that tells its speed
        wanted: how many of them are enough
        folder: where it runs
        environment: its variables; ours if None

    Returns:
        the records
    """
    records: list[re.Match[str]] = []
    last_lines: deque[str] = deque(maxlen=40)
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            last_lines.append(line)
            if found := re.search(record, line):
                records.append(found)
            if len(records) == wanted:
                process.kill()
                return records
    raise SystemExit(f"{' '.join(command)}\nended too early:\n{''.join(last_lines)}")
