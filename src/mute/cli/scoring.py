"""How good translations are, and why: score, compare, analyze."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mute.cli.app import AsJson, app
from mute.errors import MuteError, install
from mute.files import is_terminal, name_as_text

if TYPE_CHECKING:
    from mute.evaluate.score import Tokenization
    from mute.evaluate.significance import Method

Tokenize = Annotated[
    str, typer.Option(help="How words are cut: none (tokenised already), 13a, zh, char, intl.")
]
Lowercase = Annotated[bool, typer.Option("--lowercase", help="Ignore case.")]


@app.command("score")
def score_command(
    hypotheses: Annotated[Path, typer.Argument(metavar="HYP", help="The translations.")],
    references: Annotated[list[Path], typer.Argument(metavar="REF…", help="The right ones.")],
    tokenize: Tokenize = "13a",
    lowercase: Lowercase = False,
    as_json: AsJson = False,
) -> None:
    """Score translations by BLEU and chrF; the signature says how, and belongs to the score."""
    from mute.evaluate.score import bleu, chrf
    from mute.evaluate.segments import read_parallel

    hyp, *refs = read_parallel([hypotheses, *references])
    scores = {
        "BLEU": bleu(hyp, refs, tokenize=_tokenization(tokenize), lowercase=lowercase),
        "chrF2": chrf(hyp, refs, lowercase=lowercase),
    }
    if as_json:
        typer.echo(json.dumps({name: asdict(score) for name, score in scores.items()}, indent=2))
        return
    for name, score in scores.items():
        typer.echo(f"{name:6}{score.value:6.2f}  {score.signature}")


@app.command("compare")
def compare_command(
    baseline: Annotated[Path, typer.Argument(metavar="HYP_A", help="The baseline's.")],
    systems: Annotated[list[Path], typer.Argument(metavar="HYP_B…", help="The systems'.")],
    references: Annotated[list[Path], typer.Option("--ref", help="The right ones.")],
    method: Annotated[str, typer.Option(help="bootstrap or randomisation.")] = "bootstrap",
    samples: Annotated[int, typer.Option(min=1, help="How many draws.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws.")] = 1,
    tokenize: Tokenize = "13a",
    lowercase: Lowercase = False,
    as_json: AsJson = False,
) -> None:
    """Compare systems with a baseline: is the difference in BLEU significant?

    Both tests are two-sided. The bootstrap of sacreBLEU and of Moses' script is not: its p is about
    half of this one where that is small, and less elsewhere. Where all its draws are alike, as
    of a single sentence or of equal translations, p is randomisation's, as the signature says.
    """
    from mute.evaluate import significance
    from mute.evaluate.segments import read_parallel

    if twice := [str(path) for path in dict.fromkeys(systems) if systems.count(path) > 1]:
        raise MuteError(f"{', '.join(twice)}: given more than once; name each system once")
    texts = read_parallel([baseline, *systems, *references])
    refs = texts[1 + len(systems) :]
    found = {
        str(path): significance.compare(
            texts[0],
            hyp,
            refs,
            method=cast("Method", method),
            samples=samples,
            seed=seed,
            tokenize=_tokenization(tokenize),
            lowercase=lowercase,
        )
        for path, hyp in zip(systems, texts[1:], strict=False)
    }
    if as_json:
        typer.echo(json.dumps({name: asdict(each) for name, each in found.items()}, indent=2))
        return
    from rich.console import Console

    Console(emoji=False).print(significance.render(str(baseline), found))
    for name, comparison in found.items():
        typer.echo(f"{name}: {comparison.verdict}")
    for signature in dict.fromkeys(comparison.signature for comparison in found.values()):
        typer.echo(signature)


@app.command("analyze")
def analyze_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A run or model folder.")],
    source: Annotated[
        Path, typer.Option("--src", metavar="FILE", help="Sentences: plain, .gz, .xz, SGML.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where the page is written.", show_default="MODEL/analysis"
        ),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--tgt", metavar="FILE", help="Their translations, for BLEU when muting."),
    ] = None,
    show: Annotated[
        str,
        typer.Option(
            metavar="LINES",
            help="Whose attention is shown: 1,5.",
            show_default="the first 3 of up to 60 pieces",
        ),
    ] = "",
    sentences: Annotated[
        int, typer.Option(min=0, help="To translate with each unit muted; 0: leave it out.")
    ] = 200,
    diagonal: Annotated[
        bool,
        typer.Option("--diagonal", help="Diversity with each unit also compared to itself."),
    ] = False,
) -> None:
    """Look into a model: what its units do, how much they count, and in which order.

    Writes a page with figures that needs nothing else, each figure as PNG, and all numbers as
    JSON. Muting translates the sentences once for each unit in each layer and in all.
    """
    try:
        from mute.analysis import report
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("matplotlib"):
            raise
        raise MuteError(f"figures need matplotlib: {install('plots')}") from None
    from mute.analysis.analysis import Text, analyze
    from mute.evaluate.segments import read_parallel
    from mute.model.folder import check_model
    from mute.translate.progress import LineProgress

    texts = read_parallel([source, target] if target else [source])
    check_model(model)  # one that is none is told before there is a folder for its report
    folder = out or model / "analysis"
    report.open_folder(folder)
    with LineProgress(visible=is_terminal(sys.stderr)) as progress:
        found = analyze(
            model,
            Text(name_as_text(source), texts[0], texts[1] if target else None),
            show=show,
            sentences=sentences,
            diagonal=diagonal,
            tell=progress.watch,
        )
    typer.echo(report.write_report(found, folder))


def _tokenization(name: str) -> "Tokenization":
    from mute.evaluate.score import TOKENIZATIONS

    if name not in TOKENIZATIONS:
        raise MuteError(f"--tokenize {name}: should be one of {', '.join(TOKENIZATIONS)}")
    return cast("Tokenization", name)
