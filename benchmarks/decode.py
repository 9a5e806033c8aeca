"""Decoding speed side by side with CTranslate2 and Hugging Face, in one run, on the same cores.

    python benchmarks/decode.py --model runs/multi30k-relative

Two models: Transformer-Base with random weights, whose translations are forced to 30 tokens, so
that all engines take the same steps (beside it our Big, for the paper's claim that several units of
Base are faster); and, if one is given, a trained model of Multi30k with one
unit, which translates the test set freely. CTranslate2 gets the same weights, exported. Hugging
Face's Marian, in an environment of its own that is made here once, has post-norm layers: weights
of its own, in the same shape and with the same amount of work. All have the same number of
threads, and keep the memory they free.

All engines are built before the first is measured. In each setting, every engine runs
once unmeasured, then once in turn for some rounds, so that a disturbance hits all. Speeds are
tokens that come out, the end counted, per second of the median round. Writes
results/bench/decode.json, and from that alone decode.md beside it; `--render` only makes the
latter anew. `--quick` looks at the main figures and keeps nothing.
"""

import mute  # noqa: F401 (before torch: see mute.mkl)

# isort: split
import argparse
import json
import os
import tempfile
import time
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import torch
from comparison import COMPUTES, Setting, compare, ratio
from contenders import Contender, CTranslate2, Mute
from decode_table import render, tables
from huggingface import TRANSFORMERS, hugging_face
from outcome import ROOT, mistakes_told, save
from peers import NotInstalledError
from workload import (
    BASE,
    BATCH,
    VOCABULARY,
    base_settings,
    base_tokenizer,
    random_model,
    trained_settings,
)

from mute.cores import core_count
from mute.data.tokenizer import Tokenizer
from mute.model.folder import load_model
from mute.model.transformer import Transformer
from mute.runtime import keep_freed_memory
from mute.translate.export import export_ctranslate2

JSON = ROOT / "results" / "bench" / "decode.json"
MANY_UNITS = 4
"""Measured in every setting; other numbers of units just with a beam of 4."""
OTHER_UNITS = (2, 3, 5, 6)

Job = tuple[Setting, list[Contender]]


class Target(NamedTuple):
    """How fast one engine is to be beside another: Transformer-Base, beam 4, every text."""

    batch: int
    fast: str
    other: str
    at_least: float


TARGETS = (
    Target(BATCH, "mute float32, 1 unit", "CTranslate2 float32", 1.2),
    Target(BATCH, "mute int8, 1 unit", "CTranslate2 int8", 1.6),
    Target(BATCH, "mute int8, 4 units", "CTranslate2 int8", 1.3),
    Target(1, "mute float32, 1 unit", "CTranslate2 float32", 2.0),
    Target(1, "mute int8, 1 unit", "CTranslate2 int8", 4.0),
    Target(BATCH, "mute float32, 4 units", "mute float32, 1 unit", 0.92),
    # As the paper says: four units of Base are faster than Big.
    Target(BATCH, "mute float32, 4 units", "mute float32, 1 unit, Big", 1.0),
)


def base_jobs(
    stack: ExitStack, folder: Path, left_out: dict[str, str], *, quick: bool
) -> list[Job]:
    """The model with random weights; the stack is what ends Hugging Face's process."""
    model = random_model(1)
    everywhere = twins(model, base_tokenizer(), folder / "base")
    everywhere += several_units(MANY_UNITS)
    others: list[Contender] = []
    if quick:
        left_out["Hugging Face"] = "--quick"
    else:
        try:
            everywhere.append(stack.enter_context(hugging_face(model.config, VOCABULARY)))
        except NotInstalledError as error:
            left_out["Hugging Face"] = str(error)
            print(f"Hugging Face is left out: {error}", flush=True)
        others = [each for units in OTHER_UNITS for each in several_units(units)]
        big = random_model(1, "big")
        others += [Mute(big, compute) for compute in COMPUTES]
    return [
        (setting, everywhere + others * (setting.search.beam == 4))
        for setting in base_settings(quick=quick)
    ]


def trained_jobs(path: Path, folder: Path) -> list[Job]:
    """The trained model."""
    model, tokenizer, _ = load_model(path)
    engines = twins(model, tokenizer, folder / "trained")
    return [(setting, engines) for setting in trained_settings(tokenizer)]


def twins(model: Transformer, tokenizer: Tokenizer, folder: Path) -> list[Contender]:
    """The same weights here and there, in every arithmetic."""
    export_ctranslate2(model, tokenizer, folder)
    threads = torch.get_num_threads()
    return [
        *(Mute(model, compute) for compute in COMPUTES),
        *(CTranslate2(folder, tokenizer, compute, threads) for compute in COMPUTES),
    ]


def several_units(units: int) -> list[Contender]:
    """What only we can run."""
    model = random_model(units)
    return [Mute(model, compute) for compute in COMPUTES]


def judge(settings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every target in every setting it is about."""
    judged = []
    for target in TARGETS:
        for setting in settings:
            rows, of = setting["contenders"], (setting["model"], setting["beam"], setting["batch"])
            if of == (BASE, 4, target.batch) and target.other in rows:
                reached = ratio(rows[target.fast], rows[target.other])
                judged.append(
                    {
                        **target._asdict(),
                        "text": setting["text"],
                        "ratio": reached,
                        "reached": reached >= target.at_least,
                    }
                )
    return judged


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Everything that was asked for."""
    start, load = time.monotonic(), round(os.getloadavg()[0], 1)
    keep_freed_memory()
    torch.set_num_threads(options.threads)
    rounds = options.rounds or (2 if options.quick else 3)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        trained = trained_jobs(options.model, folder) if options.model else []
        left_out: dict[str, str] = {}
        jobs = base_jobs(stack, folder, left_out, quick=options.quick) + trained
        settings = [compare(setting, engines, rounds) for setting, engines in jobs]
    return {
        "unit": "target tokens per second",
        "machine": {
            "cores": core_count(),
            "threads": options.threads,
            "load at start": load,
            "torch": version("torch"),
            "ctranslate2": version("ctranslate2"),
            **({} if left_out else {"transformers": TRANSFORMERS}),
        },
        "left_out": left_out,
        "rounds": rounds,
        "took_s": round(time.monotonic() - start),
        "targets": judge(settings),
        "settings": settings,
    }


def main() -> None:
    """Measure and keep the result, or look at one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="a trained model of Multi30k with one unit")
    parser.add_argument("--rounds", type=int, help="how often each is measured in turn (3)")
    parser.add_argument("--threads", type=int, default=core_count())
    parser.add_argument("--quick", action="store_true", help="the main figures, in two minutes")
    parser.add_argument("--render", action="store_true", help="make decode.md from decode.json")
    options = parser.parse_args()
    if not options.render:
        measured = measure(options)
        if options.quick:
            print("\n".join(tables(measured)))
            return
        save("decode", measured)
    JSON.with_suffix(".md").write_text(render(json.loads(JSON.read_text())))


if __name__ == "__main__":
    with mistakes_told():
        main()
