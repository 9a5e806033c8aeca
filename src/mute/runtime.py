"""The process mute runs in: its allocator, seeds, device, share, exit status, and its source."""

import ctypes
import os
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import torch

from mute.errors import MuteError

STOPPED = 3
"""The exit status of a run that was asked to stop, and saved."""
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_KEEP, _KEEP_IN_OLD_GLIBC = 2**31 - 1, 2**25
"""Bytes up to which blocks stay with the process; some versions allow no more than the latter."""


class Share(NamedTuple):
    """Which process this is, of how many."""

    rank: int = 0
    size: int = 1

    @classmethod
    def of_this_process(cls) -> "Share":
        """As torchrun says, or all of it."""
        return cls(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))

    @property
    def leads(self) -> bool:
        """Whether this is the process that joins what all have made, and talks."""
        return self.rank == 0


def keep_freed_memory() -> None:
    """Let glibc keep what tensors free, instead of returning it to the kernel at every step.

    Fresh pages are slow: with the default settings a small model trains at a fraction of its
    speed. Systems with another C library have no such call and are left alone.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        if not mallopt(_M_MMAP_THRESHOLD, _KEEP):
            mallopt(_M_MMAP_THRESHOLD, _KEEP_IN_OLD_GLIBC)
        mallopt(_M_TRIM_THRESHOLD, _KEEP)


def choose_device() -> torch.device:
    """This process's GPU if there is one, else the CPU.

    Raises:
        MuteError: there are GPUs, but fewer than torchrun has started processes here.
    """
    if not torch.cuda.is_available():
        return torch.device("cpu")
    number, there = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if number >= there:
        raise MuteError(
            f"process {number} of this machine, counted from 0, has no GPU: there are {there}; "
            f"start torchrun with --nproc-per-node {there}, or CUDA_VISIBLE_DEVICES= for the CPU"
        )
    return torch.device("cuda", number)


def status_when_stopped() -> int:
    """With which exit status to leave a run that was asked to stop, and saved.

    torchrun takes anything but 0 for a failure, and `--max-restarts` would start the run again.
    """
    together = Share.of_this_process().size > 1 or "TORCHELASTIC_RUN_ID" in os.environ
    return 0 if together else STOPPED


def seed_of(*parts: int) -> int:
    """A seed that is a function of some numbers, and unlike that of any others."""
    digest = blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


def source_commit() -> str | None:
    """The commit of the source tree, if mute runs from one; `-dirty` if its code differs.

    A package that is installed below somebody else's repository does not.
    """
    root = Path(__file__).resolve().parents[2]
    if _git("rev-parse", "--show-toplevel") != str(root):
        return None
    changes = _git("status", "--porcelain", ".")  # here alone: new results do not change the code
    commit = _git("describe", "--always")
    return f"{commit}-dirty" if changes else commit


def _git(*arguments: str) -> str | None:
    """What git says of the folder that this file is in; None if it does not."""
    try:
        asked = subprocess.run(  # noqa: S603 (our own words)
            ["git", *arguments],  # noqa: S607 (wherever it is)
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return asked.stdout.strip()
