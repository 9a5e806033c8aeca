"""How data preparation and the loader's start grow with the corpus.

    python benchmarks/data.py --pairs 250000 1000000 2000000

makes corpora of random words with a natural distribution (Zipf) and natural sentence lengths,
prepares each with `mute prepare`, then opens it as training does, each in a process of its own.
Writes results/bench/data.json; `loader.py` has the loader at full size.
"""

import argparse
import gzip
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import yaml
from loader import open_shards
from outcome import mistakes_told, save

# Runs a command and tells the largest of its processes, in kB. A small process of its own does it,
# since every process inherits the peak of the one that starts it.
LARGEST = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=sys.stderr)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
WORDS = 200_000
BLOCK = 100_000


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
        command = [sys.executable, "-c", LARGEST, sys.executable, "-m", "mute", "prepare"]
        said = subprocess.run([*command, str(config)], check=True, capture_output=True, text=True)
        seconds = time.monotonic() - start
        largest = int(said.stdout) / 1024
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
    for pairs in parser.parse_args().pairs:
        rows.append(measure(pairs))
        print(rows[-1], flush=True)
    save("data", {"rows": rows})


if __name__ == "__main__":
    with mistakes_told():
        main()
