"""How much memory this process has taken, and how much it may take."""

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from mute.config import TrainConfig
from mute.errors import MuteError

_COPIES = 4  # of every weight: itself, its gradient, and Adam's two moments
_STATUS, _MEMINFO = Path("/proc/self/status"), Path("/proc/meminfo")
_OWN_GROUPS, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def peak_memory(device: torch.device) -> int:
    """The most bytes this process has held so far: on its GPU, or resident on the machine."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    # Not getrusage where it can be helped: there a process inherits the peak of its parent.
    if _STATUS.is_file():
        return _field(_STATUS, "VmHWM")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def forget_peak(device: torch.device) -> None:
    """Have `peak_memory` count from now on, where that can be: on a GPU."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def check_the_model_fits(parameters: int, training: TrainConfig, room: int | None) -> None:
    """Before anything of it is made.

    Raises:
        MuteError: there is too little memory even without a batch.
    """
    need = 4 * parameters * (_COPIES + bool(training.average_decay))
    if room is not None and need > room:
        raise MuteError(
            f"the weights, their gradients, moments and average take {need / 1e9:.1f} GB, but "
            f"there are {room / 1e9:.1f} GB: choose a smaller model or a larger machine"
        )


def memory_room(device: torch.device) -> int | None:
    """The bytes this process may hold: those it has and those that are free; None if unknown."""
    if device.type == "cuda":
        return torch.cuda.memory_reserved(device) + torch.cuda.mem_get_info(device)[0]
    if not _MEMINFO.is_file():
        return None
    free = min([_field(_MEMINFO, "MemAvailable"), *_free_in_groups()])
    return _field(_STATUS, "VmRSS") + max(free, 0)


def _free_in_groups() -> Iterator[int]:
    """What each control group around this process leaves it: a container's, a batch job's."""
    if not _OWN_GROUPS.is_file():
        return
    for line in _OWN_GROUPS.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "memory":  # version 1
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _free_above(_GROUPS / "memory", path, names)
        elif not controllers:  # version 2
            names = ("memory.max", "memory.current", "inactive_file")
            yield from _free_above(_GROUPS, path, names)


def _free_above(top: Path, path: str, names: tuple[str, str, str]) -> Iterator[int]:
    """From the group at `path` up to the topmost; inside a container it may be the only one."""
    limit, used, cached = names
    folder = top / path.strip("/")
    for group in (folder, *folder.parents):
        files = [group / name for name in (limit, used, "memory.stat")]
        if group.is_relative_to(top) and all(file.is_file() for file in files):
            most, now, stat = (file.read_text() for file in files)
            if most.strip() != "max":
                fields = dict(line.split() for line in stat.splitlines())
                # Pages of files that were read count as used, but are given back when needed.
                yield int(most) - int(now) + int(fields[cached])


def _field(path: Path, name: str) -> int:
    """A field of a file of the kernel, which counts in kB, in bytes."""
    fields = dict(line.split(":", 1) for line in path.read_text().splitlines())
    return int(fields[name].split()[0]) * 1024
