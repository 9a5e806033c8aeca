"""`mute demo`: the whole way, from made-up text to a page about a trained model, in minutes."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from string import Template

from mute import experiment
from mute.config import BIASES, Experiment
from mute.data.prepare import prepare
from mute.data.prepared import write_sentences
from mute.data.toy import SPLITS, pairs
from mute.errors import refusals_told
from mute.evaluate.score import Score, bleu
from mute.model.fusion import SequentialFusion
from mute.translate.loading import load
from mute.translate.translation import Translation
from mute.translate.translator import Translator

SIZES = {"train": 20_000, "dev": 200, "test": 500}
SHOWN = 8
"""Sentences that are printed and stand on the page."""


@dataclass(frozen=True)
class Demo:
    """What the demo found."""

    translations: list[tuple[str, str, Translation]]
    """English, the right German, and the model's, of every test sentence."""
    score: Score
    coefficients: list[list[float]]
    """For each encoder layer, how much each unit counts."""
    matrices: list[list[list[float]]]
    """For each encoder layer, M: a row per unit, a column per place."""
    orders: list[list[int]]
    """For each encoder layer, the unit at each place."""
    page: Path


def run_demo(folder: Path) -> Demo:
    """Make the text, prepare it, train on it, translate what was held out, write the page.

    A second call goes on where the first one stopped, or has nothing to train.

    Raises:
        MuteError: the folder cannot be made.
        Stopped: SIGTERM or Ctrl-C asked for it.
    """
    text = folder / "text"
    with refusals_told(f"{folder}: cannot be written to", "choose another folder"):
        text.mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        english, german = zip(*pairs(SIZES[split], seed=1, split=split), strict=True)
        write_sentences(english, text / f"{split}.en")
        write_sentences(german, text / f"{split}.de")
    config = demo_config(folder)
    prepare(config.data)
    experiment.train(config)
    demo = _look_at(load(config.train.run), folder / "report.html")
    demo.page.write_text(_page(demo), encoding="utf-8")
    return demo


def demo_config(folder: Path) -> Experiment:
    """A sequentially biased MUTE, small enough for minutes."""
    text = {
        split: {"source": f"{folder}/text/{split}.en", "target": f"{folder}/text/{split}.de"}
        for split in SPLITS
    }
    return Experiment.model_validate(
        {
            "model": {
                "preset": "tiny",
                "encoder_layers": 3,
                "decoder_layers": 2,
                "units": 4,
                "bias": list(BIASES),
                "sequential": True,
                "share_embeddings": True,
            },
            "data": {
                "source": "en",
                "target": "de",
                "prepared": f"{folder}/prepared",
                "train": [text["train"]],
                "dev": text["dev"],
                "tokenizer": {"kind": "sentencepiece", "model": "bpe", "size": 2000},
            },
            "train": {
                "run": f"{folder}/run",
                "steps": 700,
                "batch_tokens": 2048,
                "schedule": "inverse-sqrt",
                "learning_rate": 4e-3,
                "warmup": 300,
                "betas": [0.9, 0.98],
                "clip": 5.0,
                "average_decay": 0.98,
                "penalty_weight": 0.03,  # a short run must hurry to find its order
                "validate_every": 350,
                "save_every": 175,
                "beam": 1,
            },
        }
    )


def _look_at(translator: Translator, page: Path) -> Demo:
    held_out = list(pairs(SIZES["test"], seed=1, split="test"))
    translations = translator.translate([english for english, _ in held_out])
    german = [reference for _, reference in held_out]
    fusions = [
        layer.fusion
        for layer in translator.models[0].multi_unit_layers()
        if isinstance(layer.fusion, SequentialFusion)
    ]
    return Demo(
        [(*pair, translation) for pair, translation in zip(held_out, translations, strict=True)],
        bleu([translation.text for translation in translations], [german]),
        [fusion().tolist() for fusion in fusions],
        [fusion.matrix.tolist() for fusion in fusions],
        [fusion.order() for fusion in fusions],
        page,
    )


def _page(demo: Demo) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(english)}<td>{html.escape(translation.text)}"
        f"<td>{'✓' if translation.text == german else html.escape(german)}"
        for english, german, translation in demo.translations[:SHOWN]
    )
    layers = "".join(_layer(demo, layer) for layer in range(len(demo.matrices)))
    right = sum(german == translation.text for _, german, translation in demo.translations)
    return _PAGE.substitute(
        bleu=f"{demo.score.value:.1f}",
        signature=html.escape(demo.score.signature),
        sentences=len(demo.translations),
        right=right,
        rows=rows,
        layers=layers,
    )


def _layer(demo: Demo, layer: int) -> str:
    largest = max(max(each) for each in demo.coefficients)
    bars = "".join(
        f"<tr><th>unit {unit}"
        f'<td><i style="width:{max(value, 0) / largest * 12:.2f}em"></i> {value:.2f}'
        for unit, value in enumerate(demo.coefficients[layer])
    )
    matrix = "".join(
        f"<tr><th>unit {unit}" + "".join(map(_cell, row))
        for unit, row in enumerate(demo.matrices[layer])
    )
    places = "".join(f"<th>{place}" for place in range(len(demo.matrices[layer])))
    order = " → ".join(map(str, demo.orders[layer]))
    return (
        f"<section><h3>Encoder layer {layer}</h3><table>{bars}</table>"
        f"<table><tr><th>place{places}{matrix}</table><p>Order: {order}</p></section>"
    )


def _cell(value: float) -> str:
    ink = "#fff" if value > 0.5 else "inherit"
    shade = f"background:rgba(38,110,180,{value:.2f});color:{ink}"
    return f'<td class="m" style="{shade}">{value:.2f}'


_PAGE = Template("""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>mute demo</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 } td, th { padding: .2rem .6rem; text-align: left;
  vertical-align: top } tr + tr td { border-top: 1px solid #8884 }
i { display: inline-block; height: .8em; background: #266eb4 } .m { text-align: right }
.layers { display: flex; flex-wrap: wrap; gap: 2rem } .big { font-size: 2.5rem }
</style>
<h1>A sequentially biased MUTE, trained here</h1>
<p><span class="big">$bleu BLEU</span> on $sentences sentences it has never seen; $right of them are
right to the letter.<br><small>$signature</small></p>
<table><tr><th>English<th>the model's German<th>as it should be$rows</table>
<h2>How much each unit counts, and the order they found</h2>
<p>In every encoder layer four units read the sentence: one clean, the others, in training, with two
words swapped, three in disorder, or one masked. Bars show the weight c = M w(alpha) of each unit in
the layer's output. Below, M: which place in the order each unit has taken.</p>
<div class="layers">$layers</div>
</html>
""")
