"""How soon, and in how much memory, training starts on a corpus of the size of WMT'18.

    python benchmarks/loader.py

writes shards of random ids for 18.4 million pairs, then opens them as training does, up to the
first batch, in a process of its own. `own_mb` is the process's memory; `peak_mb` also counts the
pages of mapped files, which the system takes back when it needs them. Writes
results/bench/loader.json.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from outcome import mistakes_told, save

from mute.data.shards import Block, ShardWriter

BLOCK = 100_000
WMT18 = 18_400_000

OPEN = """
import json, sys, time
from pathlib import Path
start = time.monotonic()
from mute.data.batching import BatchStream, Position, make_batch
from mute.data.shards import Pairs
imported = time.monotonic()
pairs = Pairs(sys.argv[1])
batches = BatchStream(pairs, 4096, seed=1).after(Position())
first, _ = next(batches)
make_batch(pairs, first)
ready = time.monotonic()
status = Path("/proc/self/status").read_text().splitlines()
peak, own = (  # not getrusage: there a process inherits the peak of its parent
    next(int(line.split()[1]) / 1024 for line in status if line.startswith(name))
    for name in ("VmHWM", "RssAnon")
)
some = [first, *(next(batches)[0] for _ in range(500))]
padding = sum(make_batch(pairs, each).padding for each in some) / len(some)
print(json.dumps({"import_s": round(imported - start, 2), "ready_s": round(ready - imported, 2),
                  "peak_mb": round(peak), "own_mb": round(own),
                  "padding": round(padding, 4)}))
"""


def write_shards(folder: Path, pairs: int) -> None:
    """What `mute prepare` would leave of so many pairs, with random ids."""
    random = np.random.default_rng(1)
    writer = ShardWriter(folder, vocabulary=16_000)
    writer.begin("random.en", "random.de")
    for start in range(0, pairs, BLOCK):
        count = min(BLOCK, pairs - start)
        lengths = random.gamma(4, 8, count).astype(np.int64) + 2
        ids = random.integers(4, 16_000, lengths.sum(), dtype=np.uint32)
        lines = np.arange(start + 1, start + count + 1, dtype=np.uint32)
        writer.add(Block(ids, lengths, ids, lengths, lines))
    writer.close()


def open_shards(folder: Path) -> dict[str, float]:
    """Start the loader on shards, in a process of its own."""
    opened = subprocess.run(
        [sys.executable, "-c", OPEN, str(folder)], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(opened.stdout)
    return found


def main() -> None:
    """Measure once and keep the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=WMT18)
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as name:
        shards = Path(name) / "train"
        write_shards(shards, pairs)
        measured = {"pairs": pairs, **open_shards(shards)}
    print(measured)
    save("loader", measured)


if __name__ == "__main__":
    with mistakes_told():
        main()
