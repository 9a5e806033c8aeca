"""Training speed side by side with JoeyNMT, Eole and our own first loop, on the same data.

    python benchmarks/train.py

Needs configs/multi30k prepared. All see the same pieces of Multi30k, the same shape (4 + 4 layers,
width 128, feed-forward 256, 4 heads, dropout, tied and shared embeddings), the same token
budget, Adam and label smoothing. The peers have sinusoidal positions only, we have relative ones
too, but for one row, and an average of the weights; joeynmt.py and eole.py tell the other
differences. Each peer gets an environment of its own, made here once; where that fails, it is left
out, and the result says why. Our first whole training loop, before any work on its speed, runs from
the history of this repository.

Every contender runs once in a round. Speeds are target tokens per second after a warm-up of 100
steps, padding not counted. All keep the memory they free, which makes a large difference on some
machines; the peers would not by themselves. On AMD's CPUs with AVX-512, where mute has MKL use it
(mute.mkl), the peers run twice: as they are, and lent that. Writes results/bench/train.json.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from eole import EOLE
from first_loop import first_tree, package_of
from joeynmt import JOEYNMT
from outcome import ROOT, mistakes_told, save
from peers import NotInstalledError, Speed, Trial, watch, write_pieces

from mute import configfile
from mute.config import ModelConfig, TrainConfig
from mute.data.batching import BatchStream
from mute.data.prepared import Prepared, load_prepared
from mute.mkl import find_library

ONE, FULL = "mute, one unit", "mute, 4 units + bias + seq"
ALIKE = "mute, one unit, positions as the peers'"
SYSTEMS = {ALIKE: "transformer", ONE: "relative", FULL: "seq"}
PEERS = (JOEYNMT, EOLE)
RECORD = r"train \d+: .*tokens_per_second ([\d.,e+]+)"  # 9876 or 12,345; once 1.234e+04
RECORDS, WARM_UP = 8, 3  # of 50 steps; those that are left out fetch fresh memory
LENT = ", lent our MKL"
FIRST_ONE, FIRST_FULL = (f"{name}, first loop" for name in (ONE, FULL))


class Comparison(NamedTuple):
    """How many times as fast one contender is as another."""

    title: str
    one: str
    other: str
    target: float | None


COMPARISONS = (
    Comparison("mute one unit / JoeyNMT", ONE, JOEYNMT.name, 6.0),
    Comparison("mute one unit / Eole", ONE, EOLE.name, 2.0),
    Comparison("mute 4 units + bias + seq / Eole", FULL, EOLE.name, 1.0),
    Comparison("mute one unit / JoeyNMT, lent our MKL", ONE, JOEYNMT.name + LENT, None),
    Comparison("mute one unit / Eole, lent our MKL", ONE, EOLE.name + LENT, None),
    Comparison("mute 4 units + bias + seq / Eole, lent our MKL", FULL, EOLE.name + LENT, None),
    Comparison("mute one unit, positions alike / JoeyNMT", ALIKE, JOEYNMT.name, None),
    Comparison("mute one unit, positions alike / Eole", ALIKE, EOLE.name, None),
    Comparison("mute 4 units + bias + seq / mute one unit", FULL, ONE, None),
    Comparison("mute one unit / its first loop", ONE, FIRST_ONE, 2.0),
    Comparison("mute 4 units + bias + seq / its first loop", FULL, FIRST_FULL, 2.0),
)


def our_speed(tree: Path, system: str, trial: Trial) -> Speed:
    """`mute train` for some steps: the median over its records after a warm-up."""
    config = f"configs/multi30k/{system}.yaml"
    command = [sys.executable, "-m", "mute", "train", config]
    for setting in (
        f"train.run={trial.folder}/{tree.name}-{system}",
        f"train.batch_tokens={trial.tokens}",
        "train.steps=1000000",
        "train.validate_every=1000000",
        "train.save_every=1000000",
    ):
        command += ["--set", setting]
    records = watch(command, RECORD, RECORDS, tree, package_of(tree))
    per_second = statistics.median(float(each[1].replace(",", "")) for each in records[WARM_UP:])
    return Speed(per_second, _tokens_per_batch(trial))


def _tokens_per_batch(trial: Trial) -> float:
    pairs = trial.prepared.train
    batches = list(BatchStream(pairs, trial.tokens, trial.train.seed).epoch(0))
    _, target = pairs.lengths
    return (int(target.sum()) + len(target)) / len(batches)  # each with its end


def library_to_lend() -> str | None:
    """What has MKL use AVX-512, where it would not by itself."""
    library = find_library()
    if library is None:  # also where there is no such file
        return None
    cpu = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return library if "AuthenticAMD" in cpu and "avx512f" in cpu else None


def lent(library: str, speed: Callable[[Trial], Speed], trial: Trial) -> Speed:
    """A peer's speed with products as fast as ours: what is left of the difference is the code."""
    os.environ["LD_PRELOAD"] = library  # the peers' processes inherit it
    try:
        return speed(trial)
    finally:
        del os.environ["LD_PRELOAD"]


def find_contenders() -> tuple[dict[str, Callable[[Trial], Speed]], dict[str, str]]:
    """Everyone that can be measured here, and why others cannot."""
    contenders: dict[str, Callable[[Trial], Speed]] = {}
    left_out: dict[str, str] = {}
    for peer in PEERS:
        try:
            contenders[peer.name] = partial(peer.speed, peer.environment())
            if library := library_to_lend():
                contenders[peer.name + LENT] = partial(lent, library, contenders[peer.name])
        except NotInstalledError as error:
            left_out[peer.name] = str(error)
            print(f"{peer.name} is left out: {error}", flush=True)
    for name, system in SYSTEMS.items():
        contenders[name] = partial(our_speed, ROOT, system)
    try:
        tree = first_tree()
        contenders[FIRST_ONE] = partial(our_speed, tree, SYSTEMS[ONE])
        contenders[FIRST_FULL] = partial(our_speed, tree, SYSTEMS[FULL])
    except NotInstalledError as error:
        left_out["first loop"] = str(error)
        print(f"our first loop is left out: {error}", flush=True)
    return contenders, left_out


def load_experiment() -> tuple[ModelConfig, TrainConfig, Prepared]:
    """What all train, or are told first that it is not prepared."""
    config = configfile.load_experiment(ROOT / "configs" / "multi30k" / "relative.yaml")
    return config.model, config.train, load_prepared(config.data)


def measure(
    contenders: Mapping[str, Callable[[Trial], Speed]],
    experiment: tuple[ModelConfig, TrainConfig, Prepared],
    tokens: int,
    rounds: int,
) -> dict[str, list[Speed]]:
    """Let everyone train once in turn, and so for some rounds."""
    speeds: dict[str, list[Speed]] = {name: [] for name in contenders}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:  # a new one: a run would be resumed
            trial = Trial(*experiment, tokens, Path(folder))
            write_pieces(trial.prepared, trial.folder)
            for name, train in contenders.items():
                speeds[name].append(train(trial))
                print(f"{name}: {speeds[name][-1].per_second:.0f} tokens/s", flush=True)
    return speeds


def summarise(speeds: Mapping[str, list[Speed]]) -> dict[str, Any]:
    """Every round's speeds, their medians and spread, and the ratios of the medians."""
    measured = {name: [each.per_second for each in runs] for name, runs in speeds.items()}
    medians = {name: statistics.median(values) for name, values in measured.items()}
    per_batch = {name: runs[-1].per_batch for name, runs in speeds.items()}
    ratios: dict[str, float] = {}
    targets: dict[str, Any] = {}
    for title, one, other, target in COMPARISONS:
        if one in medians and other in medians:
            ratio = medians[one] / medians[other]
            ratios[title] = round(ratio, 2)
            if target is not None:
                targets[title] = {"at_least": target, "reached": ratio >= target}
    return {
        "measured": measured,
        "median": medians,
        # The distance of the fastest and the slowest round, as a share of the median.
        "spread": {
            name: round((max(values) - min(values)) / medians[name], 3)
            for name, values in measured.items()
        },
        "ratios": ratios,
        "targets": targets,
        "target_tokens_per_batch": {
            name: round(tokens) for name, tokens in per_batch.items() if tokens is not None
        },
    }


def main() -> None:
    """Measure everyone in one run, and keep the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=2048, help="the budget of a batch")
    parser.add_argument("--rounds", type=int, default=2, help="how often each is measured in turn")
    options = parser.parse_args()
    experiment = load_experiment()
    contenders, left_out = find_contenders()
    found = summarise(measure(contenders, experiment, options.tokens, options.rounds))
    print(found["ratios"], found["targets"], sep="\n")
    unit = "target tokens per second"
    settings = {"batch_tokens": options.tokens, "rounds": options.rounds}
    save("train", {"unit": unit, **settings, **found, "left_out": left_out})


if __name__ == "__main__":
    with mistakes_told():
        main()
