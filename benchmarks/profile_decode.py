"""Where the time of decoding goes, by PyTorch's profiler: Transformer-Base, beam 4, 30 steps.

    python benchmarks/profile_decode.py

Writes results/bench/profile.json: for 30 sentences at once and one, in float32 and int8, the share
of each operation in the time of the processor.
"""

from typing import Any

import torch
from contenders import Mute, Search
from outcome import save
from torch.profiler import ProfilerActivity, profile
from workload import base_model, base_settings

from mute.runtime import keep_freed_memory
from mute.translate.engine import Compute

SHOWN = 12
COMPUTES: tuple[Compute, ...] = ("float32", "int8")


def shares(engine: Mute, batches: list[list[list[int]]]) -> dict[str, float]:
    """The operations that take most, after a run to warm up."""
    search = Search(beam=4, steps=30)
    engine.run(batches, search)
    with profile(activities=[ProfilerActivity.CPU]) as seen:
        engine.run(batches, search)
    events = sorted(seen.key_averages(), key=lambda event: -event.self_cpu_time_total)
    total = sum(event.self_cpu_time_total for event in events)
    return {event.key: round(event.self_cpu_time_total / total, 3) for event in events[:SHOWN]}


def main() -> None:
    """Run it."""
    keep_freed_memory()
    model = base_model(1)
    batch = next(iter(base_settings(quick=True))).batches[0]
    measured: dict[str, Any] = {}
    for compute in COMPUTES:
        engine = Mute(model, compute)
        for sentences in (len(batch), 1):
            measured[f"{compute}, batch {sentences}"] = shares(engine, [batch[:sentences]])
    for setting, found in measured.items():
        print(setting, found)
    save("profile", {"threads": torch.get_num_threads(), "shares": measured})


if __name__ == "__main__":
    main()
