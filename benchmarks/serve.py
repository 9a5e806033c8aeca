"""A server under load: throughput, waiting times, errors and memory with more and more clients.

    python benchmarks/serve.py --model runs/demo/run

Starts `mute serve` as a process of its own. The clients are in this one: each sends a sentence,
waits for its translation and sends the next, on a connection of its own, for a bounded time. With
one client there is one request at a time, which is what batching is compared with. A client that
is told that the queue is full (503) comes back when the answer says. Before anything is measured,
the largest number of clients warms the server up, until what malloc keeps has levelled off; what
its memory grows by after that is a leak.

Writes results/serve/load.json, and from that alone load.md beside it; `--render` only makes the
latter anew.
"""

import argparse
import asyncio
import json
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
from outcome import ROOT, mistakes_told, save

from mute.data.lines import read_text
from mute.data.toy import pairs
from mute.studies.tables import grid

JSON = ROOT / "results" / "serve" / "load.json"
CLIENTS = (1, 8, 32, 128)
WARM_UP = 6
"""Times as long as a row."""
AT_LEAST = 3.0
"""Times the throughput of one request at a time, which batching has to give."""
LONGEST = 60.0
"""Seconds after which a client gives up, which the server must not let happen."""


@dataclass
class Tally:
    """What clients have seen."""

    seconds: list[float] = field(default_factory=list)
    """Of each request that was answered with a translation."""
    statuses: Counter[str] = field(default_factory=Counter)


@contextmanager
def server(model: Path, options: list[str]) -> Iterator[str]:
    """Start a server; gives its address."""
    command = [sys.executable, "-m", "mute", "serve", str(model), "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None, "it is a pipe"
    try:
        said = process.stderr.readline()
        found = re.search(r"http://\S+(?=/$)", said.strip())
        if not found:
            raise SystemExit(f"the server does not start: {said}{process.stderr.read()}")
        copy = (process.stderr, sys.stderr)
        threading.Thread(target=shutil.copyfileobj, args=copy, daemon=True).start()
        yield found[0]
    finally:
        process.terminate()
        process.wait()


async def request(address: str, streams: Any, body: bytes) -> tuple[str, float]:
    """Ask for a translation: the status, and when to come back."""
    reader, writer = streams
    head = (
        f"POST /translate HTTP/1.1\r\nHost: {urlsplit(address).netloc}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    (length,) = re.findall(r"content-length: (\d+)", answer)
    await reader.readexactly(int(length))
    wait = re.findall(r"retry-after: (\d+)", answer)
    return answer.split()[1], float(wait[0]) if wait else 0.0


async def client(address: str, bodies: Iterator[bytes], until: float, tally: Tally) -> None:
    """One sentence after the other."""
    place = urlsplit(address)
    streams = await asyncio.open_connection(place.hostname, place.port)
    while (started := time.monotonic()) < until:
        try:
            async with asyncio.timeout(LONGEST):
                status, wait = await request(address, streams, next(bodies))
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            tally.statuses[type(error).__name__] += 1
            streams = await asyncio.open_connection(place.hostname, place.port)
            continue
        tally.statuses[status] += 1
        if status == "200":
            tally.seconds.append(time.monotonic() - started)
        await asyncio.sleep(wait)
    streams[1].close()


def counts(address: str) -> dict[str, float]:
    """The server's own figures, from /metrics."""
    with urlopen(f"{address}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return {
        name: float(value)
        for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")
    }


async def load(address: str, bodies: list[bytes], clients: int, seconds: float) -> dict[str, Any]:
    """Keep a number of clients busy for a while."""
    before, tally, started = counts(address), Tally(), time.monotonic()
    # Each begins somewhere else in the text.
    texts = (islice(cycle(bodies), n * len(bodies) // clients, None) for n in range(clients))
    await asyncio.gather(*(client(address, t, started + seconds, tally) for t in texts))
    took, after = time.monotonic() - started, counts(address)
    busy, right = tally.statuses.pop("503", 0), tally.statuses.pop("200", 0)
    batches = after["mute_batch_lines_count"] - before["mute_batch_lines_count"]
    p50, p95, p99 = np.percentile(tally.seconds or [0.0], [50, 95, 99])
    return {
        "clients": clients,
        "seconds": took,
        "translations": right,
        "per_second": right / took,
        "p50_ms": 1000 * p50,
        "p95_ms": 1000 * p95,
        "p99_ms": 1000 * p99,
        "busy_503": busy,
        "errors": dict(tally.statuses),
        "sentences_per_batch": right / max(1.0, batches),
        "memory_mb": after["process_resident_memory_bytes"] / 1e6,
    }


def render(result: dict[str, Any]) -> str:
    """The page of load.json."""
    rows, base = result["rows"], result["rows"][0]["per_second"]
    origin = (
        f"`{result['command']}` at commit {result['commit']}. Sentences are sent one by one, "
        f"{result['seconds']:g} s for each row; the clients run on the same machine as the server."
    )
    heads = ["clients", "translations/s", "× one at a time", "p50 ms", "p95 ms", "p99 ms"]
    heads += ["sentences/batch", "503", "other errors", "memory MB"]
    cells = [
        [
            str(row["clients"]),
            f"{row['per_second']:.1f}",
            f"{row['per_second'] / base:.2f}",
            *(f"{row[p]:.0f}" for p in ("p50_ms", "p95_ms", "p99_ms")),
            f"{row['sentences_per_batch']:.1f}",
            str(row["busy_503"]),
            str(sum(row["errors"].values())),
            f"{row['memory_mb']:.0f}",
        ]
        for row in rows
    ]
    lines = ["# A server under load", "", origin, "", *grid(heads, cells).splitlines()]
    best = max(row["per_second"] for row in rows) / base
    growth = rows[-1]["memory_mb"] - result["memory_mb_at_start"]
    verdict = (
        f"Batching gives {best:.2f} × the throughput of one request at a time (at least "
        f"{AT_LEAST:g}: {'reached' if best >= AT_LEAST else '**not reached**'}). The server's "
        f"memory was {result['memory_mb_at_start']:.0f} MB after the warm-up and changed by "
        f"{growth:+.0f} MB."
    )
    return "".join(f"{line}\n" for line in [*lines, "", verdict])


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--model", type=Path, default=Path("runs/demo/run"))
    parser.add_argument("--text", type=Path, help="sentences; default: the embedded corpus's")
    parser.add_argument("--languages", default="en,de", help="of the model")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each number of clients")
    parser.add_argument("--render", action="store_true", help="only make the page anew")
    parser.add_argument("--server", nargs=argparse.REMAINDER, default=[], help="for mute serve")
    given = parser.parse_args()
    if not given.render:
        source, target = given.languages.split(",")
        text = [*read_text(given.text)] if given.text else [en for en, _ in pairs(2000, 1, "test")]
        asked = {"source": source, "target": target}
        bodies = [json.dumps({"q": line, **asked}).encode() for line in text if line.strip()]
        with server(given.model, given.server) as address:
            asyncio.run(load(address, bodies, CLIENTS[-1], WARM_UP * given.seconds))
            at_start = counts(address)["process_resident_memory_bytes"] / 1e6
            rows = [asyncio.run(load(address, bodies, n, given.seconds)) for n in CLIENTS]
        measured = {"seconds": given.seconds, "memory_mb_at_start": at_start, "rows": rows}
        save("load", measured, folder="serve")
    page = render(json.loads(JSON.read_text()))
    JSON.with_suffix(".md").write_text(page)
    print(page)


if __name__ == "__main__":
    with mistakes_told():
        main()
