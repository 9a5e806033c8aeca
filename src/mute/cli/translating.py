"""What a trained model is used by: translate, shortlist, export, serve."""

from pathlib import Path
from typing import Annotated

import typer

from mute.cli.app import Compute, ConfigFile, Overrides, Threads, app
from mute.errors import MuteError

LINES_AT_ONCE = 2000
"""Lines that are sorted by length together: enough for full batches, whatever the input's size."""
LONGEST = 1_000_000
"""Pieces and words; more is a slip of the finger."""


@app.command("translate")
def translate_command(
    context: typer.Context,
    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL", help="Run or model folders; several are an ensemble."),
    ],
    source: Annotated[
        Path | None,
        typer.Option(
            "--input",
            "-i",
            metavar="FILE",
            help="Lines to translate: plain, .gz, .xz.",
        ),
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
        int,
        typer.Option(
            min=1,
            max=1000,
            help="Translations of a line: LINE ||| TEXT ||| SCORE; --beam is at least so many.",
        ),
    ] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object for each line.")] = False,
    attention: Annotated[
        bool, typer.Option("--attention", help="With --json: which word looks at which.")
    ] = False,
    min_length: Annotated[
        int, typer.Option(min=0, max=LONGEST, help="Pieces of a part, at least.")
    ] = 0,
    max_length: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=LONGEST,
            help="Pieces of a part, at most; only long lines have several.",
            show_default="2 × the source's + 10, ends counted",
        ),
    ] = None,
    no_repeat: Annotated[
        int,
        typer.Option(
            min=0,
            max=LONGEST,
            help="No sequence of so many pieces twice in a part; 0: no rule.",
        ),
    ] = 0,
    sample: Annotated[bool, typer.Option("--sample", help="Draw words, do not search.")] = False,
    temperature: Annotated[float, typer.Option(min=0.01, max=100, help="With --sample.")] = 1.0,
    top_k: Annotated[
        int, typer.Option(min=0, max=LONGEST, help="With --sample: from so many words; 0: all.")
    ] = 0,
    top_p: Annotated[
        float, typer.Option(min=0.001, max=1, help="With --sample: from so much probability.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="With --sample.")] = 1,
    units: Annotated[
        list[str] | None,
        typer.Option(help="Only these of every layer, from 0: 0,2; of one layer: 1:0,2."),
    ] = None,
    compute: Compute = "float32",
    shortlist: Annotated[
        bool, typer.Option("--shortlist", help="Only words that go with the source's.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="A line that is too long is an error, not split.")
    ] = False,
) -> None:
    """Translate lines: as many come out as go in, in the same order.

    From standard input to standard output, or from file to file; then the same command goes on
    where it was killed, and under torchrun many processes share the work.
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
    tokenizer = load_model(model).tokenizer
    if not same_vocabulary(tokenizer, prepared.tokenizer):
        raise MuteError(
            f"{model}: has another vocabulary than {settings.prepared}; give the config that the "
            f"model was trained with"
        )
    ours, theirs = (" to ".join(each.languages) for each in (tokenizer, prepared.tokenizer))
    if ours != theirs:
        raise MuteError(
            f"{model}: translates {ours}, but {settings.prepared} is from {theirs}; give the "
            f"config that the model was trained with"
        )
    learned = shortlist.make_shortlist(tokenizer, prepared.train, per_word, frequent)
    learned.save(model_folder(model))
    coverage, size = shortlist.measure(learned, prepared.dev)
    typer.echo(f"{model_folder(model) / shortlist.FILE}: on the development text,")
    typer.echo(f"{coverage:.2%} of the target pieces are in the shortlist of their sentence;")
    typer.echo(
        f"that of {shortlist.BATCH} sentences has {size:,.0f} of {tokenizer.target_size:,} pieces"
    )


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
    With length_penalty=0 it finds the same translations and scores; one that comes to no end has
    one more word there, where ours is the end at the longest length.
    """
    from mute.model.folder import load_model
    from mute.translate.export import export_ctranslate2

    if format_name != "ctranslate2":
        raise MuteError(f"--format {format_name}: ctranslate2 is the only one there is")
    network, tokenizer, _ = load_model(model)
    export_ctranslate2(network, tokenizer, to, quantization)
    typer.echo(to)


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
    threads: Threads = None,
    compute: Compute = "float32",
    max_queue: Annotated[int, typer.Option(min=1, help="Lines that may wait.")] = 1000,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=86400,
            help="Seconds in which a request's head, then its body, then its answer has to come.",
        ),
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


def _given(context: typer.Context) -> set[str]:
    """The options that stand on the command line, by their long names."""
    sources = {
        max(option.opts, key=len): context.get_parameter_source(option.name or "")
        for option in context.command.params
    }
    return {name for name, place in sources.items() if place and place.name == "COMMANDLINE"}
