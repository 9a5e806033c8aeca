"""The figures of a study as PNG, from its results' files alone. They need the extra `plots`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mute.studies.definitions import Study
from mute.studies.results import batches_per_step, read_results, results_folder
from mute.studies.summary import Row, Spread, Summary, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EARLY = 1 / 3
"""The share of a run in which scores rise so fast that all systems look alike."""
_SPAN = 6.0
"""BLEU below the best at which curves begin: differences of a point are to be seen."""
_LEAST_POINTS = 3
"""Of a line that is a curve."""
_LEAST_SPAN = 2.0
"""BLEU that a figure of few points shows at least: tenths are not to look like cliffs."""
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
    title: str = ""
    every_x_named: bool = False
    from_zero: bool = False
    """Whether the height of a point is to show its value, not only its distance from others."""
    least_span: float = 0.0
    """How much of the vertical axis is shown at least."""

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
            captions[file] = f"{caption} Task: {summary.task}.{_seeds(summary)}"
    return captions


def _seeds(summary: Summary) -> str:
    """What cannot be seen in a figure: which lines are single runs."""
    trained = [row for row in summary.rows if row.system]
    several = [row.label for row in trained if len(row.seeds) > 1]
    single = [row.label for row in trained if len(row.seeds) <= 1]
    if not several:
        return " One seed."
    if not single:
        return ""
    if len(single) <= len(several):
        return f" One seed: {'; '.join(single)}."
    return f" One seed, but for {'; '.join(several)}."


def curves(summary: Summary, results: Mapping[str, list[dict[str, Any]]]) -> Drawn:
    """How BLEU on the development set rises, a line for each system, beside its baseline's."""
    known = [(row, _curve(results.get(row.system or "", []))) for row in summary.rows]
    best = max((point.mean for _, line in known for point in line.values()), default=0.0)
    groups: dict[str, dict[str, Points]] = defaultdict(dict)
    for row, line in known:
        near = {x: point for x, point in line.items() if point.mean >= best - _SPAN}
        if len(near) >= _LEAST_POINTS:
            groups[row.baseline][row.label] = near
    if not groups:
        return {}
    panels = []
    for group in groups.values():
        title, names = _title_and_names(list(group))
        lines = dict(zip(names, group.values(), strict=True))
        panels.append(Panel("million tokens", "BLEU, dev", lines, title))
    caption = (
        "BLEU on the development set at the validations of a run's last two thirds, from "
        f"{_SPAN:g} below the best on; mean and standard deviation over the seeds, lines a little "
        "beside one another. Million tokens: steps times batches per step times tokens per batch."
    )
    return {"curves.png": (_draw(panels), caption)}


def _curve(results: Sequence[dict[str, Any]]) -> Points:
    """The scores of a system's validations, but for the first ones, by million tokens."""
    by_tokens: dict[float, list[float]] = defaultdict(list)
    for result in results:
        tokens = result["config"]["train"]["batch_tokens"]
        per_step = tokens * batches_per_step(result) / 1e6
        for point in result["curve"]:
            by_tokens[point["step"] * per_step].append(point["bleu"])
    late = (x for x in sorted(by_tokens) if x > _EARLY * max(by_tokens))
    return {x: known for x in late if (known := spread(by_tokens[x]))}


def _title_and_names(labels: Sequence[str]) -> tuple[str, list[str]]:
    """What labels such as 'MUTE, dropout 0.3' have in common, and what is left of each."""
    parts = [label.split(", ") for label in labels]
    common = [part for part in parts[0] if all(part in other for other in parts)]
    rest = [", ".join(part for part in each if part not in common) for each in parts]
    if len(labels) == 1 or not all(rest):
        return "", list(labels)
    return ", ".join(common), rest


def units(summary: Summary, results: Mapping[str, list[dict[str, Any]]]) -> Drawn:
    """BLEU and translation speed by the number of units, as the paper's Figure 2."""
    rows = {_setting(results, row, "units"): row for row in summary.rows if row.system}
    scores = {"": {count: row.dev for count, row in rows.items() if row.dev}}
    panels = [Panel("units", "BLEU, dev", scores, every_x_named=True, least_span=_LEAST_SPAN)]
    speeds = {
        count: Spread(row.measured["tokens/s"], None)
        for count, row in rows.items()
        if "tokens/s" in row.measured
    }
    shown = "BLEU on the development set"
    if speeds:
        label = "target tokens/s, beam 4, batch 30"
        panels.append(Panel("units", label, {"": speeds}, every_x_named=True, from_zero=True))
        shown += " and translation speed"
    caption = f"{shown} by the number of units in each encoder layer (Figure 2 of the paper)."
    return {"units.png": (_draw(panels), caption)}


def sample_rate(summary: Summary, results: Mapping[str, list[dict[str, Any]]]) -> Drawn:
    """BLEU on the development set by the sample rate, as the paper's Figure 4."""
    lines: dict[str, dict[float, Spread]] = defaultdict(dict)
    for row in summary.rows:
        if row.system and row.dev:
            lines[row.label.rpartition(", ")[0]][_setting(results, row, "sample_rate")] = row.dev
    caption = "BLEU on the development set by how often the bias acts (Figure 4 of the paper)."
    panel = Panel("sample rate", "BLEU, dev", lines, every_x_named=True, least_span=_LEAST_SPAN)
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
    from mute.analysis.captions import bias_of_units, of_bias

    models = [
        each["config"]["model"]
        for of in results.values()
        for each in of
        if "encoder" in each.get("units", {})
    ]
    kinds = {tuple(bias_of_units(model.get("bias", ()), model["units"])) for model in models}
    biased = kinds - {()}
    if len(biased) != 1:
        return ""
    return of_bias(biased.pop()) + (" Systems without bias had none." if () in kinds else "")


def _setting(results: Mapping[str, list[dict[str, Any]]], row: Row, key: str) -> float:
    return float(results[row.system or ""][0]["config"]["model"][key])


def _draw(panels: Sequence[Panel]) -> Figure:
    """Panels side by side, a few in a row; more than two have one vertical axis."""
    from mute.analysis.drawing import figure
    from mute.analysis.plots import IN_A_ROW

    many = len(panels) > 2
    columns = min(IN_A_ROW, len(panels)) or 1
    rows = -(-len(panels) // columns) or 1
    wide = len(panels) > 1 or any(panel.is_crowded for panel in panels)
    drawn = figure(3.2 * columns if many else 9.5 if wide else 6.5, 3.0 * rows if many else 3.4)
    plots = drawn.subplots(rows, columns, squeeze=False, sharey=many)
    for axes in plots.flat[len(panels) :]:
        axes.set_visible(False)
    for index, (axes, panel) in enumerate(zip(plots.flat, panels, strict=False)):
        _draw_panel(axes, panel, named=not many or index % columns == 0)
    return drawn


def _draw_panel(axes: Axes, panel: Panel, *, named: bool) -> None:
    """Draw the lines; `named` is whether the vertical axis has a name of its own."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    from mute.analysis.plots import from_zero, label_axes, looks, open_frame

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
        axes.set_xticks(sorted(set(every)))
    if panel.from_zero:
        from_zero(axes)
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    low, high = axes.get_ylim()
    if high - low < panel.least_span:
        middle = (low + high) / 2
        axes.set_ylim(middle - panel.least_span / 2, middle + panel.least_span / 2)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    label_axes(axes, panel.title, panel.x_label, panel.y_label if named else "")
    open_frame(axes)
    if any(panel.lines):  # a line alone may have no name
        legend = axes.legend(frameon=False, fontsize=8)
        if panel.is_crowded:
            legend.set_loc("upper left")
            legend.set_bbox_to_anchor((1, 1), axes.transAxes)


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
        drawn = attention_figure(tokens, by_layer)
        (folder / f"attention-{system}.png").write_bytes(to_png(drawn))
