"""One run of a study in a process of its own: train, average, score, write the result.

    python -m mute.studies.worker REQUEST.json

It goes on from whatever an earlier process left. Under torchrun, its processes train together.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from mute import experiment
from mute.config import DataConfig, Experiment, TrainConfig
from mute.data.scored import read_scored
from mute.ending import mistakes_told
from mute.errors import MuteError
from mute.evaluate.counts import count_sentences, pack
from mute.evaluate.segments import read_segments
from mute.result import (
    HYPOTHESES,
    RESULT,
    are_scored,
    by_bleu,
    hypotheses_file,
    score_tests,
)
from mute.runtime import Share
from mute.studies.grid import is_trained
from mute.studies.results import read_json, write_json
from mute.studies.variants import of_last_checkpoints, with_tuned_length
from mute.train.checkpoint import checkpoints, remove_old, step_of
from mute.train.folder import alone_in
from mute.train.log import LOG
from mute.translate.loading import load

TIME = "time.json"
"""The file of a run folder with what its training took."""


@dataclass(frozen=True)
class Request:
    """What a worker has to do."""

    config: Experiment
    result_file: Path
    identity: dict[str, Any]
    """What the result says of the run: its study, task, system and seed."""


def perform(request: Request) -> None:
    """Train or go on, and leave the result.

    Raises:
        MuteError: what training raises, or the run has gone on further than it should.
        Stopped: it was asked to stop before it was trained.
    """
    training = request.config.train
    run = Path(training.run)
    processes = Share.of_this_process().size
    if not is_trained(run, request.config, processes):
        _check_not_beyond(run, training)
        with _taking_time(run):
            experiment.train(request.config)
    if not _leads():
        return
    result = _whole_result(request, run)
    write_json(result, request.result_file)
    if _is_of_study(run):  # its average is a model folder by now
        remove_old(run / "checkpoints", keep=1, newest=result["steps"])


def _whole_result(request: Request, run: Path) -> dict[str, Any]:
    """The run's own result, and what a study adds to it."""
    result = read_json(run / RESULT)
    result["config"]["train"]["run"] = str(run)
    data, training = request.config.data, request.config.train
    if not are_scored(result["tests"], data, run / HYPOTHESES):
        result["tests"] = score_tests(load(run), data, training, run / HYPOTHESES)
    return {
        **request.identity,
        **result,
        "counts": _counts(data, run / HYPOTHESES),
        "average": of_last_checkpoints(run, data, training),
        "tuned": with_tuned_length(run, data, training, result["best"]["step"]),
        "seconds": _seconds(run),
        "threads": _threads(run),
    }


def _counts(data: DataConfig, hypotheses: Path) -> dict[str, str]:
    """What BLEU counts in every translation of the test sets: no run is needed to compare them."""
    found = {}
    for test, text in data.test.items():
        lines = read_segments(hypotheses_file(hypotheses, test))
        counts, _ = by_bleu(count_sentences, lines, read_scored(text).references, data)
        found[test] = pack(counts)
    return found


def _is_of_study(run: Path) -> bool:
    return (run / TIME).is_file()


def _check_not_beyond(run: Path, training: TrainConfig) -> None:
    done = [step_of(path) for path in checkpoints(run / "checkpoints")]
    if done and done[-1] > training.steps:
        raise MuteError(
            f"{run}: has {done[-1]} steps behind it, more than the {training.steps} asked for; "
            f"delete the folder to start anew"
        )


@contextmanager
def _taking_time(run: Path) -> Iterator[None]:
    """Add this process's time to what earlier ones took; one that was killed told its start."""
    if not _leads():
        yield
        return
    before, started, threads = _seconds_so_far(run), time.time(), torch.get_num_threads()
    write_json({"seconds": before, "since": started, "threads": threads}, run / TIME)
    try:
        yield
    finally:
        seconds = before + time.time() - started
        write_json({"seconds": seconds, "threads": threads}, run / TIME)


def _seconds_so_far(run: Path) -> float:
    file, log = run / TIME, run / LOG
    if not file.is_file():
        return 0.0
    record = read_json(file)
    if "since" not in record or not log.is_file():
        return float(record["seconds"])
    return float(record["seconds"] + max(0.0, log.stat().st_mtime - record["since"]))


def _seconds(run: Path) -> float | None:
    """What training took, validations counted; None for a run that was made by hand."""
    return round(_seconds_so_far(run), 1) if _is_of_study(run) else None


def _threads(run: Path) -> int | None:
    """That the last process of its training had; None if it was made by hand or long ago."""
    return read_json(run / TIME).get("threads") if _is_of_study(run) else None


def _leads() -> bool:
    return Share.of_this_process().leads


def _stop_with(study: int) -> None:
    """Save and leave when the study's process is gone: nobody would take up the result."""

    def watch() -> None:
        while _is_alive(study):
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def _is_alive(process: int) -> bool:
    # Not whether it is our parent: under torchrun, that is torchrun, which outlives it.
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def main(file: str) -> None:
    """Do what a request file says."""
    content = read_json(Path(file))
    request = Request(
        Experiment.model_validate(content["config"]),
        Path(content["result_file"]),
        content["identity"],
    )
    _stop_with(content["asked_by"])
    # The others train under the leading process's lock, which holds while it scores, too.
    lock = alone_in(Path(request.config.train.run)) if _leads() else nullcontext()
    with mistakes_told(), lock:
        perform(request)


if __name__ == "__main__":
    main(sys.argv[1])
