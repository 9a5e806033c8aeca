"""The processes that train together, as torchrun starts them; or just one."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar, cast

import torch
import torch.distributed as dist
from torch import nn
from torch._C._distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous
from torch.nn.parallel import DistributedDataParallel

from mute.errors import ToldElsewhereError
from mute.runtime import Share, choose_device

T = TypeVar("T")
_PATIENCE = timedelta(days=1)
"""How long the others wait for the leading process, which validates alone."""


@dataclass(frozen=True)
class Group:
    """The processes that train together, and which of them this is."""

    rank: int
    size: int
    device: torch.device

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes files and talks."""
        return self.rank == 0

    def wrap(self, module: nn.Module) -> nn.Module:
        """The module with its gradients averaged over all processes."""
        if self.size == 1:
            return module
        # A layer whose bias does not act in a step gives its mask vectors no gradient.
        masks = any(name.endswith("bias.mask") for name, _ in module.named_parameters())
        return DistributedDataParallel(module, find_unused_parameters=masks)

    def sum(self, *numbers: float) -> list[float]:
        """The sum of each number over all processes."""
        if self.size == 1:
            return list(numbers)
        total = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return [float(number) for number in total]

    def gather(self, words: list[str]) -> list[str]:
        """What all processes say, one after the other."""
        if self.size == 1:
            return words
        said: list[list[str]] = [[] for _ in range(self.size)]
        dist.all_gather_object(said, words)
        return [word for each in said for word in each]

    def follow(self, number: float) -> float:
        """The leading process's number, in every process; the others wait for it."""
        if self.size == 1:
            return number
        said = torch.tensor(number, dtype=torch.float64, device=self.device)
        dist.broadcast(said, 0)
        return float(said)

    def together(self, work: Callable[[], T]) -> T:
        """Do something in every process that may fail in any; all wait until all have done it.

        Raises:
            Exception: a mistake of the user's, or a disk that is full, in the first process that
                found one; in the others just that there was one, so that it is told once.
        """
        if self.size == 1:
            return work()
        done: T | None = None
        mistake: Exception | None = None
        try:
            done = work()
        except Exception as error:
            mistake = error
        teller = torch.tensor(self.size if mistake is None else self.rank, device=self.device)
        dist.all_reduce(teller, dist.ReduceOp.MIN)
        if mistake is not None and teller == self.rank:
            raise mistake
        if teller < self.size:
            raise ToldElsewhereError(f"process {int(teller)} tells what went wrong")
        return cast(T, done)

    def lead(self, work: Callable[[], T]) -> T | None:
        """Have the leading process alone do something that may fail; None in the others."""
        return self.together(lambda: work() if self.leads else None)


def join_group() -> Group:
    """Join the processes torchrun started, or be alone.

    NCCL connects GPUs and gloo CPUs.
    """
    device = choose_device()
    if Share.of_this_process().size == 1:
        return Group(0, 1, device)
    if device.type == "cuda":
        torch.cuda.set_device(device)
    store, rank, size = next(rendezvous("env://"))
    backend = "nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(
        backend, store=_fresh(store), rank=rank, world_size=size, timeout=_PATIENCE
    )
    return Group(rank, size, device)


def _fresh(store: Store) -> Store:
    """A store without what processes that have died left in it.

    torchrun gives the processes it restarts the store of the ones before, and they would call
    the addresses of the dead. On one machine all processes count the same restarts, which makes
    the count a good prefix; on several they may not (docs/scaling.md has the way around).
    """
    if os.environ.get("LOCAL_WORLD_SIZE") != os.environ["WORLD_SIZE"]:
        return store
    return PrefixStore(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"), store)


def leave_group() -> None:
    """Say goodbye to the other processes."""
    if dist.is_initialized():
        dist.destroy_process_group()


def without_exchange(module: nn.Module) -> AbstractContextManager[None]:
    """Forward and backward passes that keep their gradients to themselves."""
    if isinstance(module, DistributedDataParallel):
        return module.no_sync()
    return nullcontext()
