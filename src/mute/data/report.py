"""What `mute prepare` tells about the data it made."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, Field, computed_field
from rich.console import Group
from rich.markup import escape
from rich.table import Column, Table

from mute.data.corpus import Reason, told
from mute.errors import MuteError

FILE = "report.json"
LONGEST_IN_LOSS = 2048
"""Development pairs with more pieces on a side are left out of the loss, since the memory that
attention needs grows with the square of them."""
LISTED_LINES = 1000
"""So many line numbers are listed for each corpus and reason; the counts are always complete."""


class Dropped(BaseModel):
    """The pairs left out of a corpus for one reason."""

    count: int = 0
    lines: list[int] = []
    """The first of their line numbers, `LISTED_LINES` at most."""


class _TextReport(BaseModel):
    """What was read of one text."""

    source: str
    target: str
    read: int = 0
    copies: int = 0
    """Pairs whose two sides are equal."""

    @property
    def name(self) -> str:
        """Its files, or its file."""
        return told((self.source, self.target))


class DevReport(_TextReport):
    """The development text, of which every line is a pair and kept."""

    in_train: int = 0
    """Pairs that are also in the training text."""
    too_long: int = 0
    """Pairs with more than `LONGEST_IN_LOSS` pieces on a side."""


class CorpusReport(_TextReport):
    """What became of one corpus of the training text."""

    kept: int = 0
    dropped: dict[Reason, Dropped] = {}

    def add(self, drops: Iterable[tuple[int, Reason]], kept: int) -> None:
        """Count in some pairs: those left out, by line and reason, and how many were kept."""
        for line, reason in drops:
            dropped = self.dropped.setdefault(reason, Dropped())
            dropped.count += 1
            self.read += 1
            if len(dropped.lines) < LISTED_LINES:
                dropped.lines.append(line)
        self.read += kept
        self.kept += kept


class SideReport(BaseModel):
    """One language of the training text that was kept."""

    language: str
    vocabulary: int
    words: int = 0
    """Between spaces; in Chinese, Japanese, Thai and others that have none, characters."""
    pieces: int = 0
    unknown: int = 0

    def add(self, words: int, pieces: int, unknown: int) -> None:
        """Count in some more text."""
        self.words += words
        self.pieces += pieces
        self.unknown += unknown

    @computed_field  # type: ignore[prop-decorator]
    @property
    def pieces_per_word(self) -> float:
        """How finely the tokenizer cuts."""
        return round(self.pieces / max(1, self.words), 4)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def unknown_share(self) -> float:
        """How much of the text the vocabulary cannot write."""
        return round(self.unknown / max(1, self.pieces), 6)


class Report(BaseModel):
    """The numbers of one prepared folder, kept in it as `report.json`."""

    corpora: list[CorpusReport]
    sides: list[SideReport]
    dev: DevReport | None = None
    """None in folders that were made before it was reported."""
    warnings: list[str] = []
    """What looks as if it were not meant."""
    reused: bool = Field(default=False, exclude=True)
    """Whether nothing had changed, so that an earlier run's work was left as it is."""

    @property
    def kept(self) -> int:
        """Training pairs, all corpora together."""
        return sum(corpus.kept for corpus in self.corpora)

    def reasons(self) -> str:
        """Why pairs were dropped, all corpora together, in one line."""
        counts = Counter[str]()
        for corpus in self.corpora:
            counts.update({why: dropped.count for why, dropped in corpus.dropped.items()})
        return counted(counts)

    def save(self, folder: Path) -> None:
        """Write the report into a prepared folder."""
        (folder / FILE).write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> "Report":
        """Read the report of a prepared folder."""
        try:
            return cls.model_validate_json((folder / FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not UTF-8, or not a report
            raise MuteError(
                f"{folder / FILE}: missing or damaged; delete the folder and prepare it again"
            ) from None


def counted(reasons: Counter[str]) -> str:
    """Reasons with how often each applied, in one line; 'no text' without any."""
    return ", ".join(f"{count:,} {why}" for why, count in reasons.most_common()) or "no text"


def render(report: Report) -> Group:
    """The report as tables for people."""
    text = Table(_whole("corpus"), "read", "kept", "dropped")
    for corpus in report.corpora:
        reasons = "\n".join(f"{each.count:,} {why}" for why, each in corpus.dropped.items())
        text.add_row(_files(corpus), f"{corpus.read:,}", f"{corpus.kept:,}", reasons or "none")
    pieces = Table("language", "vocabulary", "pieces", "pieces per word", "unknown")
    for side in report.sides:
        pieces.add_row(
            escape(side.language),
            f"{side.vocabulary:,}",
            f"{side.pieces:,}",
            f"{side.pieces_per_word:.2f}",
            f"{side.unknown_share:.3%}",
        )
    return Group(text, *([_dev_table(report.dev)] if report.dev else []), pieces)


def _dev_table(dev: DevReport) -> Table:
    table = Table(_whole("development text"), "pairs", "also in the training text")
    table.add_row(_files(dev), f"{dev.read:,}", f"{dev.in_train:,}")
    return table


def _whole(head: str) -> Column:
    """A column of paths, whose ends may be all that they differ in."""
    return Column(head, overflow="fold")


def _files(text: _TextReport) -> str:
    return escape("\n".join(dict.fromkeys((text.source, text.target))))
