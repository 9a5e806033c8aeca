"""Where the time goes, by PyTorch's profiler.

    python benchmarks/profiles.py

Training: the tiny shape on Multi30k (prepared), one unit and 4 units + bias + seq. Decoding:
Transformer-Base, beam 4, 30 steps, for 30 sentences at once and one, in float32 and int8. Writes
results/bench/profiles.json: the share of each operation in the time of the processor.
"""

import mute  # noqa: F401 (before torch: see mute.mkl)

# isort: split
import argparse
from collections.abc import Callable, Iterator
from functools import partial

import torch
from comparison import COMPUTES
from contenders import Mute, Search
from outcome import ROOT, mistakes_told, save
from torch.profiler import ProfilerActivity, profile
from workload import base_settings, random_model

from mute.bench.material import prepared_material
from mute.bench.training import TimedTrainer
from mute.configfile import load_config
from mute.data.batching import Batch
from mute.runtime import keep_freed_memory

SHOWN = 12
SYSTEMS = {"one unit": "relative", "4 units + bias + seq": "seq"}
STEPS = 8


def shares(work: Callable[[], object]) -> dict[str, float]:
    """The operations that take most, after a run to warm up."""
    work()
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        work()
    events = sorted(seen.key_averages(), key=lambda event: -event.self_cpu_time_total)
    total = sum(event.self_cpu_time_total for event in events)
    return {event.key: round(event.self_cpu_time_total / total, 3) for event in events[:SHOWN]}


def training() -> Iterator[tuple[str, dict[str, float]]]:
    """Some steps of the trainer, for each system."""
    for name, system in SYSTEMS.items():
        config = load_config(ROOT / "configs" / "multi30k" / f"{system}.yaml")
        assert config.data is not None
        assert config.train is not None
        material = prepared_material(config.data, config.train, torch.device("cpu"))
        trainer = TimedTrainer(config.model, config.train, material)
        steps = [material.batches(plan) for plan in material.first_steps(STEPS, 1)]
        yield f"training, {name}", shares(partial(_train, trainer, steps))


def _train(trainer: TimedTrainer, steps: list[list[Batch]]) -> None:
    for batches in steps:
        trainer.step(batches)


def decoding() -> Iterator[tuple[str, dict[str, float]]]:
    """A batch and a sentence, in both kinds of arithmetic."""
    model, search = random_model(1), Search(beam=4, steps=30)
    batch = next(iter(base_settings(quick=True))).batches[0]
    for compute in COMPUTES:
        engine = Mute(model, compute)
        for sentences in (len(batch), 1):
            found = shares(partial(engine.run, [batch[:sentences]], search))
            yield f"decoding, {compute}, batch {sentences}", found


def main() -> None:
    """Run it."""
    argparse.ArgumentParser(description=__doc__).parse_args()  # --help, and no typing mistakes
    keep_freed_memory()
    measured = {}
    for about in (training, decoding):
        for setting, found in about():
            print(setting, found, flush=True)
            measured[setting] = found
    save("profiles", {"threads": torch.get_num_threads(), "shares": measured})


if __name__ == "__main__":
    with mistakes_told():
        main()
