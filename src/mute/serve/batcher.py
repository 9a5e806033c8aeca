"""Requests that come at the same time share a batch: sixteen sentences cost little more than one.

One thread does all the work. What is to be done with a line is a *task*, a function of several
lines; lines with equal tasks (the same model, beam, …) can be done together. A request that
nobody waits for any longer is cancelled through its future, and what is left of it is not done.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

TOKENS_AT_ONCE = 1600
"""About so many are done together: more are hardly faster, and nothing is cancelled meanwhile."""
USUAL_WIDTH = 4
"""The width of the search that this is meant for."""
PATIENCE = 0.005
"""Seconds that a line waits for others to share a batch with."""
BYTES_PER_TOKEN = 4
"""Roughly, in any language: the tokenizer itself would have to do its work twice."""
LEAST_TOKENS = 10
"""That a line counts for: however short it is, its search may take so many steps."""


class Task(Hashable, Protocol):
    """What to do with lines; equal ones are done together."""

    @property
    def width(self) -> int:
        """How many translations of a line are worked on at a time."""

    def __call__(self, lines: list[str]) -> Sequence[Any]:
        """As many results as lines, in the same order."""


class QueueFullError(Exception):
    """More lines wait already than the queue may hold; try again later."""


class QueueClosedError(Exception):
    """The server is shutting down and takes nothing more."""


class Job:
    """The lines of one request, some of them done."""

    def __init__(self, task: Task, lines: Sequence[str]) -> None:
        self.task, self.lines = task, lines
        self.future: Future[list[Any]] = Future()
        self.arrived = time.monotonic()
        self.taken = 0
        self.results: list[Any] = []

    def take(self, budget: int) -> tuple[list[str], int]:
        """The next lines within a budget of tokens, and what they cost."""
        first, cost = self.taken, 0
        for line in self.lines[first:]:
            tokens = tokens_of(line)
            if cost + tokens > budget:
                break
            cost += tokens
            self.taken += 1
        return list(self.lines[first : self.taken]), cost

    def next_cost(self) -> int:
        """Of the next line, in tokens."""
        return tokens_of(self.lines[self.taken])

    def receive(self, results: Sequence[Any]) -> None:
        """Add what the lines taken became; with the last of them the request is answered."""
        self.results += results
        if len(self.results) == len(self.lines):
            with suppress(InvalidStateError):  # cancelled at this very moment
                self.future.set_result(self.results)

    def fail(self, error: BaseException) -> None:
        """Answer the request with an error."""
        with suppress(InvalidStateError):
            self.future.set_exception(error)


class Batch(NamedTuple):
    """Lines of one task, with the requests they belong to."""

    task: Task
    shares: list[tuple[Job, list[str]]]

    @property
    def lines(self) -> list[str]:
        """All of them."""
        return [line for _, lines in self.shares for line in lines]


def tokens_of(line: str) -> int:
    """What a line costs: about the pieces that it has."""
    return LEAST_TOKENS + len(line.encode()) // BYTES_PER_TOKEN


class Batcher:
    """A bounded queue of requests and the thread that works on them; runs until closed."""

    def __init__(
        self,
        max_queue: int,
        patience: float = PATIENCE,
        budget: int = TOKENS_AT_ONCE,
        observe: Callable[[int, float], None] = lambda _lines, _seconds: None,
    ) -> None:
        """Start the thread.

        Args:
            max_queue: lines that may wait
            patience: seconds that a line waits for others
            budget: tokens that are done together by a search of the usual width; a longer line
                is done alone
            observe: is told of every batch: its lines, and how long it took
        """
        self.max_queue, self.patience, self.budget = max_queue, patience, budget
        self._observe = observe
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="mute-translate", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Lines in the queue, those not counted that nobody waits for."""
        with self._changed:
            return self._waiting()

    @property
    def alive(self) -> bool:
        """Whether requests are taken and worked on."""
        return self._thread.is_alive() and not self._closing

    def submit(self, task: Task, lines: Sequence[str]) -> Future[list[Any]]:
        """Queue a request; cancel the future if nobody waits for it any longer.

        Raises:
            QueueFullError: it would have to wait with more lines than may.
            QueueClosedError: `close` was called.
        """
        job = Job(task, lines)
        if not lines:
            job.receive([])
            return job.future
        with self._changed:
            if self._closing:
                raise QueueClosedError
            if self._waiting() + len(lines) > self.max_queue:
                raise QueueFullError
            self._jobs.append(job)
            self._changed.notify()
        return job.future

    def close(self) -> None:
        """Take nothing more, finish what was taken, and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _waiting(self) -> int:
        return sum(len(job.lines) - job.taken for job in self._jobs if not job.future.done())

    def _work(self) -> None:
        while batch := self._next_batch():
            started = time.monotonic()
            try:
                results = iter(batch.task(batch.lines))
                for job, lines in batch.shares:
                    job.receive([next(results) for _ in lines])
            except Exception as error:
                for job, _ in batch.shares:
                    job.fail(error)
            self._observe(len(batch.lines), time.monotonic() - started)

    def _next_batch(self) -> Batch | None:
        """Wait for lines and for others to go with them; None when closed and all is done."""
        with self._changed:
            while True:
                self._drop_what_nobody_waits_for()
                if self._jobs:
                    left = self._jobs[0].arrived + self.patience - time.monotonic()
                    if left <= 0 or self._closing or self._is_enough():
                        return self._take()
                    self._changed.wait(left)
                elif self._closing:
                    return None
                else:
                    self._changed.wait()

    def _drop_what_nobody_waits_for(self) -> None:
        self._jobs = deque(job for job in self._jobs if not job.future.done())

    def _is_enough(self) -> bool:
        lines = (line for job in self._alike() for line in job.lines[job.taken :])
        return sum(map(tokens_of, lines)) >= self._budget_of(self._jobs[0].task)

    def _budget_of(self, task: Task) -> int:
        """Fewer lines of a wide search: it takes as much longer."""
        return max(1, self.budget * USUAL_WIDTH // max(USUAL_WIDTH, task.width))

    def _alike(self) -> list[Job]:
        """The first request and those that can be worked on with it."""
        return [job for job in self._jobs if job.task == self._jobs[0].task]

    def _take(self) -> Batch:
        """Equal shares for all that go together, so that a long request holds up no short one."""
        alike = self._alike()
        first = alike[0]
        budget = self._budget_of(first.task)
        next_line = first.next_cost()  # done however long, or never
        turns = [(first, next_line)]
        turns += [(job, max(budget // len(alike), job.next_cost())) for job in alike]
        turns += [(job, budget) for job in alike]  # what others have left
        batch, left = Batch(first.task, []), max(budget, next_line)
        for job, share in turns:
            lines, cost = job.take(min(share, left))
            if lines:
                batch.shares.append((job, lines))
                left -= cost
        rest = [job for job in self._jobs if job.taken < len(job.lines)]
        # Who had a turn goes behind those that had none, and all of them behind other tasks.
        served = {job for job, _ in batch.shares}
        self._jobs = deque(sorted(rest, key=lambda job: (job.task == first.task, job in served)))
        return batch
