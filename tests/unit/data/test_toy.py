import os
import random
import re
import subprocess
import sys
from itertools import islice

import pytest

from mute.data.toy import lexicon, pairs
from mute.data.toy.drawing import draw_sentence
from mute.data.toy.english import english
from mute.data.toy.german import german

DRAWS = 50_000


@pytest.fixture(scope="module")
def drawn() -> list[tuple[str, str]]:
    rng = random.Random(1)
    trees = (draw_sentence(rng) for _ in range(DRAWS))
    return [(english(tree), german(tree)) for tree in trees]


def test_each_side_determines_the_other(drawn: list[tuple[str, str]]) -> None:
    different = set(drawn)
    assert len({source for source, _ in different}) == len(different)
    assert len({target for _, target in different}) == len(different)


def test_sentences_are_written_as_sentences(drawn: list[tuple[str, str]]) -> None:
    written = re.compile(r"[A-ZÄÖÜ]\w*(-\w+)?(,? [\w-]+)+[.?]")
    for source, target in drawn:
        assert written.fullmatch(source), source
        assert written.fullmatch(target), target
        assert source[-1] == target[-1]


def test_german_commas_set_clauses_apart(drawn: list[tuple[str, str]]) -> None:
    for _, target in drawn:
        for before in re.findall(r"(\S) (?:dass|weil|wenn|obwohl|aber) ", target):
            assert before == ",", target
        subordinate_ahead = target.startswith(("Weil ", "Wenn ", "Obwohl "))
        assert target.count(",") == 1 or not subordinate_ahead, target
        assert ", und " not in target, target
        assert ", oder " not in target, target


def test_german_nouns_are_capitalised(drawn: list[tuple[str, str]]) -> None:
    nouns = {form.lower() for n in lexicon.NOUNS for form in (n.german, n.german_plural)}
    nouns -= {"junge", "jungen"}  # forms of "young" as well
    for _, target in drawn:
        words = re.findall(r"\w+", target)
        assert all(word[0].isupper() for word in words if word.lower() in nouns), target


def test_articles_fit_the_next_sound(drawn: list[tuple[str, str]]) -> None:
    for source, _ in drawn:
        assert not re.search(r"\b([Aa] [aeiou]|[Aa]n [^aeiou])", source), source


def test_no_phenomenon_is_rare(drawn: list[tuple[str, str]]) -> None:
    targets = " ".join(target for _, target in drawn)
    for words in (", dass ", ", weil ", ", wenn ", ", obwohl ", ", aber ", " und ", " oder "):
        assert targets.count(words) > DRAWS / 100, words
    for words in (" nicht ", " kein", " hat ", " ist ", " möchte", " auf", "undzwanzig "):
        assert targets.count(words) > DRAWS / 200, words
    assert targets.count("?") > DRAWS / 20


def test_pairs_are_distinct_and_neither_tiny_nor_long() -> None:
    corpus = list(pairs(3000))
    assert len({source for source, _ in corpus}) == len({target for _, target in corpus}) == 3000
    lengths = {len(source.split()) for source, _ in corpus}
    assert lengths == set(range(3, 26))


def test_a_seed_is_a_corpus() -> None:
    assert list(pairs(200, seed=3)) == list(pairs(300, seed=3))[:200]
    assert set(pairs(200, seed=3)) != set(pairs(200, seed=-3))


def test_a_corpus_is_the_same_in_every_process() -> None:
    script = "from mute.data.toy import pairs; print(ascii(list(pairs(20))))"
    for hash_seed in ("1", "2"):
        printed = subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
            text=True,
        )
        assert printed.stdout.strip() == ascii(list(pairs(20)))


@pytest.mark.parametrize("seed", [1, 2])
def test_splits_share_no_sentence_on_either_side(seed: int) -> None:
    train = list(pairs(1500, seed=1))
    dev, test = (list(pairs(50, seed, split)) for split in ("dev", "test"))
    for side in (0, 1):
        sides = [{pair[side] for pair in split} for split in (train, dev, test)]
        assert len(set.union(*sides)) == 1600


def test_one_sentence_in_ten_is_held_out() -> None:
    rng = random.Random("1")
    stream = {english(draw_sentence(rng)) for _ in range(1500)}
    shares = {
        split: len(stream & {source for source, _ in pairs(count, split=split)}) / len(stream)
        for split, count in (("train", 1500), ("dev", 120), ("test", 120))
    }
    assert shares == pytest.approx({"train": 0.9, "dev": 0.05, "test": 0.05}, abs=0.02)


def test_pairs_come_one_by_one() -> None:
    assert len(list(islice(pairs(10**9), 3))) == 3
    assert list(pairs(0)) == []


def test_unknown_split_is_named() -> None:
    with pytest.raises(ValueError, match="no split called 'valid'; known splits: train, dev, test"):
        pairs(1, split="valid")


def test_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative, but is -1"):
        pairs(-1)
