"""From texts to batches and back: what a request asks of the translating thread."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from anyio import to_thread
from fastapi import Request

from mute.serve.batcher import Batcher, QueueClosedError, QueueFullError, Task
from mute.serve.bodies import RefusalError
from mute.serve.limits import Limits
from mute.serve.metrics import GONE
from mute.serve.served import Served
from mute.serve.texts import Text
from mute.serve.variants import Muted, Variants
from mute.translate.render import as_text
from mute.translate.splitting import split_line
from mute.translate.translation import Translation
from mute.translate.translator import Translator

RETRY_AFTER = {"Retry-After": "1"}

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Asked:
    """What a task for the batcher is told: who translates, without which units, and how."""

    variants: Variants
    served: Served
    muted: Muted
    beam: int
    nbest: int

    @property
    def width(self) -> int:
        """How many translations of a line are worked on at a time."""
        return max(self.beam, self.nbest)

    @property
    def translator(self) -> Translator:
        """The one of the model, with its units muted."""
        return self.variants.get(self.served, self.muted)


class Translate(Asked):
    """A task for the batcher."""

    def __call__(self, lines: list[str]) -> list[Translation]:
        """The translations of some lines."""
        return self.translator.translate(lines, self.beam, nbest=self.nbest)


class Finished(NamedTuple):
    """A text, translated."""

    text: str
    alternatives: list[str]
    warnings: list[str]
    """Of all its lines."""


@dataclass(frozen=True)
class Assignment:
    """A text, who translates it, and its lines in parts that the model takes."""

    served: Served
    text: Text
    parts: list[list[str]]

    @property
    def lines(self) -> list[str]:
        """All parts of all lines."""
        return [part for line in self.parts for part in line]

    def finish(self, translations: Sequence[Translation], alternatives: int) -> Finished:
        """The translation of the text and others, from those of its parts."""
        rest = iter(translations)
        join = self.served.translator.join
        lines = [join(list(islice(rest, len(parts)))) for parts in self.parts]
        most = max((len(line.alternatives) for line in lines), default=0)
        others = [
            # A line with fewer alternatives than another keeps its best translation.
            self.text.with_lines(
                as_text(line.alternatives[n] if n < len(line.alternatives) else line)
                for line in lines
            )
            for n in range(min(most, alternatives))
        ]
        warnings = [warning for line in lines for warning in line.warnings]
        return Finished(self.text.with_lines(map(as_text, lines)), others, warnings)


def assign(text: Text, served: Served) -> Assignment:
    """Split a text's long lines, so that the queue sees how much work they are."""
    return Assignment(served, text, [_parts(line, served) for line in text.lines])


def _parts(line: str, served: Served) -> list[str]:
    translator = served.translator
    if len(line.encode()) <= translator.max_length:
        return [line]  # as a rule; if it has more pieces, the translator splits it itself
    return split_line(
        line, translator.max_length, lambda part: len(translator.tokenizer.encode(part, "source"))
    )


@asynccontextmanager
async def in_time(limits: Limits) -> AsyncIterator[None]:
    """What is inside ends within the time that an answer may take.

    Raises:
        RefusalError: it does not.
    """
    try:
        async with asyncio.timeout(limits.timeout):
            yield
    except TimeoutError:
        raise RefusalError(
            504,
            f"not translated within {limits.timeout:g} seconds; send less text, or try again later",
        ) from None


async def aside(work: Callable[..., Answer], *given: object) -> Answer:
    """Do something in another thread, so that other requests go on; nobody waits for it too long.

    If the time is over, the thread is left to itself.
    """
    return await to_thread.run_sync(partial(work, *given), abandon_on_cancel=True)


async def do(
    request: Request, batcher: Batcher, tasks: Sequence[tuple[Task, Sequence[str]]]
) -> list[list[Any]]:
    """Wait until the translating thread has done some tasks with their lines.

    If the time is over or the client goes away, what has not been begun is not done.

    Raises:
        RefusalError: it could not be done.
    """
    futures: list[Future[list[Any]]] = []
    try:
        for task, lines in tasks:  # one by one: what was taken before a refusal is cancelled
            futures.append(batcher.submit(task, lines))
        return await _first_of(request, futures)
    except QueueFullError:
        raise RefusalError(
            503, "too many requests are waiting; try again in a moment", RETRY_AFTER
        ) from None
    except QueueClosedError:
        raise RefusalError(503, "the server is shutting down", RETRY_AFTER) from None
    finally:
        for future in futures:
            future.cancel()


async def _first_of(request: Request, futures: Sequence[Future[list[Any]]]) -> list[list[Any]]:
    """The results, unless the client is gone before."""
    results = asyncio.ensure_future(_all(futures))
    gone = asyncio.ensure_future(_disconnected(request))
    either: set[asyncio.Future[Any]] = {results, gone}
    try:
        done, _ = await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if results in done:
            return results.result()
        raise RefusalError(GONE, "the client is gone")
    finally:
        gone.cancel()
        results.cancel()
        with suppress(asyncio.CancelledError):
            await gone


async def _all(futures: Sequence[Future[list[Any]]]) -> list[list[Any]]:
    return [await asyncio.wrap_future(future) for future in futures]


async def _disconnected(request: Request) -> None:
    """Come to an end when the client goes away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
