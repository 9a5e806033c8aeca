"""What comes between a run and its end: someone who asks it to stop, and too little memory."""

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

import torch

from mute.data.batching import Batch
from mute.errors import MuteError

_ECHO = 1.0
"""Seconds in which a signal that was heard may come again."""


@contextmanager
def listening_for_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGTERM or Ctrl-C.

    A second one is not waited for: it ends the process as if nobody listened. One that comes right
    behind the first is the same: torchrun hands on a signal that its processes may have got, too.
    """
    first = math.inf

    def hear(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        nonlocal first
        now = time.monotonic()
        first = min(first, now)
        stop()
        if now - first > _ECHO:
            restore()
            signal.raise_signal(signum)

    before = {each: signal.signal(each, hear) for each in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    try:
        yield
    finally:
        restore()


def memory_advice(batch: Batch, batch_tokens: int) -> AbstractContextManager[None]:
    """Say what helps if memory runs out in a batch."""
    sentences, length = len(batch.source), max(batch.source.size(1), batch.target_input.size(1))
    return telling_of_memory(
        f"out of memory on a batch of {sentences} sentences of {length} pieces "
        f"(train.batch_tokens: {batch_tokens}); lower it, and raise train.accumulate by the "
        f"same factor to keep the size of a step, both in a new train.run"
    )


@contextmanager
def telling_of_memory(advice: str) -> Iterator[None]:
    """Say something if memory runs out.

    Raises:
        MuteError: it did.
    """
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        if not isinstance(error, torch.OutOfMemoryError | MemoryError) and (
            "can't allocate memory" not in str(error)
        ):
            raise
        raise MuteError(advice) from None
