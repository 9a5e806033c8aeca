"""Running a grid: some runs at a time, each in a process of its own; nothing is done twice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

import torch

from mute.config import Experiment
from mute.cores import core_count
from mute.errors import MuteError
from mute.runtime import STOPPED
from mute.studies.grid import Run, find_twin, is_trained
from mute.studies.results import write_json
from mute.train.folder import alone_in

_LOOK_EVERY = 0.2
OUTPUT = "output.txt"
"""The file of a run folder with what its processes said."""

Tell = Callable[[str], None]


@dataclass
class Outcome:
    """How the runs ended, by name."""

    finished: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """With the last that was said."""
    stopped: list[str] = field(default_factory=list)
    """Saved, and to be gone on with."""
    waiting: list[str] = field(default_factory=list)
    """Not begun, since the study was asked to stop."""


@dataclass
class _Child:
    run: Run
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    folder: Path
    slot: int
    """Which of the runs at a time it is."""


class Runner:
    """Runs what is not finished.

    Args:
        jobs: how many runs at a time; with several, each has its share of the cores and the GPUs
        tell: says what happens
    """

    def __init__(self, jobs: int, tell: Tell) -> None:
        self.jobs, self.tell = jobs, tell
        self.children: list[_Child] = []
        self.asked_to_stop = False

    def perform(self, runs: Sequence[Run]) -> Outcome:
        """Start, watch and reap until all runs have ended, or SIGINT or SIGTERM asks to stop."""
        outcome = Outcome(finished=[run.name for run in runs if run.finished()])
        queue = in_order([run for run in runs if not run.finished()])
        with self._passing_signals_on():
            while self.children or (queue and not self.asked_to_stop):
                while queue and len(self.children) < self.jobs and not self.asked_to_stop:
                    self._try_to_start(queue.pop(0), outcome)
                time.sleep(_LOOK_EVERY)
                self._reap(outcome)
        outcome.waiting = [run.name for run in queue]
        return outcome

    def _try_to_start(self, run: Run, outcome: Outcome) -> None:
        try:
            child = self._start(run)
        except MuteError as error:
            outcome.failed[run.name] = str(error)
            self.tell(f"{run.name}: failed")
            return
        self.children.append(child)
        if self.asked_to_stop:  # while it was started, and so without it
            child.process.send_signal(signal.SIGTERM)

    def _start(self, run: Run) -> _Child:
        config = _in_twins_folder(run)
        folder = Path(config.train.run)
        request = {
            "asked_by": os.getpid(),
            "config": config.model_dump(mode="json"),
            "result_file": str(run.result_file),
            "identity": {
                "study": run.study,
                "task": run.task,
                "system": run.system.name,
                "seed": run.seed,
            },
        }
        with alone_in(folder):  # the files of a run that another study is at are not ours
            write_json(request, folder / "request.json")
            (folder / OUTPUT).write_bytes(b"")
        output = (folder / OUTPUT).open("ab")
        slot = min(set(range(self.jobs)) - {child.slot for child in self.children})
        process = subprocess.Popen(  # noqa: S603 (our own words)
            [*_launcher(run.processes), "mute.studies.worker", str(folder / "request.json")],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, **self._share(run.processes, slot)},
            start_new_session=True,  # Ctrl-C is for us: a child has to be asked to save
        )
        self.tell(f"{run.name}: begun, in {folder}")
        return _Child(run, process, output, folder, slot)

    def _share(self, processes: int, slot: int) -> dict[str, str]:
        """The environment's words for one run's share of the machine."""
        if self.jobs == 1:
            return {}
        threads = max(1, core_count() // (self.jobs * processes))
        return {"OMP_NUM_THREADS": str(threads), **share_of_gpus(processes, slot, visible_gpus())}

    def _reap(self, outcome: Outcome) -> None:
        for child in [each for each in self.children if each.process.poll() is not None]:
            self.children.remove(child)
            child.output.close()
            name, status = child.run.name, child.process.returncode
            if child.run.finished():
                outcome.finished.append(name)
                self.tell(f"{name}: finished, {child.run.result_file}")
            # 0 is what torchrun makes of it; one that had not even begun dies of the signal.
            elif status in (0, STOPPED) or (self.asked_to_stop and not _complaints(child)):
                outcome.stopped.append(name)
                self.tell(f"{name}: stopped")
            else:
                outcome.failed[name] = _last_words(child)
                self.tell(f"{name}: failed")

    @contextmanager
    def _passing_signals_on(self) -> Iterator[None]:
        """On SIGINT or SIGTERM, have every child save and leave, and start no other."""

        def stop(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
            if not self.asked_to_stop:
                self.asked_to_stop = True
                for child in self.children:
                    child.process.send_signal(signal.SIGTERM)

        before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _launcher(processes: int) -> list[str]:
    if processes == 1:
        return [sys.executable, "-m"]
    torchrun = [sys.executable, "-m", "torch.distributed.run"]
    # A free port of its own: several runs at a time must not meet.
    meeting = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    return [*torchrun, "--nproc-per-node", str(processes), *meeting, "-m"]


def visible_gpus() -> list[str]:
    """As CUDA_VISIBLE_DEVICES names them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [each.strip() for each in named.split(",") if each.strip()]
    return [str(number) for number in range(torch.cuda.device_count())]


def share_of_gpus(processes: int, slot: int, gpus: Sequence[str]) -> dict[str, str]:
    """A GPU for each process of a run, others than those of the runs beside it if there are enough.

    Without it all runs would take the first ones.
    """
    if processes > len(gpus):  # none, or torchrun's processes say that they are too many
        return {}
    own = [gpus[(slot * processes + number) % len(gpus)] for number in range(processes)]
    return {"CUDA_VISIBLE_DEVICES": ",".join(own)}


def in_order(runs: Sequence[Run]) -> list[Run]:
    """As they stand, but first what has been trained elsewhere: its result costs minutes only."""
    return sorted(runs, key=lambda run: find_twin(run.config, run.processes) is None)


def _in_twins_folder(run: Run) -> Experiment:
    """The config with the run folder of a finished run that is the same, if there is one.

    Not of a run that is finished itself, and only to be scored anew.
    """
    config = run.config
    own = is_trained(run.folder, config, run.processes)
    twin = None if own else find_twin(config, run.processes)
    if twin is None:
        return config
    return config.model_copy(update={"train": config.train.model_copy(update={"run": str(twin)})})


def _last_words(child: _Child) -> str:
    """The last complaint of a process, or its last line, and how it ended."""
    status = child.process.returncode
    ended = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
    said = (_complaints(child) or _lines(child) or ["it said nothing"])[-1]
    return f"{said} ({ended}; all it said is in {child.folder / OUTPUT})"


def _complaints(child: _Child) -> list[str]:
    """What it could not do: save, for example. Of its exit status, torchrun leaves only that."""
    mark = "mute: "
    return [line.removeprefix(mark) for line in _lines(child) if line.startswith(mark)]


def _lines(child: _Child) -> list[str]:
    output = child.folder / OUTPUT
    return output.read_text(encoding="utf-8", errors="replace").strip().splitlines()


def check(outcome: Outcome, command: str) -> None:
    """Tell how a study ended, unless all is well.

    Raises:
        MuteError: some runs failed, or the study was stopped.
    """
    if outcome.failed:
        lines = [f"{name}: {message}" for name, message in outcome.failed.items()]
        raise MuteError(f"{len(lines)} of the runs failed\n" + "\n".join(lines))
    if outcome.stopped or outcome.waiting:
        left = len(outcome.stopped) + len(outcome.waiting)
        runs = "1 run" if left == 1 else f"{left} runs"
        raise MuteError(f"stopped with {runs} to go; '{command}' goes on from there")
