"""What a run tells: a live line for people, log.jsonl for programs, TensorBoard for both."""

import json
import math
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mute.files import is_terminal, say
from mute.model.fusion import LearnedOrder
from mute.model.transformer import Transformer
from mute.train.log import LOG

# What the live line has room for, by the kind of record, and how it calls it.
_LIVE = {
    "train": {"loss": "loss", "perplexity": "ppl", "tokens_per_second": "tok/s"},
    "validation": {"best_bleu": "best BLEU"},
}


class Silence:
    """What the processes that do not lead say."""

    def advance(self, step: int, tokens: int) -> None:
        """One more step is done, on so many target tokens."""

    def tell(self, sentence: str) -> None:
        """Say something to the people watching."""

    def record(self, kind: str, step: int, facts: Mapping[str, Any]) -> None:
        """Write down what was measured at a step."""

    def record_units(self, step: int, model: Transformer) -> None:
        """Show how the layers weigh and order their units."""

    def speed(self) -> float:
        """Target tokens per second since the last call or the last validation."""
        return 0.0

    def close(self) -> None:
        """Stop the live line and close the files."""


class Progress(Silence):
    """The voice of the leading process.

    A record of a step goes to log.jsonl and TensorBoard. A terminal also gets a live line, a
    file or a pipe one line per record.
    """

    def __init__(self, run: Path, step: int, steps: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.table import Column
        from torch.utils.tensorboard import SummaryWriter

        self._log = (run / LOG).open("a", encoding="utf-8")
        self._board = SummaryWriter(str(run / "tensorboard"), purge_step=step + 1)
        self._console = Console(stderr=True, emoji=False, soft_wrap=True)
        self._bar = Bar(
            TextColumn("step"),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            BarColumn(bar_width=None),  # as wide as the rest leaves it
            TextColumn("{task.fields[facts]}"),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
            console=self._console,
            expand=True,
            disable=not is_terminal(sys.stderr),
        )
        self._task = self._bar.add_task("train", completed=step, total=steps, facts="")
        self._bar.start()
        self._facts: dict[str, str] = {}
        self._started, self._tokens = time.monotonic(), 0

    def advance(self, step: int, tokens: int) -> None:
        """One more step is done."""
        self._tokens += tokens
        self._bar.update(self._task, completed=step)

    def tell(self, sentence: str) -> None:
        """Say something to the people watching."""
        if self._bar.disable:
            say(sentence)
        else:
            self._console.print(sentence, highlight=False, markup=False)

    def record(self, kind: str, step: int, facts: Mapping[str, Any]) -> None:
        """Write down what was measured at a step."""
        self._write(kind, step, facts)
        for name, value in facts.items():
            if isinstance(value, int | float):
                self._board.add_scalar(f"{kind}/{name}", value, step)
        shown = {name: _number(value) for name, value in facts.items() if isinstance(value, float)}
        named = _LIVE.get(kind, {})
        self._facts |= {named[name]: value for name, value in shown.items() if name in named}
        self._bar.update(self._task, facts=_written(self._facts))
        if shown and (kind != "train" or not is_terminal(sys.stderr)):
            self.tell(f"{kind} {step}: {_written(shown)}")
        if kind == "validation":
            self.speed()  # forget the time it took: it was no training

    def speed(self) -> float:
        """Target tokens per second since the last call or the last validation."""
        now = time.monotonic()
        speed = self._tokens / (now - self._started)
        self._started, self._tokens = now, 0
        return speed

    def record_units(self, step: int, model: Transformer) -> None:
        """Show how the layers weigh and order their units."""
        fusions = [layer.fusion for layer in model.multi_unit_layers()]
        facts: dict[str, list[Any]] = {
            "alpha": [fusion.alpha.tolist() for fusion in fusions],
            "coefficients": [fusion().tolist() for fusion in fusions],
            "penalty": [float(fusion.penalty().detach()) for fusion in fusions],
        }
        self._write("units", step, facts)
        for index, fusion in enumerate(fusions):
            if len(fusion.alpha) > 1:
                named = {f"unit {unit}": c for unit, c in enumerate(fusion().tolist())}
                self._board.add_scalars(f"units/layer {index}", named, step)
            if isinstance(fusion, LearnedOrder):
                distance = facts["penalty"][index]
                self._board.add_scalar(f"permutation/layer {index}", distance, step)

    def _write(self, kind: str, step: int, facts: Mapping[str, Any]) -> None:
        # NaN and infinity are no JSON.
        known = {name: None if _is_endless(fact) else fact for name, fact in facts.items()}
        self._log.write(json.dumps({"kind": kind, "step": step, **known}) + "\n")
        self._log.flush()

    def close(self) -> None:
        """Stop the live line and close the files."""
        self._bar.stop()
        self._log.close()
        self._board.close()


def _is_endless(fact: object) -> bool:
    return isinstance(fact, float) and not math.isfinite(fact)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10_000 else f"{value:.4g}"


def _written(facts: Mapping[str, str]) -> str:
    return " ".join(f"{name} {value}" for name, value in facts.items())
