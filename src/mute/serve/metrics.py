"""What a server counts, for Prometheus."""

import time
from collections.abc import Callable, Collection

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

GONE = 499
"""The status of a request whose client did not wait for the answer, by custom."""
OTHER = "other"


class Metrics:
    """Counts of one server; a process may have several, in tests."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)  # memory, CPU time, open files
        self.requests = Counter(
            "mute_requests", "Requests answered.", ["path", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "mute_request_seconds", "Time to answer.", ["path"], registry=self.registry
        )
        self.batch_lines = Histogram(
            "mute_batch_lines",
            "Lines translated together.",
            buckets=[2**n for n in range(11)],
            registry=self.registry,
        )
        self.batch_seconds = Histogram(
            "mute_batch_seconds", "Time to translate a batch.", registry=self.registry
        )
        self.queue = Gauge("mute_queue_lines", "Lines that wait.", registry=self.registry)

    def watch_queue(self, waiting: Callable[[], float]) -> None:
        """Where to look how many lines wait."""
        self.queue.set_function(waiting)

    def batch(self, lines: int, seconds: float) -> None:
        """A batch has been translated."""
        self.batch_lines.observe(lines)
        self.batch_seconds.observe(seconds)

    def text(self) -> bytes:
        """All counts, as Prometheus reads them."""
        return generate_latest(self.registry)


class CountRequests:
    """A layer around an app that counts its requests, those of unknown paths together."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: Collection[str]) -> None:
        self.app, self.metrics, self.paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and see what becomes of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.monotonic(), 500

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, note_status)
        finally:
            path = scope["path"] if scope["path"] in self.paths else OTHER
            self.metrics.requests.labels(path, str(status)).inc()
            self.metrics.seconds.labels(path).observe(time.monotonic() - started)
