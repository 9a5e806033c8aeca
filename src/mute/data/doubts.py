"""What makes one doubt that a text is what its config says: told, since scores then mean little."""

from collections.abc import Iterable, Iterator
from itertools import islice

from mute.config import DataConfig, ParallelText
from mute.data.bpe import GOES_ON
from mute.data.corpus import Pair, read_pairs, side_names, sides_with_tabs, told
from mute.data.report import CorpusReport, DevReport, Report

_HEAD = 10_000
"""So many pairs of each text are looked at for its languages."""
_CUT = 0.05
"""Such a share of different words that go on in the next is no accident."""
_SHARED = 0.1
"""Such a share of the development text in the training text is worth a word."""

Words = tuple[set[str], set[str]]
"""Of source and target."""


class Overlap:
    """Which pairs of a small text are also in a large one, of which nothing is kept."""

    def __init__(self, small: Iterable[Pair]) -> None:
        self._small = {pair[1:] for pair in small}
        self._met = set[tuple[str, str]]()

    def look_at(self, large: Iterable[Pair]) -> None:
        """Look through some more of the large text."""
        self._met |= self._small.intersection(pair[1:] for pair in large)

    def count(self, small: Iterable[Pair]) -> int:
        """How many pairs of the small text have been met."""
        return sum(pair[1:] in self._met for pair in small)


def doubts(config: DataConfig, report: Report) -> list[str]:
    """Sentences about what looks wrong in the text of a config and its otherwise full report."""
    heads = [(text, _words(text)) for text in (*config.train, config.dev)]
    *training, dev = heads
    return [
        *(doubt for text, _ in heads for doubt in _of_tabs(text)),
        *(doubt for each in (*report.corpora, report.dev) if each for doubt in _of_copies(each)),
        *(doubt for head in heads for doubt in _of_pieces(*head)),
        *(doubt for head in training for doubt in _of_order(dev, head)),
        *(_of_overlap(report.dev) if report.dev else ()),
    ]


def _of_tabs(text: ParallelText) -> Iterator[str]:
    for name in sides_with_tabs(text):
        yield (
            f"{name}: is read as sentences of one side, but most of its lines have a tab; if that "
            f"stands between source and target, write 'tsv: {name}' in place of the two files"
        )


def _of_copies(text: CorpusReport | DevReport) -> Iterator[str]:
    if 2 * text.copies > text.read:
        yield (
            f"{text.name}: {text.copies:,} of {text.read:,} pairs have the same sentence as source "
            f"and target; name the translation as one of them"
        )


def _of_pieces(text: ParallelText, words: Words) -> Iterator[str]:
    sides = zip(side_names(text), words, strict=True)
    for name in dict.fromkeys(name for name, of_side in sides if _is_cut(of_side)):
        yield (
            f"{name}: many words end in '{GOES_ON}', as if BPE had cut the text already; undo "
            f"that, by: sed -E 's/{GOES_ON}( |$)//g'"
        )


def _is_cut(words: set[str]) -> bool:
    return sum(word.endswith(GOES_ON) for word in words) > _CUT * len(words)


def _of_order(dev: tuple[ParallelText, Words], train: tuple[ParallelText, Words]) -> Iterator[str]:
    (dev_text, (dev_source, dev_target)), (text, (source, target)) = dev, train
    straight = len(dev_source & source) + len(dev_target & target)
    crossed = len(dev_source & target) + len(dev_target & source)
    if crossed > straight:
        yield (
            f"{told(side_names(dev_text))}: source and target look swapped, by the words of "
            f"{told(side_names(text))}; swap the two sides of one of the texts"
        )


def _of_overlap(dev: DevReport) -> Iterator[str]:
    if dev.in_train >= _SHARED * dev.read:
        yield (
            f"{dev.name}: {dev.in_train:,} of {dev.read:,} pairs are also in data.train, so that "
            f"scores on them say little; take them out of one of the two"
        )


def _words(text: ParallelText) -> Words:
    """The words of source and target; of a sentence without spaces, the characters."""
    words = set[str](), set[str]()
    for pair in islice(read_pairs(text), _HEAD):
        if isinstance(pair, Pair):
            for side, sentence in zip(words, pair[1:], strict=True):
                side.update(sentence.split() if " " in sentence else sentence)
    return words
