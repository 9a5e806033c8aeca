"""The figures and the Markdown page of results/bench/growth.json, made from that alone.

But for `WHY`: those sentences are written by hand, to be looked at again after every measurement.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, PercentFormatter, StrMethodFormatter

from mute.analysis.drawing import INK, figure, to_png
from mute.analysis.plots import from_zero, label_axes, looks, open_frame
from mute.studies.tables import grid

# The work in these sentences is the one that is counted, where all else is as in `growth.Point`.
WHY = {
    "length": (
        "Work per token is a constant and attention's share, which grows with the length: 15.4 + "
        "0.018 MFLOP per piece with one unit in training, 24.8 + 0.037 with four; so training "
        "slows down as its work grows, and the share of the peak falls too, from 25 pieces on, "
        "since attention's small products and exponentials run far below it. Translation in "
        "float32 is about as fast with 10 as with 50 pieces, and bends where the scores of a long "
        "past outweigh what a step costs anyway."
    ),
    "batch": (
        "A batch of any size pays once for reading all weights, for starting every operation and, "
        "in training, for the optimizer; speed grows while that is most of the time and bends "
        "where the products take over: half of the gain from 512 to 8,192 tokens of training is "
        "had by 2,048 with one unit, and by 1,024 with four, which do more work in as many "
        "operations; in translation by 16 sentences, in float32 as in int8, of which each gives "
        "but the 4 rows of its beam."
    ),
    "units": (
        "Each unit adds 3.3 MFLOP per token of training to the 12.5 of what is there once, decoder "
        "and output layer, so speed falls as 1 / (12.5 + 3.3 units) and from 3.8 on most work is "
        "the units'; in translation each adds 1.3 to 16.4, for the encoder works once for a "
        "sentence and the decoder once for each translation in the beam: eight units cost a "
        "quarter of the speed in float32, and in int8 about as much of that of two (the point of "
        "one unit was disturbed)."
    ),
    "layers": (
        "The output layer stays the same: 7.5 MFLOP per token of training, as much as 1.6 layers "
        "of encoder and decoder with four units and 3.6 with one, and 10 in translation, as much "
        "as 3.7 and 5.7; with fewer layers it hides them, with more the speed falls as 1 / layers, "
        "sooner in training, where the output layer counts for less."
    ),
}
"""For each axis, why its curves bend where they bend."""


class _Look(NamedTuple):
    """How an axis is drawn."""

    title: str
    training: str
    translation: str
    """What the numbers of each kind are."""
    logarithmic: bool


_PIECES = "pieces of source and of target"
_LAYERS = "layers of encoder and of decoder"
_LOOKS = {
    "length": _Look("Length of sentences", _PIECES, _PIECES, True),
    "batch": _Look("Size of a batch", "tokens of a batch", "sentences at once", True),
    "units": _Look("Units", "units of the encoder", "units of the encoder", False),
    "layers": _Look("Layers", _LAYERS, _LAYERS, True),
}
_KINDS = ("training", "translation")

Rows = list[dict[str, Any]]


def write_page(result: dict[str, Any], folder: Path) -> None:
    """Write growth.md, and growth-AXIS.png for each axis, into a folder."""
    for axis, kinds in result["axes"].items():
        (folder / f"growth-{axis}.png").write_bytes(to_png(draw(axis, kinds)))
    (folder / "growth.md").write_text(render(result))


def render(result: dict[str, Any]) -> str:
    """The whole page."""
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    origin = f"`{result['command']}` at commit {result['commit']}; {machine}."
    lines = ["# How cost grows", "", origin, "", *_introduction(result)]
    for axis, kinds in result["axes"].items():
        look = _LOOKS[axis]
        lines += ["", f"## {look.title}", "", f"![{look.title}](growth-{axis}.png)", "", WHY[axis]]
        for kind in _KINDS:
            of_values = getattr(look, kind)
            lines += ["", f"{kind.capitalize()}, by {of_values}:", "", *_table(axis, kinds[kind])]
    return "".join(f"{line}\n" for line in lines)


def _introduction(result: dict[str, Any]) -> list[str]:
    common = result["setting"]
    setting = (
        "The tiny shape of configs/multi30k: one unit is relative.yaml, several are seq.yaml. What "
        f"an axis does not vary is {common['length']} pieces, {common['layers']} + "
        f"{common['layers']} layers, {common['batch_tokens']:,} tokens in a batch of training, "
        f"{common['sentences']} sentences in one of translation, beam {common['beam']}, and a "
        f"vocabulary of {common['vocabulary']:,}."
    )
    legend = (
        "Speeds are target tokens per second; in brackets the share of the machine's peak, for "
        "which int8 is credited with the operations of float32. MFLOP are those of products of "
        "matrices, per target token. Every point was measured once, and a shared machine may be a "
        "third faster a minute later; the sentences below are about the curves of this run."
    )
    complaints = [f"Not measured: {each}." for each in result["complaints"]]
    return [setting, "", " ".join([legend, *complaints])]


def _table(axis: str, rows: Rows) -> list[str]:
    """A column for each place on the axis."""
    places = sorted({row["at"] for row in rows})
    cells = [
        [name, *(f"{row['tokens_per_second']:,.0f} ({row['share_of_peak']:.1%})" for row in line)]
        for name, line in _lines(axis, rows).items()
    ]
    once = [row for row in rows if row["compute"] == "float32"]  # int8 is credited with the same
    for name, line in _lines(axis, once).items():
        work = name.replace("float32", "MFLOP")
        cells.append([work, *(f"{row['mflop_per_token']:.1f}" for row in line)])
    return grid(["", *(f"{place:,}" for place in places)], cells).splitlines()


def _lines(axis: str, rows: Iterable[dict[str, Any]]) -> dict[str, Rows]:
    """The rows of every system and arithmetic, along the axis."""
    lines: dict[str, Rows] = {}
    for row in sorted(rows, key=lambda row: (row["compute"], axis != "units" and row["units"])):
        units = "" if axis == "units" else f"{row['units']} unit{'s' * (row['units'] > 1)}, "
        lines.setdefault(f"{units}{row['compute']}", []).append(row)
    return {name: sorted(line, key=lambda row: int(row["at"])) for name, line in lines.items()}


def draw(axis: str, kinds: Mapping[str, Rows]) -> Figure:
    """Training on the left, translation on the right; speed above, share of peak below."""
    look = _LOOKS[axis]
    drawn = figure(9.5, 5.6)
    plots = drawn.subplots(2, 2, sharex="col")
    every_line = _lines(axis, [row for kind in _KINDS for row in kinds[kind]])
    look_of = dict(zip(every_line, looks(), strict=False))
    for kind, (above, below) in zip(_KINDS, plots.T, strict=True):
        for name, line in _lines(axis, kinds[kind]).items():
            places = [row["at"] for row in line]
            for axes, value in ((above, "tokens_per_second"), (below, "share_of_peak")):
                axes.plot(places, [row[value] for row in line], label=name, **look_of[name])
        for axes in (above, below):
            _finish(axes, [row["at"] for row in kinds[kind]], logarithmic=look.logarithmic)
        first = kind == _KINDS[0]
        label_axes(above, kind, "", "target tokens per second" if first else "")
        label_axes(below, "", getattr(look, kind), "share of the machine's peak" if first else "")
        above.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        below.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    handles, labels = plots[0, 1].get_legend_handles_labels()  # training has no int8
    drawn.legend(
        handles, labels, loc="outside lower center", ncols=4, frameon=False, labelcolor=INK
    )
    return drawn


def _finish(axes: Axes, places: Iterable[int], *, logarithmic: bool) -> None:
    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
    ticks = sorted(set(places))
    axes.set_xticks(ticks, [f"{place:,}" for place in ticks])
    from_zero(axes)
    open_frame(axes)
