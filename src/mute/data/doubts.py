"""What makes one doubt that a text is what its config says: told, since scores then mean little."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from mute.config import DataConfig, ParallelText
from mute.data.bpe import GOES_ON
from mute.data.corpus import Pair, read_pairs, side_names, sides_with_tabs, told
from mute.data.report import LONGEST_IN_LOSS, CorpusReport, DevReport, Report
from mute.data.words import MosesWords, words_of
from mute.languages import writes_spaces

_HEAD = 10_000
"""So many pairs of each text are looked at for its languages."""
_CUT = 0.05
"""Such a share of different words that go on in the next is no accident."""
_SHARED = 0.1
"""Such a share of the development text in the training text is worth a word."""
_REJOINED = 1000
"""So many sentences of the development text are taken apart and joined again."""
_REWRITTEN = 0.25
"""Such a share of sentences that are not what they were when their words are joined again."""
_SENTENCE = 20
"""Characters of which a language with spaces between its words has one, nearly always."""


class Head(NamedTuple):
    """What the first pairs of a text are made of, for source and target."""

    text: ParallelText
    words: tuple[set[str], set[str]]
    """Of a sentence without spaces, the characters."""
    unspaced: tuple[bool, bool]
    """Whether most sentences are without a space."""


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


_REMEDIES = {"too long": "raise data.max_length", "length ratio": "raise data.max_ratio"}
"""What keeps pairs that are left out for a reason; for the others, to mend them."""


def doubts(config: DataConfig, report: Report) -> list[str]:
    """Sentences about what looks wrong in the text of a config and its otherwise full report."""
    heads = [_head(text) for text in (*config.train, config.dev)]
    *training, dev = heads
    return [
        *(doubt for head in heads for doubt in _of_tabs(head.text)),
        *(doubt for each in (*report.corpora, report.dev) if each for doubt in _of_copies(each)),
        *(doubt for corpus in report.corpora for doubt in _of_drops(corpus)),
        *(doubt for head in heads for doubt in _of_pieces(head)),
        *(doubt for head in training for doubt in _of_order(dev, head)),
        *_of_language(config, training[0]),
        *_of_rewriting(config),
        *_of_weights(config, report),
        *(_of_overlap(report.dev) if report.dev else ()),
        *(_of_length(report.dev) if report.dev else ()),
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


def _of_drops(corpus: CorpusReport) -> Iterator[str]:
    """Of a text most of whose pairs are left out, though they are not there twice."""
    counts = {reason: each.count for reason, each in corpus.dropped.items()}
    counts.pop("duplicate", None)
    if 2 * (total := sum(counts.values())) > corpus.read:
        reason = max(counts, key=counts.__getitem__)
        remedy = _REMEDIES.get(reason, "mend the text")
        yield (
            f"{corpus.name}: {total:,} of {corpus.read:,} pairs are left out, {counts[reason]:,} "
            f"of them for '{reason}'; if that is not meant, {remedy}"
        )


def _of_pieces(head: Head) -> Iterator[str]:
    sides = zip(side_names(head.text), head.words, strict=True)
    for name in dict.fromkeys(name for name, of_side in sides if _is_cut(of_side)):
        yield (
            f"{name}: many words end in '{GOES_ON}', as if BPE had cut the text already; undo "
            f"that, by: sed -E 's/{GOES_ON}( |$)//g'"
        )


def _is_cut(words: set[str]) -> bool:
    return sum(word.endswith(GOES_ON) for word in words) > _CUT * len(words)


def _of_order(dev: Head, train: Head) -> Iterator[str]:
    (dev_source, dev_target), (source, target) = dev.words, train.words
    straight = len(dev_source & source) + len(dev_target & target)
    crossed = len(dev_source & target) + len(dev_target & source)
    if crossed > straight:
        yield (
            f"{told(side_names(dev.text))}: source and target look swapped, by the words of "
            f"{told(side_names(train.text))}; swap the two sides of one of the texts"
        )


def _of_overlap(dev: DevReport) -> Iterator[str]:
    if dev.in_train >= _SHARED * dev.read:
        yield (
            f"{dev.name}: {dev.in_train:,} of {dev.read:,} pairs are also in data.train, so that "
            f"scores on them say little; take them out of one of the two"
        )


def _of_language(config: DataConfig, head: Head) -> Iterator[str]:
    sides = zip(("source", "target"), side_names(head.text), head.unspaced, strict=True)
    for side, name, unspaced in sides:
        code = getattr(config, side)
        if unspaced and writes_spaces(code) and not config.tokenizer.pretokenized:
            yield (
                f"{name}: most sentences have no space, but {code} (data.{side}) is taken for a "
                f"language that has; correct the code, on which words and scores depend (Chinese "
                f"is zh, Japanese ja)"
            )


def _of_rewriting(config: DataConfig) -> Iterator[str]:
    """Of text that cannot come out as it went in, however well it is translated."""
    if config.tokenizer.kind != "moses-bpe":
        return
    words = words_of(config.target, config.tokenizer)
    if not isinstance(words, MosesWords):
        return
    name = side_names(config.dev)[1]
    pairs = islice(read_pairs(config.dev), _REJOINED)
    sentences = [" ".join(pair.target.split()) for pair in pairs if isinstance(pair, Pair)]
    changed = [each for each in sentences if words.join(words.split(each)) != each]
    if len(changed) > _REWRITTEN * len(sentences):
        yield (
            f"{name}: Moses' tokenizer changes {len(changed):,} of {len(sentences):,} sentences "
            f"when it takes them apart and joins them again, which no translation can make up for "
            f"(their signs, quotation marks or composed letters are not its own); use "
            f"data.tokenizer.kind: sentencepiece"
        )


def _of_weights(config: DataConfig, report: Report) -> Iterator[str]:
    for number, (text, corpus) in enumerate(zip(config.train, report.corpora, strict=True)):
        lower = any(earlier.weight < text.weight for earlier in config.train[:number])
        if lower and (repeated := corpus.dropped.get("duplicate")):
            yield (
                f"{corpus.name}: {repeated.count:,} of its pairs are left out as duplicates, most "
                f"likely of an earlier text with a smaller weight, which they now have; list the "
                f"text with the larger weight first"
            )


def _of_length(dev: DevReport) -> Iterator[str]:
    if dev.too_long:
        yield (
            f"{dev.name}: {dev.too_long:,} of {dev.read:,} pairs have more than "
            f"{LONGEST_IN_LOSS:,} pieces on a side; the loss on the development set leaves them "
            f"out, BLEU counts them. Cut them into sentences"
        )


def _head(text: ParallelText) -> Head:
    words = set[str](), set[str]()
    lengthy, unspaced = Counter[int](), Counter[int]()
    for pair in islice(read_pairs(text), _HEAD):
        if isinstance(pair, Pair):
            for side, sentence in enumerate((pair.source, pair.target)):
                spaced = " " in sentence.strip()
                words[side].update(sentence.split() if spaced else sentence)
                lengthy[side] += len(sentence) >= _SENTENCE
                unspaced[side] += len(sentence) >= _SENTENCE and not spaced
    most = (2 * unspaced[0] > lengthy[0], 2 * unspaced[1] > lengthy[1])
    return Head(text, words, most)
