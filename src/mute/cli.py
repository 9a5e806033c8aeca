"""The `mute` command: the one module that knows all others.

Every command imports what it needs when it runs, so that `mute --help` is instant.
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from mute.errors import MuteError

if TYPE_CHECKING:
    from mute.evaluate.score import Tokenization
    from mute.evaluate.significance import Method

LINES_AT_ONCE = 2000
"""Lines that are sorted by length together: enough for full batches, whatever the input's size."""

app = typer.Typer(
    help="Multi-Unit Transformers for machine translation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


ConfigFile = Annotated[Path, typer.Argument(metavar="CONFIG", help="A YAML file.")]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", help="Change a setting: model.units=6.")
]

Tokenize = Annotated[
    str, typer.Option(help="How words are cut: none (tokenised already), 13a, zh, char, intl.")
]
Lowercase = Annotated[bool, typer.Option("--lowercase", help="Ignore case.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def main() -> None:
    """Run a command; a user's mistake is told in one sentence, with exit status 2."""
    try:
        app()
    except MuteError as error:
        sys.stderr.write(f"mute: {error}\n")
        raise SystemExit(2) from None


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Multi-Unit Transformers for machine translation."""
    if show:
        from mute import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.command("info")
def info_command(
    model: Annotated[
        str,
        typer.Argument(
            help="A config file, a run or model folder, or a preset: tiny, small, base, big."
        ),
    ] = "",
    vocab_size: Annotated[
        str, typer.Option(help="Entries of the vocabulary, or SOURCE,TARGET.")
    ] = "32000",
    overrides: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Show how many parameters a model has, and where.

    For a config file or a model: its parts. For a preset: the parts of each of the paper's
    systems in that shape. Without an argument: the totals of every system in every shape.
    """
    from mute import overview

    table = overview.parameter_table(model, _sizes(vocab_size), overrides or [])
    if as_json:
        typer.echo(json.dumps(table.columns, indent=2))
    else:
        from rich.console import Console

        Console().print(overview.render(table))


@app.command("prepare")
def prepare_command(
    config: ConfigFile,
    overrides: Overrides = None,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch missing public corpora into MUTE_DATA first.")
    ] = False,
) -> None:
    """Turn raw parallel text into a tokenizer and shards of ids.

    Says how many pairs were dropped and why. Does nothing if nothing has changed.
    """
    from rich.console import Console

    from mute.configfile import load_config
    from mute.data.catalog import download_missing
    from mute.data.prepare import prepare
    from mute.data.report import render

    settings = load_config(config, overrides or []).data
    if settings is None:
        raise MuteError(f"{config}: has no 'data:' section, which preparing needs")
    if download:
        download_missing(settings)
    report = prepare(settings)
    Console().print(render(report))
    if report.reused:
        typer.echo(f"{settings.prepared}: nothing has changed since it was made")


@app.command("train")
def train_command(config: ConfigFile, overrides: Overrides = None) -> None:
    """Train a model, or go on where the run stopped; under torchrun, with many processes."""
    from mute import experiment
    from mute.configfile import load_config

    settings = load_config(config, overrides or [])
    state = experiment.train(settings)
    if int(os.environ.get("RANK", "0")) == 0:
        _, training = experiment.sections(settings)
        best = f"best BLEU {state.best_score:.2f} at step {state.best_step}"
        typer.echo(f"{training.run}: {state.step} steps, {best}")


@app.command("translate")
def translate_command(
    context: typer.Context,
    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL", help="Run or model folders; several are an ensemble."),
    ],
    source: Annotated[
        Path | None,
        typer.Option("--input", "-i", metavar="FILE", help="Lines to translate: plain, .gz, .xz."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to: plain, .gz, .xz."),
    ] = None,
    prefix: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="How each translation has to begin, line by line."),
    ] = None,
    forced: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Translations: score these, make none."),
    ] = None,
    beam: Annotated[int, typer.Option(min=1, max=1000, help="Partial translations kept.")] = 4,
    length_penalty: Annotated[float, typer.Option(min=0, max=10, help="GNMT's exponent.")] = 0.6,
    nbest: Annotated[
        int, typer.Option(min=1, max=1000, help="Translations of a line: LINE ||| TEXT ||| SCORE.")
    ] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object for each line.")] = False,
    attention: Annotated[
        bool, typer.Option("--attention", help="With --json: which word looks at which.")
    ] = False,
    min_length: Annotated[int, typer.Option(min=0, help="Pieces, at least.")] = 0,
    max_length: Annotated[
        int | None,
        typer.Option(min=1, help="Pieces, at most.", show_default="2 × the source's + 10"),
    ] = None,
    no_repeat: Annotated[
        int, typer.Option(min=0, help="No sequence of so many pieces twice; 0: no such rule.")
    ] = 0,
    sample: Annotated[bool, typer.Option("--sample", help="Draw words, do not search.")] = False,
    temperature: Annotated[float, typer.Option(min=0.01, max=100, help="With --sample.")] = 1.0,
    top_k: Annotated[
        int, typer.Option(min=0, help="With --sample: from so many words; 0: all.")
    ] = 0,
    top_p: Annotated[
        float, typer.Option(min=0.001, max=1, help="With --sample: from so much probability.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="With --sample.")] = 1,
    units: Annotated[
        list[str] | None,
        typer.Option(help="Only these of every layer, from 0: 0,2; of one layer: 1:0,2."),
    ] = None,
    compute: Annotated[
        Literal["float32", "int8"], typer.Option(help="Numbers to compute with.")
    ] = "float32",
    shortlist: Annotated[
        bool, typer.Option("--shortlist", help="Only words that go with the source's.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="A line that is too long is an error, not split.")
    ] = False,
) -> None:
    """Translate lines: as many come out as go in, in the same order.

    From standard input to standard output, or from file to file. Into a file, the same command
    goes on where it was killed, and under torchrun many processes share the work.
    """
    from mute.translate.command import Files, translate_text
    from mute.translate.options import Options, check_combination, parse_units

    check_combination(_given(context))
    options = Options(
        beam=beam,
        length_penalty=length_penalty,
        nbest=nbest,
        min_length=min_length,
        max_length=max_length,
        no_repeat=no_repeat,
        sample=sample,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
        units=parse_units(units or []),
        compute=compute,
        shortlist=shortlist,
        strict=strict,
        attention=attention,
        as_json=as_json,
        beside="prefix" if prefix else "forced" if forced else None,
    )
    translate_text(models, Files(source, prefix or forced, output), options, LINES_AT_ONCE)


def _given(context: typer.Context) -> set[str]:
    """The options that stand on the command line, by their long names."""
    sources = {
        max(option.opts, key=len): context.get_parameter_source(option.name or "")
        for option in context.command.params
    }
    return {name for name, place in sources.items() if place and place.name == "COMMANDLINE"}


@app.command("average")
def average_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    last: Annotated[int, typer.Option(min=1, help="How many checkpoints.")] = 5,
) -> None:
    """Average the weights of a run's last checkpoints into a model folder of its own."""
    from mute.model.folder import load_model, max_length_of, save_model
    from mute.train.average import average_checkpoints

    model, tokenizer = load_model(run)
    folder = run / f"average-{last}"
    weights = average_checkpoints(run, last)
    save_model(folder, model.config, weights, tokenizer, max_length_of(run))
    typer.echo(folder)


@app.command("export")
def export_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A run or model folder.")],
    to: Annotated[Path, typer.Option(metavar="DIR", help="A new or empty folder.")],
    format_name: Annotated[
        str, typer.Option("--format", help="Of which engine: ctranslate2, so far.")
    ] = "ctranslate2",
    quantization: Annotated[
        str, typer.Option(help="Of the weights: float32, int8, int16, …")
    ] = "float32",
) -> None:
    """Write a model with one unit per layer for CTranslate2, and its tokenizer beside it.

    The tokens of a line are tokenizer.pieces(tokenizer.encode(line, "source"), "source") there,
    with load_tokenizer("DIR/tokenizer") of mute.data.tokenizer; CTranslate2 adds the end itself.
    With length_penalty=0 it finds the same translations and scores.
    """
    from mute.model.folder import load_model
    from mute.translate.export import export_ctranslate2

    if format_name != "ctranslate2":
        raise MuteError(f"--format {format_name}: ctranslate2 is the only one there is")
    export_ctranslate2(*load_model(model), to, quantization)
    typer.echo(to)


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
    """Compare systems with a baseline: is the difference in BLEU significant?"""
    from typing import get_args

    from mute.evaluate import significance
    from mute.evaluate.segments import read_parallel

    if method not in get_args(significance.Method):
        raise MuteError(f"--method {method}: should be bootstrap or randomisation")
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

    Console().print(significance.render(str(baseline), found))
    for name, comparison in found.items():
        typer.echo(f"{name}: {comparison.verdict}")
    typer.echo(next(iter(found.values())).signature)


@app.command("analyze")
def analyze_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A run or model folder.")],
    source: Annotated[
        Path, typer.Option("--src", metavar="FILE", help="Sentences: plain, .gz, .xz, SGML.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the page is written.")],
    target: Annotated[
        Path | None,
        typer.Option("--tgt", metavar="FILE", help="Their translations, for BLEU when muting."),
    ] = None,
    show: Annotated[
        str,
        typer.Option(
            metavar="LINES", help="Whose attention is shown: 1,5.", show_default="the first 3"
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
        raise MuteError("figures need matplotlib: pip install 'mute[plots]'") from None
    from mute.analysis.analysis import Text, analyze
    from mute.evaluate.segments import read_parallel
    from mute.translate.progress import LineProgress

    texts = read_parallel([source, target] if target else [source])
    report.open_folder(out)
    with LineProgress(visible=sys.stderr.isatty()) as progress:
        found = analyze(
            model,
            Text(str(source), texts[0], texts[1] if target else None),
            show=show,
            sentences=sentences,
            diagonal=diagonal,
            tell=progress.watch,
        )
    typer.echo(report.write_report(found, out))


def _tokenization(name: str) -> "Tokenization":
    from mute.evaluate.score import TOKENIZATIONS

    if name not in TOKENIZATIONS:
        raise MuteError(f"--tokenize {name}: should be one of {', '.join(TOKENIZATIONS)}")
    return cast("Tokenization", name)


@app.command("serve")
def serve_command(
    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL", help="Run or model folders, for one or more languages."),
    ],
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 is open to the network.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Of the CPU.", show_default="PyTorch's choice")
    ] = None,
    compute: Annotated[
        Literal["float32", "int8"], typer.Option(help="Numbers to compute with.")
    ] = "float32",
    max_queue: Annotated[int, typer.Option(min=1, help="Lines that may wait.")] = 1000,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a request may take.")
    ] = 30.0,
    api_keys: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Answer only who sends one of these, a key per line."),
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="A site whose pages may use the API; repeatable."),
    ] = None,
) -> None:
    """Serve models: LibreTranslate's API, and a page that shows what the units do.

    Requests that come at the same time are translated together. Ctrl-C ends it, after what was
    begun.
    """
    import torch

    from mute.serve.command import Place, serve
    from mute.serve.limits import Limits

    if threads is not None:
        torch.set_num_threads(threads)
    limits = Limits(queue=max_queue, timeout=timeout)
    serve(models, Place(host, port, api_keys, cors or ()), limits, compute)


@app.command("bench")
def bench_command(
    config: ConfigFile,
    overrides: Overrides = None,
    steps: Annotated[int, typer.Option(min=1, help="Of training, to measure.")] = 10,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Of the CPU.", show_default="PyTorch's choice")
    ] = None,
    vocab_size: Annotated[
        str | None,
        typer.Option(
            help="Use random sentences with so many words, or SOURCE,TARGET.",
            show_default="the prepared data; 32000 if there is none",
        ),
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what the run will take: time, memory, disk.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure how fast a config trains and translates here, and where the time goes.

    Speeds are also given as shares of the machine's own peak, measured in the same run. Nothing
    is written. A minute with --estimate tells how long a run will take, and whether it fits.
    """
    import torch
    from rich.console import Console

    from mute.bench import report
    from mute.bench.estimate import Estimate, estimate_run
    from mute.bench.measurement import Measurement, measure
    from mute.configfile import load_config

    if estimate and vocab_size is not None:
        raise MuteError("--vocab-size: means nothing with --estimate; leave one of them")
    settings = load_config(config, overrides or [])
    if threads is not None:
        torch.set_num_threads(threads)
    found: Estimate | Measurement
    if estimate:
        found = estimate_run(settings, steps)
    else:
        found = measure(settings, steps, None if vocab_size is None else _sizes(vocab_size), _tell)
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=2))
    else:
        Console(soft_wrap=True).print(report.render(found))


def _tell(sentence: str) -> None:
    """Say what is being done, if someone is watching."""
    if sys.stderr.isatty():
        typer.echo(sentence, err=True)


@app.command("study")
def study_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="See --list.")] = "",
    task: Annotated[
        str, typer.Option(help="A folder of configs/: multi30k, wmt14-en-de, …, or another one.")
    ] = "multi30k",
    seeds: Annotated[
        str, typer.Option(help="With commas between them.", show_default="the study's own")
    ] = "",
    overrides: Overrides = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Runs at a time; on 2 cores, 2 are faster than 1.")
    ] = 1,
    processes: Annotated[int, typer.Option(min=1, help="Of each run, by torchrun.")] = 1,
    list_all: Annotated[bool, typer.Option("--list", help="Show what studies there are.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the runs, do none.")] = False,
    measure: Annotated[
        bool, typer.Option("--measure", help="With --dry-run: time some steps of each system.")
    ] = False,
    tables: Annotated[
        bool, typer.Option("--tables", help="Make tables and figures of what is there, no run.")
    ] = False,
) -> None:
    """Run a grid of runs for one of the paper's tables or figures, and make it.

    The same command goes on where it was stopped or killed. Finished runs leave a JSON file in
    results/NAME/TASK/, from which the tables and figures beside it are made.
    """
    from rich.console import Console

    from mute.studies import plan, runner, study
    from mute.studies.definitions import STUDIES, find_study
    from mute.studies.grid import runs_of, task_folder

    if measure and not dry_run:
        raise MuteError("--measure: goes with --dry-run")
    if list_all:
        for each in STUDIES.values():
            typer.echo(f"{each.name:12} {each.shows}")
        return
    if not name:
        raise MuteError("which study? 'mute study --list' shows what there are")
    chosen = find_study(name)
    if tables:
        typer.echo(study.make_tables(chosen, task_folder(task).name, typer.echo))
        return
    runs = runs_of(chosen, task, _seeds(seeds), overrides or [])
    if dry_run:
        Console().print(plan.render(plan.plan(runs, measure=measure)))
        return
    outcome, table = study.run_study(chosen, runs, jobs, processes, typer.echo)
    if table:
        typer.echo(table.read_text(encoding="utf-8"))
    runner.check(outcome, f"mute study {name} --task {task}")


def _seeds(text: str) -> list[int]:
    """'1,2,3' → [1, 2, 3]."""
    try:
        return [int(part) for part in text.split(",")] if text else []
    except ValueError:
        raise MuteError(f"--seeds {text}: should be numbers with commas between them") from None


@app.command("demo")
def demo_command(
    folder: Annotated[Path, typer.Option(help="Where text, run and page go.")] = Path("runs/demo"),
) -> None:
    """Train a small model on made-up text, translate what it has not seen, show its units."""
    from mute.demo import SHOWN, run_demo

    demo = run_demo(folder)
    for english, german, translation in demo.translations[:SHOWN]:
        verdict = "right" if translation.text == german else f"should be: {german}"
        typer.echo(f"\n  {english}\n  {translation.text}\n  ({verdict})")
    typer.echo(f"\nBLEU on {len(demo.translations)} held-out sentences: {demo.score.value:.2f}")
    typer.echo(f"  {demo.score.signature}")
    for layer, coefficients in enumerate(demo.coefficients):
        weights = "  ".join(f"{value:.2f}" for value in coefficients)
        order = " → ".join(map(str, demo.orders[layer]))
        typer.echo(f"encoder layer {layer}: unit weights {weights}; order {order}")
    typer.echo(f"\nThe report: {demo.page}")


@app.command("shortlist")
def shortlist_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A run or model folder.")],
    config: ConfigFile,
    overrides: Overrides = None,
    per_word: Annotated[
        int, typer.Option(min=1, help="Target pieces that go with a source piece.")
    ] = 32,
    frequent: Annotated[
        int, typer.Option(min=1, help="Target pieces that go with every source piece.")
    ] = 2048,
) -> None:
    """Learn which words a translation may need, for `mute translate --shortlist`.

    CONFIG is the one that MODEL was trained with: its prepared training text is counted.
    """
    from mute.configfile import load_config
    from mute.data.prepared import load_prepared
    from mute.data.tokenizer import same_vocabulary
    from mute.model.folder import load_model, model_folder
    from mute.translate import shortlist

    settings = load_config(config, overrides or []).data
    if settings is None:
        raise MuteError(f"{config}: has no 'data:' section, which a shortlist is learned from")
    prepared = load_prepared(settings)
    _, tokenizer = load_model(model)
    if not same_vocabulary(tokenizer, prepared.tokenizer):
        raise MuteError(
            f"{model}: has another vocabulary than {settings.prepared}; give the config that the "
            f"model was trained with"
        )
    learned = shortlist.make_shortlist(tokenizer, prepared.train, per_word, frequent)
    learned.save(model_folder(model))
    coverage, size = shortlist.measure(learned, prepared.dev)
    typer.echo(f"{model_folder(model) / shortlist.FILE}: on the development text,")
    typer.echo(f"{coverage:.2%} of the target pieces are in the shortlist of their sentence;")
    typer.echo(
        f"that of {shortlist.BATCH} sentences has {size:,.0f} of {tokenizer.target_size:,} pieces"
    )


def _sizes(text: str) -> tuple[int, int]:
    """'32000' → (32000, 32000); '40000,30000' → (40000, 30000)."""
    try:
        sizes = [int(part) for part in text.split(",")]
        source, target = sizes * 2 if len(sizes) == 1 else sizes
    except ValueError:
        raise MuteError(
            f"--vocab-size {text}: should be a number, or two with a comma between them"
        ) from None
    return source, target
