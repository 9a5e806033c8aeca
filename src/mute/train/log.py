"""The log of a run, `log.jsonl`: a record in every line, each of a kind and of a step."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mute.errors import MuteError
from mute.files import write_whole
from mute.train.checkpoint import TrainState

LOG = "log.jsonl"
OF_VALIDATION = ("validation", "units")
"""The kinds of records that a validation leaves."""
Record = dict[str, Any]


def read_log(run: Path) -> list[Record]:
    """The records of a run, in order; a last line that a killed process did not finish is none.

    Raises:
        MuteError: a line is damaged.
    """
    path = run / LOG
    *lines, _ = path.read_text(encoding="utf-8", errors="replace").split("\n")
    records: list[Record] = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            int(record["step"]), str(record["kind"])
        except (ValueError, KeyError, TypeError):
            raise MuteError(
                f"{path}:{number}: not a record of a training run; delete that line, and the rest "
                f"can be read"
            ) from None
        records.append(record)
    return records


def best_step(records: Iterable[Record]) -> int:
    """The step of the best validation, of equals the last: that of the model that is kept.

    0 if there is none.
    """
    scores = ((each["bleu"], each["step"]) for each in records if each["kind"] == "validation")
    _, step = max(scores, default=(0.0, 0))
    return int(step)


def forget_after(run: Path, state: TrainState) -> None:
    """Drop the records of steps and of validations that a resumed run is about to repeat.

    Raises:
        MuteError: a line of the log is damaged.
    """
    if not (run / LOG).is_file():
        return
    kept = [
        json.dumps(record) + "\n"
        for record in read_log(run)
        if record["step"]
        <= (state.validated_step if record["kind"] in OF_VALIDATION else state.step)
    ]
    write_whole("".join(kept), run / LOG)
