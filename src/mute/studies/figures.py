"""The figures of a study as PNG, from its results' files alone. They need the extra `plots`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mute.studies.definitions import Study
from mute.studies.grid import batches_per_step, read_results, results_folder
from mute.studies.summary import Row, Spread, Summary, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EARLY = 1 / 3
"""The share of a run in which scores rise so fast that all systems look alike."""
_SPAN = 6.0
"""BLEU below the best at which a curve's figure ends: differences of a point are to be seen."""

_MOST_NAMED_INSIDE = 8

Points = Mapping[float, Spread]
Drawn = dict[str, tuple["Figure", str]]
"""By file name: a figure and its caption."""


@dataclass(frozen=True)
class Panel:
    """Lines over one another."""

    x_label: str
    y_label: str
    lines: Mapping[str, Points]
    """By name."""
    every_x_named: bool = False
    from_zero: bool = False
    """Whether the height of a point is to show its value, not only its distance from others."""
    span: float | None = None
    """How far below the highest point it reaches at the most."""

    @property
    def is_crowded(self) -> bool:
        """Whether their names would hide the lines."""
        return len(self.lines) > _MOST_NAMED_INSIDE


def can_draw() -> bool:
    """Whether matplotlib is there."""
    return find_spec("matplotlib") is not None


def write_figures(study: Study, summary: Summary) -> dict[str, str]:
    """Draw all figures of a study beside its tables; returns their captions by file name."""
    from mute.analysis.drawing import to_png

    results = read_results(study, summary.task)
    folder = results_folder(study.name, summary.task)
    captions = {}
    for name in study.figures:
        for file, (drawn, caption) in FIGURES[name](summary, results).items():
            (folder / file).write_bytes(to_png(drawn))
            captions[file] = f"{caption} Task: {summary.task}.{_reservations(summary)}"
    return captions


def _reservations(summary: Summary) -> str:
    """What a reader cannot see in a figure: that runs are missing, or that there is one of each."""
    single = all(len(row.seeds) <= 1 for row in summary.rows)
    missing = f" Not run yet: {'; '.join(summary.missing)}." if summary.missing else ""
    return (" One seed." if single else "") + missing


def curves(summary: Summary, results: Mapping[str, list[dict[str, Any]]]) -> Drawn:
    """How BLEU on the development set rises, a line for each system."""
    lines = {}
    for row in summary.rows:
        by_tokens: dict[float, list[float]] = defaultdict(list)
        for result in results.get(row.system or "", []):
            tokens = result["config"]["train"]["batch_tokens"]
            per_step = tokens * batches_per_step(result) / 1e6
            for point in result["curve"]:
                by_tokens[point["step"] * per_step].append(point["bleu"])
        if by_tokens:
            late = {x: each for x, each in by_tokens.items() if x > _EARLY * max(by_tokens)}
            lines[row.label] = {x: known for x in sorted(late) if (known := spread(late[x]))}
    caption = (
        "BLEU on the development set after each validation but those of a run's first third, and "
        f"at most {_SPAN:g} below the best, mean and standard deviation over the seeds, against "
        "what was trained on: steps times batches per step times tokens per batch."
    )
    panel = Panel("million tokens", "BLEU, dev", lines, span=_SPAN)
    return {"curves.png": (_draw([panel]), caption)}


def units(summary: Summary, results: Mapping[str, list[dict[str, Any]]]) -> Drawn:
    """BLEU and translation speed by the number of units, as the paper's Figure 2."""
    rows = {_setting(results, row, "units"): row for row in summary.rows if row.system}
    panels = [Panel("units", "BLEU", _by_set(summary, rows), every_x_named=True)]
    speeds = {
        count: Spread(row.measured["tokens/s"], None)
        for count, row in rows.items()
        if "tokens/s" in row.measured
    }
    shown = "BLEU"
    if speeds:
        lines = {"beam 4, batches of 30": speeds}
        panels.append(Panel("units", "target tokens/s", lines, every_x_named=True, from_zero=True))
        shown = "BLEU and translation speed"
    caption = f"{shown} by the number of units in each encoder layer (Figure 2 of the paper)."
    return {"units.png": (_draw(panels), caption)}


def sample_rate(summary: Summary, results: Mapping[str, list[dict[str, Any]]]) -> Drawn:
    """BLEU on the development set by the sample rate, as the paper's Figure 4."""
    lines: dict[str, dict[float, Spread]] = defaultdict(dict)
    for row in summary.rows:
        if row.system and row.dev:
            lines[row.label.rpartition(", ")[0]][_setting(results, row, "sample_rate")] = row.dev
    caption = "BLEU on the development set by how often the bias acts (Figure 4 of the paper)."
    panel = Panel("sample rate", "BLEU, dev", lines, every_x_named=True)
    return {"sample-rate.png": (_draw([panel]), caption)}


def weights(summary: Summary, results: Mapping[str, list[dict[str, Any]]]) -> Drawn:
    """The weight of every unit and layer, as the paper's Figure 3: learned, and effective."""
    from mute.analysis.plots import heat_maps

    captions = {
        "alpha": "The learned weights alpha, of the first seed (Figure 3 of the paper). In the "
        "sequential form they belong to places in the order, not to units.",
        "coefficients": "How much each unit counts in the end, of the first seed: c = M w in the "
        "sequential form, alpha itself in the others." + _noise(results),
    }
    firsts = {
        row.label: first["units"]["encoder"]
        for row in summary.rows
        for first in results.get(row.system or "", [])[:1]
        if "encoder" in first.get("units", {})
    }
    drawn: Drawn = {}
    for kind, caption in captions.items() if firsts else ():
        panels = {label: [layer[kind] for layer in layers] for label, layers in firsts.items()}
        by_place = [kind == "alpha" and "matrix" in layers[0] for layers in firsts.values()]
        x_labels = ["place" if each else "unit" for each in by_place]
        drawn[f"{kind}.png"] = (heat_maps(panels, x_labels, "encoder layer"), caption)
    return drawn


def _noise(results: Mapping[str, list[dict[str, Any]]]) -> str:
    """What the units saw their input through, if all systems that have noise have the same."""
    from mute.analysis.captions import of_bias

    kinds = {
        tuple(each["config"]["model"].get("bias", ()))
        for of in results.values()
        for each in of
        if "encoder" in each.get("units", {})
    }
    biased = kinds - {()}
    if len(biased) != 1:
        return ""
    return of_bias(biased.pop()) + (" Systems without bias had none." if () in kinds else "")


def _setting(results: Mapping[str, list[dict[str, Any]]], row: Row, key: str) -> float:
    return float(results[row.system or ""][0]["config"]["model"][key])


def _by_set(summary: Summary, rows: Mapping[float, Row]) -> dict[str, Points]:
    """BLEU on dev and every test set, by some number."""
    lines: dict[str, Points] = {"dev": {x: row.dev for x, row in rows.items() if row.dev}}
    for test in summary.tests:
        lines[test] = {x: row.tests[test] for x, row in rows.items() if test in row.tests}
    return lines


def _draw(panels: Sequence[Panel]) -> Figure:
    """Panels side by side."""
    from mute.analysis.drawing import figure

    wide = len(panels) > 1 or panels[0].is_crowded
    drawn = figure(9.5 if wide else 6.5, 3.4)
    for axes, panel in zip(drawn.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw_panel(axes, panel)
    return drawn


def _draw_panel(axes: Axes, panel: Panel) -> None:
    from mute.analysis.plots import looks

    every = [x for points in panel.lines.values() for x in points]
    spreading = [name for name, points in panel.lines.items() if _spreads(points)]
    for (name, points), look in zip(panel.lines.items(), looks(), strict=False):
        # Beside one another, so that no line's spread hides another's.
        place = spreading.index(name) - (len(spreading) - 1) / 2 if name in spreading else 0
        aside = place * (max(every) - min(every)) / 150
        means = [point.mean for point in points.values()]
        deviations = [point.deviation or 0.0 for point in points.values()]
        axes.errorbar(
            [x + aside for x in points],
            means,
            deviations if any(deviations) else None,
            **look,
            label=name,
            capsize=2,
            elinewidth=0.9,
        )
    if panel.every_x_named:
        axes.set_xticks(sorted({x for points in panel.lines.values() for x in points}))
    if panel.from_zero:
        axes.set_ylim(0, 1.1 * axes.dataLim.y1)
    if panel.span is not None:
        axes.set_ylim(bottom=max(axes.get_ylim()[0], axes.dataLim.y1 - panel.span))
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.grid(alpha=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    if panel.lines:
        named = axes.legend(frameon=False, fontsize=8)
        if panel.is_crowded:
            named.set_loc("upper left")
            named.set_bbox_to_anchor((1, 1), axes.transAxes)


def _spreads(points: Points) -> bool:
    return any(point.deviation for point in points.values())


FIGURES: dict[str, Callable[[Summary, Mapping[str, list[dict[str, Any]]]], Drawn]] = {
    "curves": curves,
    "sample_rate": sample_rate,
    "units": units,
    "weights": weights,
}


def attention_figures(
    maps: Mapping[str, tuple[list[str], list[list[list[list[float]]]]]], folder: Path
) -> None:
    """The attention of all units and layers to a sentence, a file for each system.

    Args:
        maps: by system: the tokens, and weights by layer, unit, looking token, token looked at
        folder: where they go
    """
    from mute.analysis.drawing import to_png
    from mute.analysis.plots import attention_figure

    folder.mkdir(parents=True, exist_ok=True)
    for system, (tokens, by_layer) in maps.items():
        titles = [f"unit {unit}" for unit in range(len(by_layer[0]))]
        drawn = attention_figure(tokens, by_layer, titles)
        (folder / f"attention-{system}.png").write_bytes(to_png(drawn))
