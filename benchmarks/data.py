"""How data preparation and the loader's start grow with the corpus.

    python benchmarks/data.py --pairs 250000 1000000 2000000

makes corpora of random words with a natural distribution (Zipf) and natural sentence lengths,
prepares each with `mute prepare`, then opens it as training does, each in a process of its own.
The loader is also opened on 18.4 million pairs, the size of the WMT'18 training set, written as
shards of random ids. Writes results/bench/data.json.
"""

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import yaml
from outcome import save

from mute.data.shards import Block, ShardWriter

WORDS = 200_000
BLOCK = 100_000
WMT18 = 18_400_000

OPEN = """
import json, resource, sys, time
from pathlib import Path
start = time.monotonic()
from mute.data.batching import BatchStream, Position, make_batch, padding_share
from mute.data.shards import Pairs
imported = time.monotonic()
pairs = Pairs(sys.argv[1])
batches = BatchStream(pairs, 4096, seed=1).after(Position())
first, _ = next(batches)
make_batch(pairs, first)
ready = time.monotonic()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
status = Path("/proc/self/status").read_text().splitlines()
own = next(int(line.split()[1]) / 1024 for line in status if line.startswith("RssAnon"))
some = [first, *(next(batches)[0] for _ in range(500))]
print(json.dumps({"import_s": round(imported - start, 2), "ready_s": round(ready - imported, 2),
                  "peak_mb": round(peak), "own_mb": round(own),
                  "padding": round(padding_share(pairs, some), 4)}))
"""


def write_corpus(folder: Path, pairs: int) -> None:
    """Random sentences: word w is as frequent as 1 / (w + 10), lengths as in news."""
    random = np.random.default_rng(1)
    words = np.array([_word(number) for number in range(WORDS)])
    odds = 1 / (np.arange(WORDS) + 10)
    ranks = np.cumsum(odds / odds.sum())
    for split, count in (("train", pairs), ("dev", 1000)):
        for side in ("en", "de"):
            with gzip.open(folder / f"{split}.{side}.gz", "wt", compresslevel=1) as file:
                for start in range(0, count, BLOCK):
                    sentences = min(BLOCK, count - start)
                    # The same lengths on both sides: pairs have similar lengths.
                    lengths = np.random.default_rng(start).gamma(4, 6, sentences).astype(int) + 2
                    drawn = words[np.searchsorted(ranks, random.random(lengths.sum()))]
                    for sentence in np.split(drawn, np.cumsum(lengths)[:-1]):
                        file.write(" ".join(sentence) + "\n")


def _word(number: int) -> str:
    letters = "etaoinshrdlu"
    word = ""
    while number or not word:
        number, letter = divmod(number, len(letters))
        word += letters[letter]
    return word


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


def measure(pairs: int) -> dict[str, float]:
    """Prepare and open a corpus of so many pairs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder, pairs)
        text = {
            split: {"source": f"{folder}/{split}.en.gz", "target": f"{folder}/{split}.de.gz"}
            for split in ("train", "dev")
        }
        data = {
            "source": "en",
            "target": "de",
            "prepared": f"{folder}/prepared",
            "train": [text["train"]],
            "dev": text["dev"],
            "tokenizer": {"kind": "sentencepiece", "model": "bpe", "size": 16000},
        }
        config = folder / "config.yaml"
        config.write_text(yaml.safe_dump({"data": data}))
        start = time.monotonic()
        subprocess.run(
            [sys.executable, "-m", "mute", "prepare", str(config)], check=True, capture_output=True
        )
        seconds = time.monotonic() - start
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        opened = open_shards(folder / "prepared" / "train")
        size = sum(path.stat().st_size for path in (folder / "prepared").rglob("*.npy"))
    return {
        "pairs": pairs,
        "prepare_s": round(seconds, 1),
        "prepare_largest_process_mb": round(largest),
        "shards_mb": round(size / 2**20),
        **opened,
    }


def main() -> None:
    """Measure each size and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[250_000, 1_000_000, 2_000_000])
    rows = []
    for pairs in sorted(parser.parse_args().pairs):  # ru_maxrss only grows: smallest first
        rows.append(measure(pairs))
        print(rows[-1], flush=True)
    with tempfile.TemporaryDirectory() as name:
        shards = Path(name) / "train"
        write_shards(shards, WMT18)
        full_size = {"pairs": WMT18, **open_shards(shards)}
    print(full_size)
    save("data", {"prepare and loader": rows, "loader at the size of WMT'18": full_size})


if __name__ == "__main__":
    main()
