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
from mute.config import Config, DataConfig, TrainConfig
from mute.data.prepared import load_prepared
from mute.errors import MuteError, Stopped
from mute.model.folder import load_model, max_length_of, save_model
from mute.result import HYPOTHESES, hypotheses_file, score_tests, translate_and_score
from mute.runtime import status_when_stopped
from mute.studies.grid import read_json, same_run, write_json
from mute.train.average import average_checkpoints
from mute.train.checkpoint import checkpoints, remove_old
from mute.train.folder import alone_in
from mute.translate.translator import Translator, load

LAST = 5
"""Checkpoints that are averaged, as in the paper."""


@dataclass(frozen=True)
class Request:
    """What a worker has to do."""

    config: Config
    result_file: Path
    identity: dict[str, Any]
    """What the result says of the run: its study, task, system and seed."""


def perform(request: Request) -> None:
    """Train or go on, and leave the result.

    Raises:
        MuteError: what training raises, or the run has gone on further than it should.
        Stopped: it was asked to stop before it was trained.
    """
    _, training = experiment.sections(request.config)
    run = Path(training.run)
    if not _is_trained(run, request.config):
        _check_not_beyond(run, training)
        with _taking_time(run):
            experiment.train(request.config)
    if not _leads():
        return
    write_json(_whole_result(request, run), request.result_file)
    if _is_of_study(run):  # its average is a model folder by now
        remove_old(run / "checkpoints", keep=1)


def _whole_result(request: Request, run: Path) -> dict[str, Any]:
    """The run's own result, and what a study adds to it."""
    result = read_json(run / "result.json")
    result["config"]["train"]["run"] = str(run)
    data, training = experiment.sections(request.config)
    if not all(hypotheses_file(run / HYPOTHESES, test).is_file() for test in data.test):
        result["tests"] = score_tests(load(run), data, training, run / HYPOTHESES)
    return {
        **request.identity,
        **result,
        "average": _average(run, data, training),
        "seconds": _seconds(run),
        "threads": torch.get_num_threads(),
    }


def _average(run: Path, data: DataConfig, training: TrainConfig) -> dict[str, Any]:
    """The scores of the last checkpoints' average, which becomes a model folder beside the best."""
    folder, record = run / f"average-{LAST}", run / f"average-{LAST}.json"
    saved = checkpoints(run / "checkpoints")[-LAST:]
    known = read_json(record) if record.is_file() else {}
    if known.get("last") != saved[-1].name:
        model, tokenizer = load_model(run)
        weights = average_checkpoints(run, len(saved))
        save_model(folder, model.config, weights, tokenizer, max_length_of(run))
        known = {"checkpoints": len(saved), "last": saved[-1].name}
    tests = data.model_dump(mode="json")["test"]
    if known.get("of") != tests:  # which may change when training is done
        found = scores(load(folder), data, training, folder / HYPOTHESES)
        known = {**known, **found, "of": tests}
        write_json(known, record)
    return {key: value for key, value in known.items() if key != "of"}


def scores(
    translator: Translator, data: DataConfig, training: TrainConfig, folder: Path
) -> dict[str, Any]:
    """BLEU on the development set and the test sets, whose translations go to `folder`."""
    return {
        "dev_bleu": dev_bleu(translator, data, training),
        "tests": score_tests(translator, data, training, folder),
    }


def dev_bleu(translator: Translator, data: DataConfig, training: TrainConfig) -> float:
    """BLEU on the development set, as validation computes it."""
    prepared = load_prepared(data)
    source, references = prepared.dev_text["source"], prepared.dev_references
    _, score = translate_and_score(translator, source, references, data, training)
    return score.value


def _is_trained(run: Path, config: Config) -> bool:
    file = run / "result.json"
    return file.is_file() and same_run(read_json(file), config)


def _is_of_study(run: Path) -> bool:
    return (run / "time.json").is_file()


def _check_not_beyond(run: Path, training: TrainConfig) -> None:
    done = [int(path.name.removeprefix("step-")) for path in checkpoints(run / "checkpoints")]
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
    before, started = _seconds_so_far(run), time.time()
    write_json({"seconds": before, "since": started}, run / "time.json")
    try:
        yield
    finally:
        write_json({"seconds": before + time.time() - started}, run / "time.json")


def _seconds_so_far(run: Path) -> float:
    file, log = run / "time.json", run / "log.jsonl"
    if not file.is_file():
        return 0.0
    record = read_json(file)
    if "since" not in record or not log.is_file():
        return float(record["seconds"])
    return float(record["seconds"] + max(0.0, log.stat().st_mtime - record["since"]))


def _seconds(run: Path) -> float | None:
    """What training took, validations counted; None for a run that was made by hand."""
    return round(_seconds_so_far(run), 1) if _is_of_study(run) else None


def _leads() -> bool:
    return int(os.environ.get("RANK", "0")) == 0


def _stop_with_parent() -> None:
    """Save and leave when the study's process is gone: nobody would take up the result."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def main(file: str) -> int:
    """Do what a request file says; the exit status tells how it ended."""
    content = read_json(Path(file))
    request = Request(
        Config.model_validate(content["config"]), Path(content["result_file"]), content["identity"]
    )
    _stop_with_parent()
    _, training = experiment.sections(request.config)
    # The others train under the leading process's lock, which holds while it scores, too.
    lock = alone_in(Path(training.run)) if _leads() else nullcontext()
    try:
        with lock:
            perform(request)
    except Stopped:
        return status_when_stopped()
    except MuteError as error:
        sys.stderr.write(f"mute: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
