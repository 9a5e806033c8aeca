"""What this machine's processor lives through, tried before it is relied on.

Some machines announce instructions that they may not use. The process is killed then, which no
`try` catches: so a child process goes first. That takes as long as PyTorch takes to be imported,
so it is done once: what a machine has lived through is remembered in the user's cache folder.
"""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

import torch

_DECIDING = ("ATEN_", "DNNL_", "FBGEMM_", "MKL_", "ONEDNN_")
"""How the names of settings begin that tell PyTorch's libraries which instructions to use."""


@cache
def survives(code: str) -> bool:
    """Whether a process of ours lives through some Python code.

    Death is not remembered: it may have had another cause, such as too little memory.
    """
    folder = _folder()
    memory = folder / _fingerprint(code) if folder else None
    with suppress(OSError):
        if memory and memory.exists():
            return True
    ours = f"import mute\n{code}"  # first, as in every process of ours: see mute.mkl
    child = subprocess.run([sys.executable, "-c", ours], capture_output=True, check=False)  # noqa: S603 (our own words)
    if child.returncode:
        return False
    with suppress(OSError):  # a folder that may not be written to costs the next one some time
        if memory:
            memory.parent.mkdir(parents=True, exist_ok=True)
            memory.touch()
    return True


def bfloat16_is_safe() -> bool:
    """Whether this CPU multiplies bfloat16 matrices, instead of dying of it."""
    return survives(
        "import torch; a = torch.ones(64, 64, dtype=torch.bfloat16); print((a @ a).sum())"
    )


def _folder() -> Path | None:
    """Where memories are; None for a user without a home."""
    try:
        caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        return None
    return Path(caches, "mute", "survived")


def _fingerprint(code: str) -> str:
    """Of all that decides what becomes of a process: where that differs, it is tried again."""
    return blake2b(repr([code, *_circumstances()]).encode(), digest_size=16).hexdigest()


def _circumstances() -> Iterator[object]:
    yield from (platform.node(), platform.release(), platform.processor(), sys.executable)
    yield sorted(torch.cpu.get_capabilities().items())
    yield torch.__version__
    yield sorted(
        setting for setting in os.environ.items() if setting[0].upper().startswith(_DECIDING)
    )
    own = Path(__file__).parent.rglob("*.so")
    yield sorted((path.name, path.stat().st_mtime_ns) for path in own)
