"""What it is worth that MKL uses AVX-512 on AMD's CPUs, too (mute.mkl).

    python benchmarks/mkl.py

`mute bench` of the tiny shape on Multi30k (prepared), one unit and 4 units + bias + seq, in turn as
it is and with torch imported first, which leaves MKL as it is without mute. On other CPUs both are
the same. Writes results/bench/mkl.json: every round, and how many times as fast the one is as the
other in the median.
"""

import argparse
import json
import statistics
import subprocess
import sys
from typing import Any

from outcome import ROOT, mistakes_told, save

SYSTEMS = {"one unit": "relative", "4 units + bias + seq": "seq"}
STARTS = {"as it is": "", "MKL left alone": "import torch; "}


def measure(start: str, system: str, steps: int) -> dict[str, float]:
    """What `mute bench` says in a process of its own: the machine's peak, and tokens per second."""
    command = [sys.executable, "-c", f"{start}from mute.cli import main; main()", "bench"]
    command += [f"configs/multi30k/{system}.yaml", "--steps", str(steps), "--json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    speeds = {"peak, GFLOP/s": found["machine"]["peak_gflops"]}
    speeds["training"] = found["training"]["speed"]["target_tokens_per_second"]
    for each in found["translation"]:
        name = f"translation, {each['compute']}, batch {each['sentences']}"
        speeds[name] = each["speed"]["target_tokens_per_second"]
    return speeds


def main() -> None:
    """Measure both in turn, and keep the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured in turn")
    parser.add_argument("--steps", type=int, default=40, help="training steps that are measured")
    options = parser.parse_args()
    measured: dict[str, dict[str, list[dict[str, float]]]] = {}
    ratios: dict[str, dict[str, float]] = {}
    for title, system in SYSTEMS.items():
        rounds: dict[str, list[dict[str, float]]] = {name: [] for name in STARTS}
        for _ in range(options.rounds):
            for name, start in STARTS.items():
                rounds[name].append(measure(start, system, options.steps))
                print(title, name, rounds[name][-1], flush=True)
        measured[title] = rounds
        ours, alone = rounds.values()
        ratios[title] = {
            what: round(
                statistics.median(each[what] for each in ours)
                / statistics.median(each[what] for each in alone),
                2,
            )
            for what in ours[0]
        }
    print(ratios)
    save("mkl", {"rounds": options.rounds, "ratios": ratios, "measured": measured})


if __name__ == "__main__":
    with mistakes_told():
        main()
