import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fastapi import Request

from mute.serve.batcher import Batcher, QueueFullError, Task
from mute.serve.bodies import RefusalError
from mute.serve.served import Served
from mute.serve.texts import Text
from mute.serve.work import Assignment, do
from mute.translate.translation import Translation


class Narrow:
    """A queue with room for one request."""

    def __init__(self) -> None:
        self.taken: list[Future[list[Any]]] = []

    def submit(self, task: Task, lines: Sequence[str]) -> Future[list[Any]]:
        if self.taken:
            raise QueueFullError
        self.taken.append(Future())
        return self.taken[0]


class Same:
    """Leaves lines as they are."""

    width = 1

    def __call__(self, lines: list[str]) -> list[str]:
        return lines


def test_what_was_queued_before_the_queue_was_full_is_not_done() -> None:
    queue = Narrow()
    tasks: list[tuple[Task, list[str]]] = [(Same(), ["one"]), (Same(), ["two"])]
    request = Request({"type": "http"})
    with pytest.raises(RefusalError, match="too many requests are waiting"):
        asyncio.run(do(request, cast("Batcher", queue), tasks))
    assert queue.taken[0].cancelled()


def test_a_line_stays_one_line_whatever_a_model_may_think_of() -> None:
    translator = SimpleNamespace(join=lambda parts: parts[0])
    served = cast("Served", SimpleNamespace(translator=translator))
    other = Translation("zwei\nZeilen", 0.0)
    found = Assignment(served, Text(["", "a", "\n", "b", ""]), [["a"], ["b"]]).finish(
        [Translation("eine\nZeile", 0.0, alternatives=[other]), Translation("B", 0.0)], 1
    )
    assert found.text == "eine Zeile\nB"
    assert found.alternatives == ["zwei Zeilen\nB"]
