"""The engines whose decoding speed is compared, each behind the same call."""

import time
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, Protocol

import torch
from ct2_process import answer

from mute.data.batching import pad
from mute.data.tokenizer import Tokenizer
from mute.data.vocabulary import EOS
from mute.model.transformer import Transformer
from mute.translate.engine import Compute, Engine
from mute.translate.search import SearchOptions, beam_search

Batches = list[list[list[int]]]
"""Sentences as ids, without their ends: every engine adds these in its own way."""


class Search(NamedTuple):
    """What to search for; length never counts in the score."""

    beam: int
    steps: int | None
    """Decoder steps of every sentence, each of which gives a token; None: until it ends."""


class Run(NamedTuple):
    """What came out, and how long it took."""

    seconds: float
    outputs: list[list[int]]
    """Every token that was chosen, so with the end of a sentence that ended."""


class Contender(Protocol):
    """An engine with a model in it."""

    name: str
    compute: Compute

    def run(self, batches: Batches, search: Search) -> Run:
        """Translate one batch after the other."""


class Mute:
    """Ours; if the steps are given, the last one chooses the end."""

    def __init__(self, model: Transformer, compute: Compute) -> None:
        self.name, self.compute = _name_of(model, compute), compute
        self._engine = Engine(model, compute)

    def run(self, batches: Batches, search: Search) -> Run:
        """See `Contender.run`."""
        options = SearchOptions(search.beam, length_penalty=0.0)
        if search.steps is not None:
            words = search.steps - 1
            options = SearchOptions(search.beam, 0.0, min_length=words, max_length=words)
        outputs = []
        start = time.perf_counter()
        with torch.inference_mode():
            for batch in batches:
                source = pad([[*sentence, EOS] for sentence in batch])
                decoding = self._engine.start(source, search.beam)
                found = beam_search(decoding, source, options)
                outputs += [[*best.ids, EOS] for best, *_ in found]
        return Run(time.perf_counter() - start, outputs)


class CTranslate2:
    """The same weights, exported; if the steps are given, it never chooses the end."""

    def __init__(
        self, exported: Path, tokenizer: Tokenizer, compute: Compute, threads: int
    ) -> None:
        self.name, self.compute = ctranslate2_name(compute), compute
        settings = {"model_path": str(exported), "compute_type": compute, "intra_threads": threads}
        spawn = get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        # A daemon: it ends when we do.
        spawn.Process(target=answer, args=(theirs, settings), daemon=True).start()
        self._source = tokenizer.pieces(range(tokenizer.source_size), "source")
        target = tokenizer.pieces(range(tokenizer.target_size), "target")
        self._target_ids = {piece: number for number, piece in enumerate(target)}

    def run(self, batches: Batches, search: Search) -> Run:
        """See `Contender.run`."""
        jobs = []
        for batch in batches:
            longest = 2 * (max(map(len, batch)) + 1) + 10  # as ours, for the longest sentence
            options = {
                "beam_size": search.beam,
                "min_decoding_length": search.steps or 0,
                "max_decoding_length": search.steps or longest,
            }
            jobs.append(([[self._source[i] for i in each] for each in batch], options))
        self._pipe.send(jobs)
        seconds, pieces = self._pipe.recv()
        return Run(seconds, [[self._target_ids[piece] for piece in each] for each in pieces])


def mute_name(compute: Compute, units: int = 1) -> str:
    """What results call ours."""
    return f"mute {compute}, {units} unit{'s' * (units > 1)}"


def _name_of(model: Transformer, compute: Compute) -> str:
    name = mute_name(compute, model.config.units)
    return f"{name}, Big" if model.config.preset == "big" else name


def ctranslate2_name(compute: Compute) -> str:
    """What results call CTranslate2."""
    return f"CTranslate2 {compute}"
