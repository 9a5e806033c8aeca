"""`mute prepare`: raw text → tokenizer and shards, in a folder that is whole or not there.

The folder holds `tokenizer/`, the shards of `train/` and `dev/`, the development text as
`dev.source` and `dev.target` (further references are `dev.target.1` and so on), `report.json`, and
`manifest.json` with what it was made from.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mute.config import DataConfig, ParallelText
from mute.cores import core_count
from mute.data.corpus import Flaw, Pair, file_names, read_pairs, side_names
from mute.data.doubts import Overlap, doubts
from mute.data.duplicates import Duplicates
from mute.data.encoder import Chunk, Drop, Encoder, encode_in_order
from mute.data.folder import exclusive, replaced
from mute.data.manifest import FILE as MANIFEST
from mute.data.manifest import Manifest, load_manifest, take_stock
from mute.data.prepared import (
    DEV,
    TOKENIZER,
    TRAIN,
    load_prepared,
    reference_files,
    write_sentences,
)
from mute.data.report import FILE as REPORT
from mute.data.report import (
    LONGEST_IN_LOSS,
    CorpusReport,
    DevReport,
    Report,
    SideReport,
    counted,
)
from mute.data.scored import Scored, read_scored
from mute.data.shards import Pairs, ShardWriter
from mute.data.tokenizer import LEARNING_PAIRS, Tokenizer, learn_tokenizer
from mute.errors import MuteError

_CHUNK_LINES = 1000
_CHUNK_CHARACTERS = 1_000_000


def prepare(config: DataConfig, processes: int | None = None) -> Report:
    """Make the folder `config.prepared`, unless it is there and nothing has changed.

    Of several processes that want the same folder, one makes it and the others wait for it.

    Args:
        config: which text, and what to do with it.
        processes: how many encode the text; by default one for each CPU.

    Raises:
        MuteError: the text, the settings or the disk do not allow it; an earlier folder stays.
    """
    folder = Path(config.prepared)
    if folder.name in ("", ".."):  # there is no name to make others of, beside it
        raise MuteError(f"{folder}: data.prepared should be a folder of its own, by its name")
    if folder.is_symlink():  # it stays, and what it points to is replaced
        folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise MuteError(f"{folder}: a file; choose another data.prepared")
    with exclusive(folder):
        known = load_manifest(folder)
        if known is None and (folder / MANIFEST).exists():
            raise MuteError(
                f"{folder / MANIFEST}: damaged, or of another version of mute; delete the folder "
                f"and prepare it again"
            )
        manifest = take_stock(config, known)
        agrees = known is not None and known.agrees_with(manifest)
        if agrees and _is_whole(config):
            return Report.load(folder).model_copy(update={"reused": True})
        if foreign := _foreign(folder, known):
            raise MuteError(
                f"{folder}: holds {foreign}, which 'mute prepare' did not write and will not "
                f"delete; choose another folder for data.prepared"
            )
        with replaced(folder) as partial, _progress_bar() as progress:
            dev = read_scored(config.dev)
            tokenizer, lines = _learn(config, progress)
            if agrees:
                damaged = f"{folder}: something is missing or damaged, so all is prepared again"
                progress.console.out(damaged, highlight=False)
            elif known is not None:
                progress.console.out(_farewell(folder, known, manifest), highlight=False)
            tokenizer.save(partial / TOKENIZER)
            report = _blank_report(config, tokenizer)
            overlap = Overlap(dev.pairs)
            task = progress.add_task("encoding", total=lines)
            for done in _encode(config, partial, report, overlap, processes or core_count()):
                progress.update(task, completed=done)
            lengths = _encode_dev(config, dev, partial, tokenizer)
            report.dev = _report_on_dev(config.dev, dev.pairs, overlap)
            report.dev.too_long = sum(length > LONGEST_IN_LOSS for length in lengths)
            report.warnings = doubts(config, report)
            report.save(partial)
            manifest.save(partial)
        return report


def _is_whole(config: DataConfig) -> bool:
    """Whether what was prepared can be read."""
    try:
        load_prepared(config)
    except MuteError:
        return False
    return True


def _foreign(folder: Path, known: Manifest | None) -> str | None:
    """The name of something in a folder that may not be replaced; without a manifest, anything."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return next((name for name in names if known is None or not _is_ours(name)), None)


def _is_ours(name: str) -> bool:
    text = re.fullmatch(rf"{DEV}\.(source|target)(\.[0-9]+)?", name)
    return bool(text) or name in (TOKENIZER, TRAIN, DEV, REPORT, MANIFEST)


def _learn(config: DataConfig, progress: Progress) -> tuple[Tokenizer, int]:
    """The tokenizer, learned from a random sample, and how many lines the text has."""
    task = progress.add_task("reading", total=None)
    random = Random(1)  # noqa: S311 (no secret)
    sample: list[tuple[str, str]] = []
    usable = lines = 0
    reasons = Counter[str]()
    for text in config.train:
        for chunk in _chunks(text):
            lines += len(chunk)
            reasons.update(drop.reason for drop in chunk.drops)
            for pair in chunk.pairs:
                usable += 1
                if len(sample) < LEARNING_PAIRS:
                    sample.append(pair[1:])
                elif (place := random.randrange(usable)) < LEARNING_PAIRS:
                    sample[place] = pair[1:]
            progress.update(task, completed=lines)
    if not sample:
        names = ", ".join(name for text in config.train for name in file_names(text))
        raise MuteError(f"{names}: not one usable pair in {lines:,} lines: {counted(reasons)}")
    progress.update(task, description="learning the vocabulary")
    tokenizer = learn_tokenizer(sample, config.tokenizer, (config.source, config.target))
    progress.remove_task(task)
    return tokenizer, lines


def _encode(
    config: DataConfig, folder: Path, report: Report, overlap: Overlap, processes: int
) -> Iterator[int]:
    """Write the shards of the training text and fill in the report; tells how far it is."""
    sizes = [side.vocabulary for side in report.sides]
    shards = ShardWriter(folder / TRAIN, max(sizes))
    duplicates = Duplicates() if config.drop_duplicates else None
    limits = (folder / TOKENIZER, config.max_length, config.max_ratio, processes)
    done = 0
    for text, corpus in zip(config.train, report.corpora, strict=True):
        shards.begin(corpus.source, corpus.target)
        looked_at = _look_at(_chunks(text), corpus, overlap)
        chunks = (_without(duplicates, chunk) for chunk in looked_at)
        for encoded in encode_in_order(chunks, *limits):
            shards.add(encoded.block)
            corpus.add(encoded.drops, kept=len(encoded.block.lines))
            for side, counts in zip(report.sides, encoded.counts, strict=True):
                side.add(*counts)
            done += len(encoded.block.lines) + len(encoded.drops)
            yield done
    shards.close()
    if not report.kept:
        raise MuteError(f"no training pair is left of {done:,}: {report.reasons()}")


def _encode_dev(
    config: DataConfig, dev: Scored, folder: Path, tokenizer: Tokenizer
) -> Iterator[int]:
    """Write the shards and the sentences; how many pieces the longer side of each pair has."""
    shards = ShardWriter(folder / DEV, max(tokenizer.source_size, tokenizer.target_size))
    shards.begin(*side_names(config.dev))
    encoder = Encoder(tokenizer, max_length=math.inf, max_ratio=math.inf)
    shards.add(encoder(Chunk(dev.pairs)).block)
    shards.close()
    write_sentences((pair.source for pair in dev.pairs), folder / f"{DEV}.source")
    files = reference_files(folder, len(dev.references))
    for reference, file in zip(dev.references, files, strict=True):
        write_sentences(reference, file)
    source, target = Pairs(folder / DEV).lengths
    return map(max, source.tolist(), target.tolist())


def _chunks(text: ParallelText) -> Iterator[Chunk]:
    chunk, characters = Chunk(), 0
    for pair in read_pairs(text):
        if isinstance(pair, Flaw):
            chunk.drops.append(Drop(pair.line, pair.reason))
        else:
            chunk.pairs.append(pair)
            characters += len(pair.source) + len(pair.target)
        if len(chunk) == _CHUNK_LINES or characters > _CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = Chunk(), 0
    yield chunk


def _look_at(chunks: Iterator[Chunk], corpus: CorpusReport, overlap: Overlap) -> Iterator[Chunk]:
    """The same chunks, with what makes text doubtful counted on their way."""
    for chunk in chunks:
        corpus.copies += _copies(chunk.pairs)
        overlap.look_at(chunk.pairs)
        yield chunk


def _copies(pairs: list[Pair]) -> int:
    return sum(pair.source == pair.target for pair in pairs)


def _without(duplicates: Duplicates | None, chunk: Chunk) -> Chunk:
    if duplicates is None:
        return chunk
    fresh = Chunk(drops=list(chunk.drops))
    for pair, repeated in zip(chunk.pairs, duplicates.check(chunk.pairs), strict=True):
        if repeated:
            fresh.drops.append(Drop(pair.line, "duplicate"))
        else:
            fresh.pairs.append(pair)
    return fresh


def _blank_report(config: DataConfig, tokenizer: Tokenizer) -> Report:
    names = [side_names(text) for text in config.train]
    return Report(
        corpora=[CorpusReport(source=source, target=target) for source, target in names],
        sides=[
            SideReport(language=config.source, vocabulary=tokenizer.source_size),
            SideReport(language=config.target, vocabulary=tokenizer.target_size),
        ],
    )


def _report_on_dev(text: ParallelText, pairs: list[Pair], overlap: Overlap) -> DevReport:
    source, target = side_names(text)
    return DevReport(
        source=source,
        target=target,
        read=len(pairs),
        copies=_copies(pairs),
        in_train=overlap.count(pairs),
    )


def _farewell(folder: Path, known: Manifest, manifest: Manifest) -> str:
    """What is said of a folder that is there, before another takes its place."""
    changed = known.changed(manifest.settings)
    how = f"with another {' and '.join(changed)}" if changed else "from other text"
    return f"{folder}: will replace what was prepared {how}; runs begun with that cannot go on then"


def _progress_bar() -> Progress:
    console = Console(stderr=True, emoji=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
