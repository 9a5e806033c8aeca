from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest

from mute.config import DataConfig, ParallelText, TokenizerConfig
from mute.data.corpus import Pair
from mute.data.doubts import Overlap, doubts
from mute.data.report import CorpusReport, DevReport, Report

from .sentences import pairs, sentences


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """36 sentences in each of three languages; all but the last four are train."""
    monkeypatch.chdir(tmp_path)
    for language in ("en", "de", "zh"):
        write(f"train.{language}", sentences(language)[:-4])
        write(f"dev.{language}", sentences(language)[-4:])


def write(name: str, lines: list[str]) -> None:
    Path(name).write_bytes("".join(f"{line}\n" for line in lines).encode())


def text(source: str, target: str) -> ParallelText:
    return ParallelText(source=source, target=target)


def about(
    train: ParallelText | None = None,
    dev: ParallelText | None = None,
    *,
    copies: tuple[int, int] = (0, 0),
    in_train: int = 0,
    too_long: int = 0,
    target: str = "de",
    kind: Literal["sentencepiece", "moses-bpe"] = "sentencepiece",
) -> list[str]:
    """The doubts about texts and about a report of 100 pairs each."""
    config = DataConfig(
        source="en",
        target=target,
        prepared="out",
        train=[train or text("train.en", "train.de")],
        dev=dev or text("dev.en", "dev.de"),
        tokenizer=TokenizerConfig(kind=kind),
    )
    corpora = [CorpusReport(source="train.en", target="train.de", read=100, copies=copies[0])]
    of_dev = DevReport(
        source="dev.tsv",
        target="dev.tsv",
        read=100,
        copies=copies[1],
        in_train=in_train,
        too_long=too_long,
    )
    return doubts(config, Report(corpora=corpora, sides=[], dev=of_dev))


def test_sound_text_raises_no_doubt() -> None:
    assert about(copies=(50, 50), in_train=9) == []
    write("pairs.tsv", ["\t".join(pair) for pair in pairs("en", "de")])
    assert about(ParallelText(tsv="pairs.tsv")) == []


def test_dev_that_is_in_train_is_told() -> None:
    (doubt,) = about(in_train=10)
    assert doubt.startswith("dev.tsv: 10 of 100 pairs are also in data.train, so that scores")


def test_a_text_that_is_no_translation_is_told() -> None:
    train, dev = about(copies=(51, 100))
    assert train.startswith("train.en and train.de: 51 of 100 pairs have the same sentence as")
    assert dev.startswith("dev.tsv: 100 of 100 pairs have the same")


@pytest.mark.parametrize("target", ["de", "zh"])
def test_swapped_sides_are_told(target: str) -> None:
    train, swapped = text("train.en", f"train.{target}"), text(f"dev.{target}", "dev.en")
    (doubt,) = about(train, swapped, target=target)
    assert doubt.startswith(f"dev.{target} and dev.en: source and target look swapped, by the")
    assert f"train.en and train.{target}; swap the two sides" in doubt
    assert about(train, text("dev.en", f"dev.{target}"), target=target) == []


def test_a_file_with_both_sides_is_named_once() -> None:
    write("train.tsv", ["\t".join(pair) for pair in pairs("en", "de")[:-4]])
    write("dev.tsv", ["\t".join(pair) for pair in pairs("de", "en")[-4:]])
    (doubt,) = about(ParallelText(tsv="train.tsv"), ParallelText(tsv="dev.tsv"))
    assert doubt.startswith("dev.tsv: source and target look swapped, by the words of train.tsv; ")


def test_swapped_sides_are_told_where_neither_has_spaces() -> None:
    write("train.ja", ["犬がいる。", "子供がいる。"])
    write("train.zh", ["有一只狗。", "有一个孩子。"])
    write("dev.ja", ["猫がいる。"])
    write("dev.zh", ["有一只猫。"])
    (doubt,) = about(text("train.ja", "train.zh"), text("dev.zh", "dev.ja"))
    assert "look swapped" in doubt


def test_both_sides_in_a_file_for_one_are_told() -> None:
    both = ["\t".join(pair) for pair in pairs("en", "de")[:-4]]
    write("both.txt", both)
    write("half.txt", both[:16] + sentences("en")[16:-4])
    (doubt,) = about(text("both.txt", "train.de"))
    assert doubt.startswith("both.txt: is read as sentences of one side, but most of its lines")
    assert "write 'tsv: both.txt'" in doubt
    assert about(text("half.txt", "train.de")) == []
    both_references = ParallelText(source="dev.en", target=["dev.de", "both.txt"])
    assert about(dev=both_references) == [doubt]


def test_the_overlap_is_counted_over_all_of_the_text() -> None:
    small = [Pair(1, "a", "b"), Pair(2, "c", "d"), Pair(3, "a", "b"), Pair(4, "b", "a")]
    overlap = Overlap(small)
    assert overlap.count(small) == 0
    overlap.look_at([Pair(7, "a", "b"), Pair(8, "a", "d")])
    overlap.look_at([Pair(9, "a", "b"), Pair(10, "c", "x")])
    assert overlap.count(small) == 2


def test_text_that_bpe_has_cut_is_told() -> None:
    write("train.de", ["ein hu@@ nd", "eine kat@@ ze"] * 16)
    (doubt,) = about()
    assert doubt.startswith("train.de: many words end in '@@', as if BPE had cut the text already")


@pytest.mark.parametrize("cut", ["a d@@ og\tein hu@@ nd", "a dog\tein hu@@ nd"])
def test_a_file_with_both_sides_that_bpe_has_cut_is_told_once(cut: str) -> None:
    write("train.tsv", [cut] * 16)
    (doubt,) = about(ParallelText(tsv="train.tsv"))
    assert doubt.startswith("train.tsv: many words end in '@@'")


def test_pairs_that_no_loss_is_computed_of_are_told() -> None:
    (doubt,) = about(too_long=2)
    assert doubt.startswith("dev.tsv: 2 of 100 pairs have more than 2,048 pieces on a side; the")


def test_a_language_that_is_not_what_its_code_says_is_told() -> None:
    write("train.zh", [f"{each}{each}{each}" for each in sentences("zh")[:-4]])
    train, dev = text("train.en", "train.zh"), text("dev.en", "dev.zh")
    (doubt,) = about(train, dev, target="cn")
    assert doubt.startswith("train.zh: most sentences have no space, but cn (data.target) is taken")
    assert about(train, dev, target="zh") == []


def test_text_that_moses_cannot_put_together_again_is_told() -> None:
    assert about(kind="moses-bpe") == []
    decomposed = [normalize("NFD", "Für Müller wäre schöner Käse nötig.")] * 4
    write("dev.de", decomposed)
    (doubt,) = about(kind="moses-bpe")
    assert doubt.startswith("dev.de: Moses' tokenizer changes 4 of 4 sentences when it takes them")
    assert about(kind="sentencepiece") == []


def test_a_weight_that_duplicates_lose_is_told() -> None:
    corpora = [CorpusReport(source=name, target=name) for name in ("large.tsv", "small.tsv")]
    corpora[1].add([(1, "duplicate"), (2, "duplicate")], kept=0)
    large, small = text("train.en", "train.de"), text("train.en", "train.de")
    small = small.model_copy(update={"weight": 10})
    config = DataConfig(
        source="en", target="de", prepared="out", train=[large, small], dev=text("dev.en", "dev.de")
    )
    (doubt,) = doubts(config, Report(corpora=corpora, sides=[]))
    assert doubt.startswith("small.tsv: 2 of its pairs are left out as duplicates, most likely of")
    level = config.model_copy(update={"train": [large, large]})
    assert doubts(level, Report(corpora=corpora, sides=[])) == []
