"""CTranslate2 in a process of its own: its threads and PyTorch's would get in each other's way."""

import time
from multiprocessing.connection import Connection
from typing import Any

import ctranslate2

from mute.runtime import keep_freed_memory


def answer(pipe: Connection, settings: dict[str, Any]) -> None:
    """Translate what comes through the pipe: batches in pieces, and options for each.

    Answers the seconds it took, and the best translations in pieces.
    """
    keep_freed_memory()  # as all others do
    translator = ctranslate2.Translator(device="cpu", inter_threads=1, **settings)
    while True:
        try:
            jobs = pipe.recv()
        except EOFError:  # nobody will ask any more
            return
        start = time.perf_counter()
        results = [each for batch, options in jobs for each in _run(translator, batch, options)]
        seconds = time.perf_counter() - start
        pipe.send((seconds, [result.hypotheses[0] for result in results]))


def _run(translator: Any, batch: list[list[str]], options: dict[str, Any]) -> list[Any]:
    results: list[Any] = translator.translate_batch(
        batch,  # it puts the ends behind the sentences itself
        length_penalty=0,
        max_batch_size=0,  # not split
        max_input_length=0,  # nothing cut
        return_end_token=True,
        **options,
    )
    return results
