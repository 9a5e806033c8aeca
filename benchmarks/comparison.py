"""Engines that do the same work in turn, and what is measured of it."""

import statistics
from collections.abc import Sequence
from typing import Any, NamedTuple

from contenders import Batches, Contender, Search, ctranslate2_name, mute_name

from mute.translate.engine import Compute

COMPUTES: tuple[Compute, ...] = ("float32", "int8")


class Setting(NamedTuple):
    """The work."""

    model: str
    text: str
    batches: Batches
    search: Search

    @property
    def description(self) -> dict[str, Any]:
        """All but the sentences themselves."""
        return {
            "model": self.model,
            "text": self.text,
            "batch": len(self.batches[0]),
            "beam": self.search.beam,
            "sentences": sum(map(len, self.batches)),
        }


def compare(setting: Setting, contenders: Sequence[Contender], rounds: int) -> dict[str, Any]:
    """Let every engine run once in turn, and so for some rounds.

    Returns:
        the setting; of each engine the tokens, the seconds, and the speed, also as a ratio to
        CTranslate2's; and the share of identical translations, where length is free
    """
    print(setting.description, flush=True)
    for each in contenders:  # unmeasured; of batches by length the last is the longest
        each.run(setting.batches[-1:], setting.search)
    seconds: dict[str, list[float]] = {each.name: [] for each in contenders}
    outputs: dict[str, list[list[int]]] = {}
    for _ in range(rounds):
        for each in contenders:
            run = each.run(setting.batches, setting.search)
            _check(each.name, setting, run.outputs)
            seconds[each.name].append(run.seconds)
            outputs[each.name] = run.outputs
    rows = {each.name: _row(seconds[each.name], outputs[each.name]) for each in contenders}
    for each in contenders:
        row, other = rows[each.name], rows[ctranslate2_name(each.compute)]
        row["to_ctranslate2"] = ratio(row, other)
        print(f"  {each.name}: {row['tokens_per_second']:.0f} tokens/s", flush=True)
    measured: dict[str, Any] = {**setting.description, "contenders": rows}
    if setting.search.steps is None:
        measured["identical"] = {compute: _identical(outputs, compute) for compute in COMPUTES}
    return measured


def ratio(one: dict[str, Any], other: dict[str, Any]) -> float:
    """How many times as fast one row is as another."""
    times: float = one["tokens_per_second"] / other["tokens_per_second"]
    return round(times, 3)


def _check(name: str, setting: Setting, outputs: list[list[int]]) -> None:
    """All sentences came out, with as many tokens as were asked for."""
    sentences, steps = sum(map(len, setting.batches)), setting.search.steps
    lengths = {len(output) for output in outputs}
    if len(outputs) != sentences or (steps is not None and lengths != {steps}):
        raise SystemExit(
            f"{name}: {len(outputs)} translations with {sorted(lengths)} tokens, but {sentences} "
            f"with {steps} were asked for: these speeds cannot be compared"
        )


def _row(seconds: list[float], outputs: list[list[int]]) -> dict[str, Any]:
    tokens, median = sum(map(len, outputs)), statistics.median(seconds)
    return {
        "tokens": tokens,
        "seconds": [round(each, 4) for each in seconds],
        "median_s": round(median, 4),
        "tokens_per_second": round(tokens / median, 1),
    }


def _identical(outputs: dict[str, list[list[int]]], compute: Compute) -> float:
    """The share of sentences that we and CTranslate2 translate alike."""
    pairs = zip(outputs[mute_name(compute)], outputs[ctranslate2_name(compute)], strict=True)
    return round(
        sum(ours == theirs for ours, theirs in pairs) / len(outputs[mute_name(compute)]), 3
    )
