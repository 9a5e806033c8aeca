"""Requests that wait: too long, too many, for nobody."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from mute.serve import calls
from mute.serve.app import create_app
from mute.serve.calls import Server
from mute.serve.limits import Limits
from mute.serve.served import Gallery
from mute.translate.translation import Translation
from mute.translate.translator import Translator


class Slow:
    """A translator that takes its time, and says what it was given."""

    def __init__(self, inner: Translator) -> None:
        self.inner, self.lines, self.gate = inner, list[str](), threading.Event()
        self.tokenizer, self.models = inner.tokenizer, inner.models
        self.max_length, self.join = inner.max_length, inner.join

    def translate(self, lines: list[str], *args: Any, **options: Any) -> list[Translation]:
        self.lines += lines
        assert self.gate.wait(10)
        return self.inner.translate(lines, *args, **options)


@pytest.fixture
def slow(translator: Translator) -> Slow:
    return Slow(translator)


def slow_app(slow: Slow, **limits: Any) -> FastAPI:
    return create_app(Server(Gallery([cast("Translator", slow)]), Limits(**limits)))


QUESTION = {"q": "A cat.", "source": "en", "target": "de"}


def test_a_request_that_takes_too_long_is_told_so_and_not_done_later(slow: Slow) -> None:
    with TestClient(slow_app(slow, timeout=0.2)) as client:
        for _ in range(2):  # the second one is not begun while the first one blocks the thread
            response = client.post("/translate", json=QUESTION)
            assert response.status_code == 504
            assert "within 0.2 seconds" in response.json()["error"]
        slow.gate.set()
    assert slow.lines == ["A cat."]


def test_the_time_counts_from_the_first_look_at_a_text(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To cut a text into sentences and words may take long by itself."""
    planned = threading.Event()

    def plan(*_: object) -> None:
        assert planned.wait(10)

    monkeypatch.setattr(calls, "_plan", plan)
    with TestClient(slow_app(slow, timeout=0.2)) as client:
        response = client.post("/translate", json=QUESTION)
        assert response.status_code == 504
        planned.set()


def test_a_full_queue_asks_to_come_back(slow: Slow) -> None:
    with TestClient(slow_app(slow, queue=2)) as client, ThreadPoolExecutor(2) as pool:
        begun = pool.submit(client.post, "/translate", json=QUESTION)
        while not slow.lines:
            time.sleep(0.001)
        waiting = pool.submit(client.post, "/translate", json={**QUESTION, "q": ["A.", "B."]})
        while "mute_queue_lines 2.0" not in client.get("/metrics").text:
            time.sleep(0.001)
        refused = client.post("/translate", json=QUESTION)
        assert refused.status_code == 503
        assert int(refused.headers["Retry-After"]) >= 1
        slow.gate.set()
        assert begun.result().status_code == waiting.result().status_code == 200


async def call(app: FastAPI, *, leaves: bool, whole: bool = True) -> list[Any]:
    """A request straight to the app, whose client leaves or waits; it may leave in the middle."""
    body = json.dumps(QUESTION).encode()
    messages: list[Any] = [{"type": "http.request", "body": body, "more_body": not whole}]
    sent: list[Any] = []

    async def receive() -> Any:
        if messages:
            return messages.pop()
        if not leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/translate", "headers": headers}
    await app({**scope, "query_string": b"", "root_path": ""}, receive, send)
    return sent


def test_a_client_that_leaves_while_it_asks_is_no_error_inside(slow: Slow) -> None:
    app = slow_app(slow, timeout=10)
    start, _ = asyncio.run(call(app, leaves=True, whole=False))
    assert start["status"] == 499
    app.state.server.batcher.close()
    assert slow.lines == []


def test_a_request_that_does_not_arrive_is_told_so(slow: Slow) -> None:
    app = slow_app(slow, timeout=0.2)
    start, answer = asyncio.run(call(app, leaves=False, whole=False))
    assert start["status"] == 408
    assert "did not arrive within 0.2 seconds" in json.loads(answer["body"])["error"]
    app.state.server.batcher.close()


def test_what_a_client_that_is_gone_had_asked_for_is_not_translated(slow: Slow) -> None:
    app = slow_app(slow, timeout=10)

    async def scene() -> None:
        first = asyncio.create_task(call(app, leaves=False))
        while not slow.lines:
            await asyncio.sleep(0.001)
        start, _ = await call(app, leaves=True)
        assert start["status"] == 499
        slow.gate.set()
        start, _ = await first
        assert start["status"] == 200

    asyncio.run(scene())
    app.state.server.batcher.close()
    assert slow.lines == ["A cat."]


def test_an_error_inside_is_a_500_that_tells_nothing_of_the_inside(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> list[Translation]:
        raise RuntimeError("a secret")

    monkeypatch.setattr(slow, "translate", broken)
    with TestClient(slow_app(slow), raise_server_exceptions=False) as client:
        response = client.post("/translate", json=QUESTION)
    assert response.status_code == 500
    assert "secret" not in response.text
    assert response.json()["error"]
