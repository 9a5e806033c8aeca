"""Figures from plain numbers.

Every function returns a `Figure` that belongs to nobody else: pyplot and its global list of figures
are not used, so there is nothing to close. Colours are safe for the colour-blind: light to dark
blue, orange to purple around zero, and Okabe and Ito's for lines, which also differ in markers and,
where the colours are used up, in dashes.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, product
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from mute.analysis.captions import written
from mute.analysis.drawing import INK, figure, token_font

HIDDEN = 0.05
"""Attention below this is not shown, as in the paper's case study."""

_LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a7a7a", INK)
_MARKERS = "osD^vPX*"
IN_A_ROW = 4
"""Panels that stand side by side."""

Rows = Sequence[Sequence[float]]


def heat_maps(
    panels: Mapping[str, Rows],
    x_labels: Sequence[str],
    y_label: str,
    *,
    marks: Sequence[Sequence[Sequence[bool]]] | None = None,
    y_ticks: Sequence[str] | None = None,
    around_zero: bool = False,
) -> Figure:
    """Tables of numbers, coloured on one scale, at most four in a row.

    Args:
        panels: a table by title, rows of equal length; columns are numbered from 0
        x_labels: what the columns of each table are
        y_label: what the rows are
        marks: for each table, true where a number gets a star
        y_ticks: names of the rows; numbers from 0 if None
        around_zero: colour by sign, as differences are
    """
    tables = [np.array(rows, dtype=float) for rows in panels.values()]
    colours = _Colours(np.concatenate([table.ravel() for table in tables]), around_zero)
    columns = min(IN_A_ROW, len(tables))
    rows = -(-len(tables) // columns)
    cells = max(len(table) for table in tables), max(table.shape[1] for table in tables)
    width, height = max(0.55 * cells[1] + 0.4, 1.8), 0.38 * cells[0] + 0.8
    drawn = figure(width * columns + 0.4, height * rows)
    plots = drawn.subplots(rows, columns, squeeze=False).ravel()
    for axes in plots[len(tables) :]:
        axes.set_visible(False)
    for index, (axes, title, table) in enumerate(zip(plots, panels, tables, strict=False)):
        axes.imshow(table, cmap=colours.colours, norm=colours.scale, aspect="auto")
        for (row, column), value in np.ndenumerate(table):
            star = "*" if marks is not None and marks[index][row][column] else ""
            text, ink = f"{written(value, sign=around_zero)}{star}", colours.readable_on(value)
            axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=9)
        label_axes(axes, title, x_labels[index], y_label if index % columns == 0 else "")
        axes.set_xticks(range(table.shape[1]))
        axes.set_yticks(range(len(table)), y_ticks)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    return drawn


def lines(
    series: Mapping[str, Sequence[float]],
    xs: Sequence[float],
    x_label: str,
    y_label: str,
    *,
    levels: Mapping[str, float] | None = None,
) -> Figure:
    """Some lines over the same whole numbers, with a legend beside them.

    Args:
        series: the line's heights by its name
        xs: where they are
        x_label: what the numbers are
        y_label: what the heights are
        levels: named heights that help to read the others
    """
    drawn = figure(6.5, 3.2)
    axes = drawn.subplots()
    for name, height in (levels or {}).items():
        axes.axhline(height, color=INK, linewidth=0.8, linestyle=":")
        side = axes.get_yaxis_transform()  # at the right end, whatever the numbers are
        text = axes.text(1, height, f"{name} ", transform=side, ha="right", va="bottom")
        text.set(color=INK, fontsize=8)
    _draw(axes, series, xs)
    label_axes(axes, "", x_label, y_label)
    drawn.legend(loc="outside right upper", frameon=False, labelcolor=INK)
    return drawn


def line_panels(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    xs: Sequence[float],
    x_label: str,
    y_label: str,
) -> Figure:
    """Panels of lines with one scale and one legend, at most four in a row.

    Args:
        panels: for each title, the line's heights by its name; the names are the same in all
        xs: where the heights are
        x_label: what the numbers are
        y_label: what the heights are
    """
    columns = min(IN_A_ROW, len(panels))
    rows = -(-len(panels) // columns)
    drawn = figure(2.3 * columns + 1.2, 2.1 * rows + 0.5)
    plots = drawn.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for axes in plots.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (title, series) in zip(plots.flat, panels.items(), strict=False):
        _draw(axes, series, xs)
        label_axes(axes, title, "", "")
    drawn.supxlabel(x_label, color=INK, fontsize=10)
    drawn.supylabel(y_label, color=INK, fontsize=10)
    handles, names = plots.flat[0].get_legend_handles_labels()
    drawn.legend(handles, names, loc="outside right upper", frameon=False, labelcolor=INK)
    return drawn


def attention_figure(tokens: Sequence[str], weights: Sequence[Sequence[Rows]]) -> Figure:
    """Maps of all units side by side, a row for each layer; weights under `HIDDEN` are not shown.

    Args:
        tokens: of the sentence
        weights: by layer, unit, looking token and token looked at; an attention that all units
            share, once
    """
    layers, units = len(weights), len(weights[0])
    titles = [f"unit {unit}" for unit in range(units)] if units > 1 else ["all units"]
    side = min(0.17 * len(tokens), 7)
    letters = 0.075 * max(map(len, tokens))
    drawn = figure(side * units + letters + 1.6, (side + 0.1) * layers + letters + 0.8)
    plots = drawn.subplots(layers, units, squeeze=False, sharex=True, sharey=True)
    size = min(8.0, max(3.0, 72 * side / len(tokens) * 0.75))
    highest = max(HIDDEN, *(w for layer in weights for unit in layer for row in unit for w in row))
    for (layer, unit), axes in np.ndenumerate(plots):
        shown = np.ma.masked_less(np.array(weights[layer][unit], dtype=float), HIDDEN)
        axes.set_facecolor("white")  # also on a dark page: more attention is darker
        image = axes.imshow(shown, cmap="Blues", vmin=0, vmax=highest)
        label_axes(
            axes, titles[unit] if layer == 0 else "", "", f"layer {layer}" if unit == 0 else ""
        )
        _label_with(tokens, axes, size)
    bar = drawn.colorbar(image, ax=plots, shrink=min(1, 3 / (side * layers)), pad=0.01)
    bar.set_label("attention", color=INK)
    bar.ax.tick_params(colors=INK, labelsize=8)
    bar.outline.set_visible(False)
    return drawn


def _label_with(tokens: Sequence[str], axes: Axes, size: float) -> None:
    axes.tick_params(length=0, labelsize=size)
    axes.set_xticks(range(len(tokens)), tokens, rotation=90)
    axes.set_yticks(range(len(tokens)), tokens)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)  # a token may be a dollar sign
        label.set_fontfamily(token_font())


class _Colours:
    """A colour for each number: light to dark, or by sign."""

    def __init__(self, values: NDArray[np.float64], around_zero: bool) -> None:
        largest = max(float(np.abs(values).max()), 1e-9)
        lowest = min(0.0, float(values.min()))
        self.colours: Colormap = colormaps["PuOr" if around_zero else "Blues"]
        self.scale = Normalize(-largest if around_zero else lowest, largest)

    def readable_on(self, value: float) -> str:
        """The ink for text on a number's colour."""
        red, green, blue, _ = self.colours(self.scale(value))
        return "#ffffff" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "#000000"


def looks() -> Iterator[dict[str, Any]]:
    """How lines are drawn, one after the other: 24 that can be told apart, then the same again."""
    for dashes, (colour, marker) in cycle(
        product(("-", "--", ":"), zip(_LINES, _MARKERS, strict=True))
    ):
        yield {"color": colour, "linestyle": dashes, "marker": marker, "markersize": 4}


def _draw(axes: Axes, series: Mapping[str, Sequence[float]], xs: Sequence[float]) -> None:
    for (name, heights), look in zip(series.items(), looks(), strict=False):
        axes.plot(xs, heights, **look, label=name)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.patch.set_visible(False)
    open_frame(axes)


def open_frame(axes: Axes) -> None:
    """Lines stand on a faint grid, between two axes."""
    axes.grid(color=INK, alpha=0.12, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


def label_axes(axes: Axes, title: str, x_label: str, y_label: str) -> None:
    """Say what is seen, in the colour of everything that is not data."""
    axes.set_title(title, color=INK, fontsize=10)
    axes.set_xlabel(x_label, color=INK)
    axes.set_ylabel(y_label, color=INK)
    axes.tick_params(colors=INK, labelsize=9)
    for spine in axes.spines.values():
        spine.set_color(INK)


def from_zero(axes: Axes) -> None:
    """A half looks like a half; the highest point keeps its marker."""
    axes.set_ylim(0, 1.08 * axes.dataLim.y1)
