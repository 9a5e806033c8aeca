"""How much memory this process has taken, and how much it may take."""

import resource
import sys
from pathlib import Path

import torch

_STATUS, _MEMINFO = Path("/proc/self/status"), Path("/proc/meminfo")


def peak_memory(device: torch.device) -> int:
    """The most bytes this process has held so far: on its GPU, or resident on the machine."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    # Not getrusage where it can be helped: there a process inherits the peak of its parent.
    if _STATUS.is_file():
        return _field(_STATUS, "VmHWM")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def memory_room(device: torch.device) -> int | None:
    """The bytes this process may hold: those it has and those that are free; None if unknown."""
    if device.type == "cuda":
        return torch.cuda.memory_allocated(device) + torch.cuda.mem_get_info(device)[0]
    if not _MEMINFO.is_file():
        return None
    return _field(_STATUS, "VmRSS") + _field(_MEMINFO, "MemAvailable")


def _field(path: Path, name: str) -> int:
    """A field of a file of the kernel, which counts in kB, in bytes."""
    fields = dict(line.split(":", 1) for line in path.read_text().splitlines())
    return int(fields[name].split()[0]) * 1024
