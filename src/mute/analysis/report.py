"""The analyses of a model as a folder: a page, its figures and its numbers."""

import html
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from string import Template
from tempfile import TemporaryFile

from matplotlib.figure import Figure

from mute import __version__
from mute.analysis import captions
from mute.analysis.analysis import Analysis, Stack
from mute.analysis.diversity import PARTS, Diversity
from mute.analysis.drawing import to_png, to_svg
from mute.analysis.maps import AttentionMaps
from mute.analysis.muting import Muting
from mute.analysis.plots import HIDDEN, attention_figure, heat_maps, line_panels, lines
from mute.errors import refusals_told

PAGE, NUMBERS = "index.html", "analysis.json"


@dataclass(frozen=True)
class Section:
    """A part of the page: words, and a figure unless there is nothing to show."""

    name: str
    """Of its files, and in the page's address."""
    title: str
    text: str
    figure: Figure | None = None
    note: str = ""
    """What only some readers want to know."""


def open_folder(folder: Path) -> None:
    """Make the folder and see that it can be written to, before the work is done.

    Raises:
        MuteError: it cannot.
    """
    with refusals_told(f"{folder}: cannot be written to", "choose another folder"):
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass


def write_report(analysis: Analysis, folder: Path) -> Path:
    """Write index.html, which needs nothing else, a PNG for each figure, and all numbers.

    Returns:
        the page

    Raises:
        MuteError: the folder cannot be written to.
    """
    open_folder(folder)
    _remove_earlier_figures(folder)
    parts = list(sections(analysis))
    figures = {f"{part.name}.png": part.figure for part in parts if part.figure is not None}
    for file, drawn in figures.items():
        (folder / file).write_bytes(to_png(drawn))
    numbers = {"mute": __version__, "figures": list(figures), **asdict(analysis)}
    (folder / NUMBERS).write_text(json.dumps(numbers) + "\n", encoding="utf-8")
    page = folder / PAGE
    page.write_text(_page(analysis, parts), encoding="utf-8")
    return page


def _remove_earlier_figures(folder: Path) -> None:
    """Delete what an earlier analysis drew here: this one may have fewer figures, or others."""
    try:
        earlier = json.loads((folder / NUMBERS).read_text(encoding="utf-8"))["figures"]
        names = [Path(file).name for file in earlier]
    except (OSError, ValueError, KeyError, TypeError):  # there was none, or none of ours
        return
    for name in names:
        (folder / name).unlink(missing_ok=True)


def sections(analysis: Analysis) -> Iterator[Section]:
    """The parts of the page, in order."""
    if analysis.stacks[0].units == 1:
        yield Section(
            "units",
            "One unit",
            "Every encoder layer of this model has one unit, so there is no second one to differ "
            "from (diversity), nothing to weigh or to put into an order (its weight is fixed at "
            "1), and none to mute.",
        )
    for stack in analysis.stacks:
        if stack.units > 1:
            yield from _of_stack(stack)
    if analysis.diversity:
        yield _of_diversity(analysis.diversity)
    if analysis.muting:
        yield _of_muting(analysis.muting)
    for maps in analysis.maps:
        yield _of_maps(maps)
    if not analysis.maps:
        yield Section(
            "attention",
            "Attention",
            "There is no map: the units of this model do not attend, or every sentence is long; "
            "--show chooses lines all the same.",
        )


def _of_stack(stack: Stack) -> Iterator[Section]:
    sequential = bool(stack.orders)
    panels = {"effective weight c": [each.effective for each in stack.weights]}
    if sequential:
        panels["alpha"] = [each.alpha for each in stack.weights]
    yield Section(
        f"{stack.name}-weights",
        f"How much each unit of the {stack.name} counts",
        captions.of_weights(stack.weights, sequential=sequential) + captions.of_bias(stack.bias),
        heat_maps(panels, ["unit", "place"], "layer"),
    )
    if sequential:
        matrices = {f"layer {n}": order.matrix for n, order in enumerate(stack.orders)}
        yield Section(
            f"{stack.name}-orders",
            f"The order of the {stack.name}'s units",
            captions.of_orders(stack.orders),
            heat_maps(matrices, ["place"] * len(matrices), "unit") if _learned(stack) else None,
        )
    if stack.course:
        yield from _of_course(stack)


def _learned(stack: Stack) -> bool:
    """Whether the units were put into an order by training."""
    return any(order.learned for order in stack.orders)


def _of_course(stack: Stack) -> Iterator[Section]:
    assert stack.course is not None, "there is a log"
    by_layer = {
        f"layer {layer}": {
            f"unit {unit}": [step[layer][unit] for step in stack.course.effective]
            for unit in range(stack.units)
        }
        for layer in range(len(stack.weights))
    }
    yield Section(
        f"{stack.name}-course",
        f"How the {stack.name}'s weights changed in training",
        captions.of_course(stack.course, learned_order=_learned(stack)),
        line_panels(by_layer, stack.course.steps, "step", "effective weight c"),
    )
    if not _learned(stack):
        return
    penalties = {
        f"layer {layer}": [step[layer] for step in stack.course.penalty]
        for layer in range(len(stack.orders))
    }
    yield Section(
        f"{stack.name}-permutation",
        f"How the {stack.name}'s order came about",
        "The penalty of each layer's M: its distance from a permutation, which has 0.",
        lines(penalties, stack.course.steps, "step", "distance from a permutation"),
    )


def _of_diversity(found: Diversity) -> Section:
    series = {PARTS[part]: values for part, values in found.layers.items()}
    layers = range(len(next(iter(series.values()))))
    same, units = math.exp(-1), len(next(iter(found.pairs.values()))[0])
    # Where each unit also meets itself, its own 1/e is part of every average.
    others = (units - 1 + same) / units if found.diagonal else 1.0
    levels = {"the same": same, "at right angles": others}
    drawn = lines(series, layers, "encoder layer", "diversity, exp(−cos)", levels=levels)
    return Section(
        "diversity", "How differently the units work", captions.of_diversity(found), drawn
    )


def _of_muting(found: Muting) -> Section:
    rows = [*found.layers, found.everywhere]
    drawn = heat_maps(
        {f"change of {found.measure}": [[muted.difference for muted in row] for row in rows]},
        ["muted unit"],
        "in layer",
        marks=[[[muted.is_significant for muted in row] for row in rows]],
        y_ticks=[*map(str, range(len(found.layers))), "all"],
        around_zero=True,
    )
    text = captions.of_muting(found)
    return Section("muting", "What is lost without a unit", text, drawn, found.signature)


def _of_maps(maps: AttentionMaps) -> Section:
    text = (
        f"Rows look at columns; the mean over heads, weights under {HIDDEN} are not shown. "
        f"{captions.of_maps(maps)}"
    )
    drawn = attention_figure(maps.tokens, maps.weights)
    return Section(f"attention-{maps.line}", f"Attention in line {maps.line}", text, drawn)


def _page(analysis: Analysis, parts: list[Section]) -> str:
    left_out = (
        f" {analysis.left_out:,} longer than the model takes were left out."
        if analysis.left_out
        else ""
    )
    return _PAGE.substitute(
        model=html.escape(analysis.model),
        text=html.escape(analysis.text),
        sentences=f"{analysis.sentences:,} sentences.{left_out}",
        contents="".join(f'<li><a href="#{part.name}">{part.title}</a>' for part in parts),
        sections="".join(map(_section, parts)),
        version=__version__,
    )


def _section(part: Section) -> str:
    text = html.escape(part.text)
    heading = f'<section id="{part.name}"><h2>{part.title}</h2>'
    if part.figure is None:
        return f"{heading}<p>{text}</p></section>"
    drawn = to_svg(part.figure, part.name)
    note = f"<small>{html.escape(part.note)}</small>" if part.note else ""
    return (
        f"{heading}<figure><figcaption>{text}</figcaption>"
        # By keyboard, only what can have the focus can be scrolled.
        f'<div class="wide" tabindex="0" role="group" aria-label="{part.title}">{drawn}</div>'
        f"{note}</figure></section>"
    )


_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$model, analysed</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1, p, figcaption, small { overflow-wrap: anywhere } h2 { margin: 2.5rem 0 .5rem }
p, figcaption, li { max-width: 48rem } figure { margin: 0 }
.wide { overflow-x: auto; margin: 1rem 0 } svg { max-width: max(100%, 55rem); height: auto }
[id^=attention-] svg { max-width: none }
small { opacity: .75 }
</style></head><body>
<h1>$model</h1>
<p>Looked at with $text: $sentences Layers, units and places are numbered from 0. All numbers are in
<a href="analysis.json">analysis.json</a>, and each figure in a PNG beside this page.</p>
<nav><ul>$contents</ul></nav>
$sections
<p><small>mute $version</small></p>
</body></html>
""")
