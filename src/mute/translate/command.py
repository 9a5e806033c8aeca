"""What `mute translate` does: a text through a translator, from wherever to wherever."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

from mute import __version__
from mute.data.lines import name_of
from mute.data.places import refuse_sgml
from mute.data.tokenizer import tokenizer_files
from mute.errors import MuteError
from mute.files import is_terminal
from mute.model.folder import CONFIG, TOKENIZER, WEIGHTS, model_folder
from mute.runtime import Share, seed_of
from mute.translate import render
from mute.translate.loading import load
from mute.translate.options import Options
from mute.translate.parts import work_in_parts
from mute.translate.progress import LineProgress
from mute.translate.sampling import Sampling
from mute.translate.shortlist import FILE as SHORTLIST
from mute.translate.stream import Job, Row, Work, pour, pour_into_file, to_standard_output
from mute.translate.translation import LineError, Translation
from mute.translate.translator import Translator

DASH = Path("-")
"""What many commands call standard input and output."""
STANDARD_OUTPUT = {DASH, Path("/dev/stdout"), Path("/dev/fd/1"), Path("/proc/self/fd/1")}


_OTHER_PACKING = {".bz2", ".zip", ".zst"}


@dataclass(frozen=True)
class Files:
    """Where lines come from and go to."""

    source: Path | None
    """Standard input if None."""
    beside: Path | None
    """A second text that goes with the first line by line, if there is one."""
    output: Path | None
    """Standard output if None."""

    def followed(self) -> "Files":
        """The same, with the file that a link for the output leads to, which keeps its link.

        Standard output by one of its names is no file to replace, whatever it leads to.
        """
        if self.source == DASH:
            return replace(self, source=None).followed()
        if self.output in STANDARD_OUTPUT:
            return replace(self, output=None)
        if self.output is None or not self.output.is_symlink():
            return self
        if self.output.exists() and not self.output.is_file():  # a pipe: >(gzip > text.gz)
            return self
        return replace(self, output=Path(os.path.realpath(self.output)))

    def check(self, share: Share) -> None:
        """Find what is wrong before a model is loaded.

        Raises:
            MuteError: a file is not there or is a folder, or many processes lack files.
        """
        given = [path for path in (self.source, self.beside) if path is not None]
        for path in given:
            if not path.exists():
                raise MuteError(f"{path}: no such file")
            refuse_sgml(path)
        for path in (*given, *([self.output] if self.output else [])):
            if path.is_dir():
                raise MuteError(f"{path}: is a folder; give a file")
        if self.output is not None:
            if self.output.suffix in _OTHER_PACKING:
                raise MuteError(
                    f"{self.output}: what is written is plain text, .gz or .xz; choose one of them"
                )
            if not self.output.parent.is_dir():
                raise MuteError(f"{self.output}: there is no folder {self.output.parent}; make it")
            if any(self.output.exists() and path.samefile(self.output) for path in given):
                raise MuteError(f"{self.output}: would be read and overwritten; choose another -o")
        if share.size > 1 and not self.can_be_shared:
            raise MuteError(
                "under torchrun every process reads the text by itself and writes parts of the "
                "output: give -i and -o, and files, not pipes"
            )

    @property
    def can_be_shared(self) -> bool:
        """Whether the text can be read again and the output appear at the end."""
        regular = all(path is None or path.is_file() for path in (self.beside, self.source))
        if self.source is None or self.output is None:
            return False
        return regular and (self.output.is_file() or not self.output.exists())


def translate_text(
    models: Sequence[Path], files: Files, options: Options, lines_at_once: int
) -> None:
    """Translate a text of any length.

    Args:
        models: run or model folders; several are an ensemble
        files: from where to where
        options: how
        lines_at_once: that are translated together

    Raises:
        MuteError: whatever the user can mend.
    """
    share = Share.of_this_process()
    files = files.followed()
    files.check(share)
    if files.source is None and sys.stdin is None:
        raise MuteError("standard input is closed; name a file with -i")
    if files.output is None and sys.stdout is None:
        raise MuteError("standard output is closed; name a file with -o")
    translator = load(
        *models, units=options.units, compute=options.compute, shortlist=options.shortlist
    )
    source = files.source or sys.stdin.buffer
    columns = [source, files.beside] if files.beside else [source]
    if files.source is None and is_terminal(sys.stdin):
        lines_at_once = 1  # who types waits for an answer
    with LineProgress(visible=_has_live_line(files, share)) as progress:
        if translator.tokenizer.takes and share.leads:
            progress.tell(f"mute: {models[0]} takes {translator.tokenizer.takes}")
        work = worker(translator, options, name_of(source), progress.tell)
        job = Job(columns, work, lines_at_once, progress.watch)
        if files.output is None:
            pour(job, to_standard_output)
        elif files.can_be_shared:
            work_in_parts(job, files.output, identity_of(options, models), share)
        else:
            pour_into_file(job, files.output)


def _has_live_line(files: Files, share: Share) -> bool:
    in_its_way = files.output is None and is_terminal(sys.stdout)
    typed = files.source is None and is_terminal(sys.stdin)
    return share.leads and is_terminal(sys.stderr) and not in_its_way and not typed


def identity_of(options: Options, models: Sequence[Path]) -> dict[str, Any]:
    """Whatever decides what comes out, but for the text."""
    # An ensemble has the shortlist of its first model.
    shortlists = [[SHORTLIST] if options.shortlist else [], *([] for _ in models[1:])]
    return {
        "version": __version__,
        "models": [
            _fingerprint(model_folder(model), [CONFIG, WEIGHTS, *shortlist])
            for model, shortlist in zip(models, shortlists, strict=True)
        ],
        **asdict(options),
    }


def _fingerprint(folder: Path, names: Sequence[str]) -> str:
    """Of the content of some files and the tokenizer's: models are small beside texts."""
    total = blake2b(digest_size=16)
    for path in sorted([*(folder / name for name in names), *tokenizer_files(folder / TOKENIZER)]):
        with path.open("rb") as file:
            total.update(f"{path.name} {file_digest(file, 'blake2b').hexdigest()}\n".encode())
    return total.hexdigest()


def worker(
    translator: Translator, options: Options, file: str, tell: Callable[[str], None]
) -> Work:
    """What translates a block of lines, or scores one.

    Args:
        translator: who does it
        options: how
        file: where the lines come from, for messages
        tell: is given what the reader of a text should know, when lines alone are printed
    """

    def work(first: int, rows: list[Row]) -> list[str]:
        lines, *second = ([*column] for column in zip(*rows, strict=True))
        try:
            if options.beside == "forced":
                found = translator.score(lines, second[0], options.length_penalty)
            else:
                found = translator.translate(
                    lines,
                    options.beam,
                    options.length_penalty,
                    options.nbest,
                    min_length=options.min_length,
                    max_length=options.max_length,
                    no_repeat=options.no_repeat,
                    sampling=_sampling(options, first),
                    prefixes=second[0] if second else None,
                    attention=options.attention,
                    strict=options.strict,
                )
        except LineError as error:
            raise MuteError(f"{file}:{first + error.index}: {error.reason}") from None
        if not options.as_json:
            for number, translation in enumerate(found, first):
                for warning in translation.warnings:
                    tell(f"mute: {file}:{number}: {warning}")
        return [_rendered(number, each, options) for number, each in enumerate(found, first)]

    return work


def _sampling(options: Options, first: int) -> Sampling | None:
    """With a seed that is the block's own, whichever process translates it."""
    if not options.sample:
        return None
    seed = seed_of(options.seed, first)
    return Sampling(options.temperature, options.top_k, options.top_p, seed)


def _rendered(number: int, translation: Translation, options: Options) -> str:
    if options.as_json:
        return render.as_json(translation, attention=options.attention)
    if options.beside == "forced":
        return render.as_score(translation)
    if options.nbest > 1:
        return render.as_nbest(number, translation)
    return render.as_text(translation)
