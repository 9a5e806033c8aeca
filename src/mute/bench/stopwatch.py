"""Where the time goes, by part."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


class Stopwatch:
    """Seconds by part; at any moment one part's time runs, so the parts sum to the whole.

    A part inside of another stops the outer one's time. A GPU is waited for at every border.

    Args:
        device: that does the work
        rest: the name of all that is in no other part
    """

    def __init__(self, device: torch.device, rest: str) -> None:
        self._device = device
        self._open = [rest]
        self.restart()

    def restart(self) -> None:
        """Forget what was measured so far."""
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._since = self._now()

    def read(self) -> dict[str, float]:
        """The seconds of every part since the start."""
        self._charge()
        return dict(self._seconds)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """What is done inside is this part."""
        self._enter(name)
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def watching(self, module: nn.Module, name: str) -> Iterator[None]:
        """Inside, every forward pass of a module is this part."""
        hooks = (
            module.register_forward_pre_hook(lambda *_: self._enter(name)),
            module.register_forward_hook(lambda *_: self._leave()),
        )
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def _enter(self, name: str) -> None:
        self._charge()
        self._open.append(name)

    def _leave(self) -> None:
        self._charge()
        self._open.pop()

    def _charge(self) -> None:
        now = self._now()
        self._seconds[self._open[-1]] += now - self._since
        self._since = now

    def _now(self) -> float:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return time.perf_counter()
