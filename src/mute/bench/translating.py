"""The speed of translation, by the engine and the search that `mute translate` uses."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mute.bench.material import Material
from mute.bench.stopwatch import Stopwatch
from mute.bench.work import Speed, count_work, speed
from mute.errors import MuteError
from mute.model.transformer import Transformer
from mute.translate.decoding import Decoding
from mute.translate.engine import Compute, Engine
from mute.translate.search import SearchOptions, beam_search

PARTS = ("encoder", "decoder", "search")
BEAM = 4
BATCHES = (30, 1)
"""Sentences at once, if nothing else is asked for."""
_ROUNDS = 3


@dataclass(frozen=True)
class TranslationSpeed:
    """What it took to translate one batch."""

    compute: Compute
    sentences: int
    beam: int
    source_length: int
    target_length: int
    """Pieces of each sentence, the end not counted: every translation is made so long."""
    speed: Speed
    """int8 counts the operations that float32 would need."""
    seconds: float
    seconds_by_part: dict[str, float]


def measure_translation(
    model: Transformer, material: Material, peak: float, batches: Sequence[int] = BATCHES
) -> tuple[list[TranslationSpeed], list[str]]:
    """Translate random sentences of the data's mean length, in batches of several sizes.

    Args:
        model: to translate with; its weights are frozen
        material: what the sentences are like
        peak: of the machine, in GFLOP/s
        batches: how many sentences at once

    Returns:
        what was measured, and a sentence about each arithmetic that this machine does not have
    """
    model.requires_grad_(False)  # a hook of the counter stumbles over weights that could learn
    engines, complaints = _engines(model, material.device)
    source_length, target_length = material.mean_lengths
    measured = []
    for sentences in batches:
        source = material.random_source(sentences, source_length)
        options = SearchOptions(BEAM, min_length=target_length, max_length=target_length)
        work = count_work(_translate, engines["float32"], source, options)
        for compute, engine in engines.items():
            seconds = _time(engine, source, options)
            whole = sum(seconds.values())
            measured.append(
                TranslationSpeed(
                    compute,
                    sentences,
                    BEAM,
                    source_length,
                    target_length,
                    speed(sentences * target_length, work, whole, peak),
                    whole,
                    seconds,
                )
            )
    return measured, complaints


def _engines(model: Transformer, device: torch.device) -> tuple[dict[Compute, Engine], list[str]]:
    engines: dict[Compute, Engine] = {"float32": Engine(model)}
    if device.type != "cpu":
        return engines, ["int8 is for CPUs only"]
    try:
        engines["int8"] = Engine(model, "int8")
    except MuteError as error:
        return engines, [str(error)]
    return engines, []


def _time(engine: Engine, source: Tensor, options: SearchOptions) -> dict[str, float]:
    """Mean seconds of each part."""
    _translate(engine, source, options)  # warm
    watch = Stopwatch(source.device, rest="search")
    with watch.watching(engine.model.encoder, "encoder"):
        watch.restart()
        for _ in range(_ROUNDS):
            _translate(engine, source, options, watch)
        seconds = watch.read()
    return {part: seconds[part] / _ROUNDS for part in PARTS}


@torch.inference_mode()
def _translate(
    engine: Engine, source: Tensor, options: SearchOptions, watch: Stopwatch | None = None
) -> None:
    watch = watch or Stopwatch(source.device, rest="search")
    with watch.part("decoder"):  # it makes the keys and values of the encoder's output
        decoding = engine.start(source, options.beam)
    beam_search(_TimedDecoding(decoding, watch), source, options)


class _TimedDecoding:
    """A decoding whose steps are the decoder's time; the choice between them is the search's."""

    def __init__(self, inner: Decoding, watch: Stopwatch) -> None:
        self.inner, self.watch = inner, watch
        self.select, self.keep = inner.select, inner.keep

    def step(self, words: Tensor) -> Tensor:
        """See `Decoding.step`."""
        with self.watch.part("decoder"):
            return self.inner.step(words)
