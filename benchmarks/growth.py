"""How the cost of training and translation grows, and why it bends where it bends.

    python benchmarks/growth.py

measures the tiny shape of configs/multi30k, with one unit (relative.yaml) and with several
(seq.yaml), along four axes: length of the sentences, size of a batch, units, layers. All else stays
as in `Point`. Sentences are random and all of one length, so nothing is padded. Translation is by
beam search, in float32 and, where the machine can, in int8; every translation is as long as its
source.

Every speed also is a share of the machine's peak, measured in the same run: where work per token
grows, tokens per second fall and the share stays; where time goes into something else than products
of matrices, the share falls. Writes results/bench/growth.json, and from that alone growth.md and a
figure for each axis beside it; `--render` only makes the latter anew.
"""

import mute  # noqa: F401 (before torch: see mute.mkl)

# isort: split
import argparse
import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

import torch
from growth_page import write_page
from outcome import ROOT, mistakes_told, save

from mute.bench.material import Material, equal_lengths, random_material
from mute.bench.peak import measure_peak
from mute.bench.training import TimedTrainer, measure_training
from mute.bench.translating import BEAM, measure_translation
from mute.bench.work import Speed
from mute.config import BiasKind, ModelConfig, TrainConfig
from mute.configfile import load_experiment
from mute.cores import core_count
from mute.model.transformer import build
from mute.runtime import choose_device, keep_freed_memory

CONFIGS = ROOT / "configs" / "multi30k"
RESULTS = ROOT / "results" / "bench"
VOCABULARY = 9_712
"""Words, as the prepared data of configs/multi30k has them."""
TOKENS = 16_384
"""That are trained on at every point, in as many steps as it takes."""
SYSTEMS = (1, 4)
"""Units of the systems that are measured along every axis but the units' own."""


class Point(NamedTuple):
    """What is measured; the defaults are what three axes have in common while the fourth varies."""

    units: int = 4
    layers: int = 4
    """Of the encoder, and as many of the decoder."""
    length: int = 25
    """Pieces of every source and every target, the end not counted."""
    batch_tokens: int = 4096
    """Of training."""
    sentences: int = 30
    """At once, of translation."""


class Axis(NamedTuple):
    """A field of `Point` and the values it takes, in training and in translation."""

    trained: str
    in_training: Sequence[int]
    translated: str
    in_translation: Sequence[int]

    @property
    def training(self) -> dict[Point, int]:
        """What is trained, each with its place on the axis."""
        return _along(self.trained, self.in_training)

    @property
    def translation(self) -> dict[Point, int]:
        """What is translated, each with its place on the axis."""
        return _along(self.translated, self.in_translation)


def _along(field: str, values: Sequence[int]) -> dict[Point, int]:
    # Along the axis of units, both systems are the same points.
    return {
        Point(units=units)._replace(**{field: value}): value
        for units in SYSTEMS
        for value in values
    }


LENGTHS, UNITS, LAYERS = (10, 25, 50, 100, 200), (1, 2, 4, 6, 8), (1, 2, 4, 8)
AXES = {
    "length": Axis("length", LENGTHS, "length", LENGTHS),
    "batch": Axis(
        "batch_tokens", (512, 1024, 2048, 4096, 8192), "sentences", (1, 4, 16, 30, 64, 128)
    ),
    "units": Axis("units", UNITS, "units", UNITS),
    "layers": Axis("layers", LAYERS, "layers", LAYERS),
}


def measure(axes: Mapping[str, Axis], tokens: int) -> dict[str, Any]:
    """Measure every point once, also where axes cross.

    Args:
        axes: by name
        tokens: that are trained on at every point
    """
    start, load = time.monotonic(), round(os.getloadavg()[0], 1)
    keep_freed_memory()
    peak = measure_peak(choose_device())
    to_train = {point for axis in axes.values() for point in axis.training}
    to_translate = {point for axis in axes.values() for point in axis.translation}
    trained = {point: train(point, tokens, peak) for point in sorted(to_train)}
    complaints: set[str] = set()
    translated = {point: translate(point, peak, complaints) for point in sorted(to_translate)}
    return {
        "unit": "target tokens per second",
        "machine": {
            "threads": torch.get_num_threads(),
            "load at start": load,
            "torch": torch.__version__,
            "peak GFLOP/s": round(peak, 1),
        },
        "setting": {**Point()._asdict(), "beam": BEAM, "vocabulary": VOCABULARY},
        "took_s": round(time.monotonic() - start),
        "complaints": sorted(complaints),
        "axes": {
            name: {
                "training": _rows(axis.training, trained),
                "translation": _rows(axis.translation, translated),
            }
            for name, axis in axes.items()
        },
    }


def _rows(
    places: Mapping[Point, int], measured: Mapping[Point, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    return [
        {"at": place, "units": point.units, **row}
        for point, place in places.items()
        for row in measured[point]
    ]


def train(point: Point, tokens: int, peak: float) -> list[dict[str, Any]]:
    """Measure the speed of training, warmed up."""
    model, training, material = _prepare(point)
    steps = max(1, tokens // training.batch_tokens)
    trainer = TimedTrainer(model, training, material)
    found = measure_training(trainer, material, steps, peak)
    print(f"training, {point}: {found.speed.target_tokens_per_second:.0f} tokens/s", flush=True)
    return [_row(training.precision, found.speed, found.seconds_by_part)]


def translate(point: Point, peak: float, complaints: set[str]) -> list[dict[str, Any]]:
    """Measure the speed of translation, in every arithmetic; complains of those not had here."""
    config, training, material = _prepare(point)
    torch.manual_seed(training.seed)
    model = build(config, material.sizes).to(material.device)
    found, left_out = measure_translation(model, material, peak, [point.sentences])
    speeds = [
        f"{each.compute} {each.speed.target_tokens_per_second:.0f} tokens/s" for each in found
    ]
    print(f"translation, {point}: {', '.join(speeds)}", flush=True)
    complaints.update(left_out)
    return [_row(each.compute, each.speed, each.seconds_by_part) for each in found]


def _prepare(point: Point) -> tuple[ModelConfig, TrainConfig, Material]:
    settings = [
        f"train.batch_tokens={point.batch_tokens}",
        f"model.encoder_layers={point.layers}",
        f"model.decoder_layers={point.layers}",
    ]
    if point.units > 1:  # those beyond the kinds of bias see their input clean
        settings += [
            f"model.units={point.units}",
            f"model.bias=[{', '.join(get_args(BiasKind)[: point.units])}]",
        ]
    system = "relative" if point.units == 1 else "seq"
    config = load_experiment(CONFIGS / f"{system}.yaml", settings)
    sizes = (VOCABULARY, VOCABULARY)
    material = random_material(equal_lengths(point.length), config.train, choose_device(), sizes)
    return config.model, config.train, material


def _row(compute: str, speed: Speed, seconds: Mapping[str, float]) -> dict[str, Any]:
    whole = sum(seconds.values())
    return {
        "compute": compute,
        "tokens_per_second": round(speed.target_tokens_per_second, 1),
        "share_of_peak": round(speed.share_of_peak, 4),
        "mflop_per_token": round(1000 * speed.gflops / speed.target_tokens_per_second, 2),
        "share_of_time": {part: round(each / whole, 3) for part, each in seconds.items()},
    }


def main() -> None:
    """Measure and keep the result, or just look at it anew."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--render", action="store_true", help="from growth.json, measure nothing")
    parser.add_argument("--threads", type=int, default=core_count())
    options = parser.parse_args()
    if not options.render:
        torch.set_num_threads(options.threads)
        save("growth", measure(AXES, TOKENS))
    write_page(json.loads((RESULTS / "growth.json").read_text()), RESULTS)


if __name__ == "__main__":
    with mistakes_told():
        main()
