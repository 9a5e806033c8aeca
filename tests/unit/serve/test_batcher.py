"""How requests share batches, with a task whose course the test decides."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from mute.serve.batcher import LEAST_TOKENS, Batcher, QueueClosedError, QueueFullError

SOON = 10.0
"""Seconds that no test needs, but that a broken one does not exceed."""


class Shout:
    """A task that remembers its batches; while `gate` is closed it does not come to an end."""

    width = 4

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.begun = threading.Semaphore(0)
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, lines: list[str]) -> list[str]:
        self.batches.append(lines)
        self.begun.release()
        assert self.gate.wait(SOON)
        if "bad" in lines:
            raise RuntimeError("a bad line")
        return [line.upper() for line in lines]


@pytest.fixture
def shout() -> Shout:
    return Shout()


@pytest.fixture
def batcher(shout: Shout) -> Iterator[Batcher]:
    made = Batcher(max_queue=8, patience=0)
    yield made
    shout.gate.set()
    made.close()


def hold_up(batcher: Batcher, shout: Shout) -> Future[list[Any]]:
    """Keep the thread busy, so that what is submitted next has to wait."""
    shout.gate.clear()
    first = batcher.submit(shout, ["first"])
    assert shout.begun.acquire(timeout=SOON)
    return first


def test_a_request_gets_its_own_results_in_order(batcher: Batcher, shout: Shout) -> None:
    assert batcher.submit(shout, ["a", "b"]).result(SOON) == ["A", "B"]
    assert batcher.submit(shout, []).result(SOON) == []


def test_requests_that_wait_together_share_a_batch(batcher: Batcher, shout: Shout) -> None:
    hold_up(batcher, shout)
    one, other = batcher.submit(shout, ["a", "b"]), batcher.submit(shout, ["c"])
    assert batcher.waiting == 3
    shout.gate.set()
    assert (one.result(SOON), other.result(SOON)) == (["A", "B"], ["C"])
    assert shout.batches == [["first"], ["a", "b", "c"]]


def test_a_line_waits_a_moment_for_others(shout: Shout) -> None:
    batcher = Batcher(max_queue=8, patience=SOON, budget=4 * LEAST_TOKENS)
    one = batcher.submit(shout, ["a", "b"])
    assert shout.batches == []
    other = batcher.submit(shout, ["c", "d"])  # enough for a batch: nothing more to wait for
    assert one.result(SOON / 2) + other.result(SOON / 2) == ["A", "B", "C", "D"]
    assert shout.batches == [["a", "b", "c", "d"]]
    batcher.close()


def test_requests_with_other_options_go_separately(batcher: Batcher, shout: Shout) -> None:
    hold_up(batcher, shout)
    another = Shout()
    futures = [
        batcher.submit(task, [line]) for task, line in [(shout, "a"), (another, "b"), (shout, "c")]
    ]
    shout.gate.set()
    assert [future.result(SOON) for future in futures] == [["A"], ["B"], ["C"]]
    assert shout.batches == [["first"], ["a", "c"]]
    assert another.batches == [["b"]]


def test_a_long_request_is_done_in_several_batches(shout: Shout) -> None:
    batcher = Batcher(max_queue=100, patience=0, budget=2 * LEAST_TOKENS + 5)
    lines = ["ab", "cd", "a line longer than any budget allows " * 2, "ef"]
    assert batcher.submit(shout, lines).result(SOON) == [line.upper() for line in lines]
    assert shout.batches == [lines[:2], [lines[2]], [lines[3]]]
    batcher.close()


def test_a_long_request_does_not_hold_up_a_short_one() -> None:
    shout = Shout()
    batcher = Batcher(max_queue=100, patience=0, budget=4 * LEAST_TOKENS)
    hold_up(batcher, shout)
    long, short = batcher.submit(shout, ["a"] * 6), batcher.submit(shout, ["b"])
    shout.gate.set()
    assert short.result(SOON) == ["B"]
    assert long.result(SOON) == ["A"] * 6
    assert shout.batches == [["first"], ["a", "a", "a", "b"], ["a", "a", "a"]]
    batcher.close()


def test_a_long_request_does_not_hold_up_many_short_ones() -> None:
    shout = Shout()
    batcher = Batcher(max_queue=1000, patience=0, budget=8 * LEAST_TOKENS)
    hold_up(batcher, shout)
    long = batcher.submit(shout, ["a line of the long one"] * 200)
    short = [batcher.submit(shout, ["a short request"]) for _ in range(30)]
    shout.gate.set()
    for each in (*short, long):
        each.result(SOON)
    batcher.close()
    last = max(at for at, batch in enumerate(shout.batches) if "a short request" in batch)
    before = sum(line.startswith("a line") for batch in shout.batches[: last + 1] for line in batch)
    assert before < 40  # about as much as theirs together


def test_requests_with_another_task_take_turns() -> None:
    shout = Shout()
    done: list[str] = []
    batcher = Batcher(max_queue=100, patience=0, budget=1)

    class Note:
        width = 1

        def __call__(self, lines: list[str]) -> list[str]:
            done.extend(lines)
            return lines

    hold_up(batcher, shout)
    futures = [batcher.submit(Note(), ["a", "a"]), batcher.submit(Note(), ["b", "b"])]
    shout.gate.set()
    for future in futures:
        future.result(SOON)
    assert done == ["a", "b", "a", "b"]
    batcher.close()


def test_a_full_queue_takes_nothing_more(batcher: Batcher, shout: Shout) -> None:
    hold_up(batcher, shout)
    waiting = batcher.submit(shout, ["x"] * 8)
    with pytest.raises(QueueFullError):
        batcher.submit(shout, ["one more"])
    waiting.cancel()  # makes room at once
    assert batcher.waiting == 0
    again = batcher.submit(shout, ["one more"])
    shout.gate.set()
    assert again.result(SOON) == ["ONE MORE"]


def test_what_nobody_waits_for_is_not_done(batcher: Batcher, shout: Shout) -> None:
    hold_up(batcher, shout)
    given_up, other = batcher.submit(shout, ["a"]), batcher.submit(shout, ["b"])
    assert given_up.cancel()
    shout.gate.set()
    assert other.result(SOON) == ["B"]
    assert shout.batches == [["first"], ["b"]]


def test_a_request_given_up_half_way_is_not_finished() -> None:
    shout = Shout()
    batcher = Batcher(max_queue=8, patience=0, budget=1)
    shout.gate.clear()
    long = batcher.submit(shout, ["a", "b", "c"])
    assert shout.begun.acquire(timeout=SOON)
    assert long.cancel()
    shout.gate.set()
    assert batcher.submit(shout, ["d"]).result(SOON) == ["D"]
    assert shout.batches == [["a"], ["d"]]
    batcher.close()


def test_an_error_is_told_to_its_batch_and_the_next_goes_on(batcher: Batcher, shout: Shout) -> None:
    with pytest.raises(RuntimeError, match="a bad line"):
        batcher.submit(shout, ["bad"]).result(SOON)
    assert batcher.submit(shout, ["good"]).result(SOON) == ["GOOD"]
    assert batcher.alive


def test_closing_finishes_what_was_taken_and_takes_no_more(batcher: Batcher, shout: Shout) -> None:
    first = hold_up(batcher, shout)
    second = batcher.submit(shout, ["second"])
    closing = threading.Thread(target=batcher.close)
    closing.start()
    while batcher.alive:  # until the other thread has come so far
        time.sleep(0.001)
    with pytest.raises(QueueClosedError):
        batcher.submit(shout, ["late"])
    assert not first.done()
    shout.gate.set()
    closing.join(SOON)
    assert (first.result(0), second.result(0)) == (["FIRST"], ["SECOND"])


def test_every_batch_is_reported(shout: Shout) -> None:
    seen: list[int] = []
    batcher = Batcher(8, patience=0, observe=lambda lines, _seconds: seen.append(lines))
    batcher.submit(shout, ["a", "b"]).result(SOON)
    batcher.close()
    assert seen == [2]


@pytest.mark.parametrize(("width", "sizes"), [(1, [8]), (4, [8]), (8, [4, 4]), (99, [1] * 8)])
def test_a_wide_search_has_fewer_lines_at_once(width: int, sizes: list[int]) -> None:
    shout = Shout()
    shout.width = width
    batcher = Batcher(max_queue=100, patience=0, budget=8 * LEAST_TOKENS)
    assert batcher.submit(shout, ["a"] * 8).result(SOON) == ["A"] * 8
    assert [len(batch) for batch in shout.batches] == sizes
    batcher.close()
