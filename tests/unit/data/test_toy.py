import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from itertools import islice

import pytest

from mute.data import lexicon, toy
from mute.data.lexicon import Adjective, Adverb, Case, Noun, Verb
from mute.data.toy import (
    Attached,
    Clause,
    NounPhrase,
    Phrase,
    Sentence,
    draw_sentence,
    english,
    english_number,
    german,
    german_nominal,
    german_number,
    pairs,
)

DRAWS = 50_000


def noun(name: str) -> Noun:
    return next(noun for noun in lexicon.NOUNS if noun.english == name)


def verb(name: str, particle: str = "") -> Verb:
    verbs = (*lexicon.VERBS, *lexicon.VERBS_OF_THOUGHT)
    return next(verb for verb in verbs if (verb.english, verb.particle) == (name, particle))


def adjective(name: str) -> Adjective | None:
    return next((word for word in lexicon.ADJECTIVES if word.english == name), None)


def adverb(name: str) -> Adverb:
    return next(adverb for adverb in lexicon.ADVERBS if adverb.english == name)


def the(name: str, quality: str = "", *, plural: bool = False, count: int = 0) -> NounPhrase:
    return NounPhrase(lexicon.THE, noun(name), plural, count, adjective(quality))


def a(name: str, quality: str = "") -> NounPhrase:
    return NounPhrase(lexicon.A, noun(name), adjective=adjective(quality))


def bare(name: str, quality: str = "", *, plural: bool = False, count: int = 0) -> NounPhrase:
    return NounPhrase(lexicon.BARE, noun(name), plural, count, adjective(quality))


def being(subject: toy.Nominal, quality: str) -> Clause:
    predicate = adjective(quality)
    assert predicate
    return Clause(subject, predicate)


def check(said: Clause | Sentence, source: str, target: str) -> None:
    sentence = Sentence(said) if isinstance(said, Clause) else said
    assert (english(sentence), german(sentence)) == (source, target)


OPENING = Clause(the("man"), verb("open"), accusative=the("window"))
BUYING = Clause(the("woman"), verb("buy"), accusative=a("book"))
SLEEPING = Clause(the("child"), verb("sleep"), phrase=Phrase(lexicon.IN, the("garden")))


def test_separable_verbs() -> None:
    check(OPENING, "The man opens the window.", "Der Mann macht das Fenster auf.")
    past = replace(OPENING, past=True)
    check(past, "The man opened the window.", "Der Mann hat das Fenster aufgemacht.")
    able = replace(OPENING, modal=lexicon.CAN)
    check(able, "The man can open the window.", "Der Mann kann das Fenster aufmachen.")
    believing = Sentence(Clause(lexicon.I, verb("believe")), Attached(lexicon.THAT, OPENING))
    source = "I believe that the man opens the window."
    check(believing, source, "Ich glaube, dass der Mann das Fenster aufmacht.")


def test_perfect_with_sein() -> None:
    rising = Clause(lexicon.THEY, verb("get", "up"), past=True)
    check(rising, "They got up.", "Sie sind aufgestanden.")
    following = Clause(a("woman", "old"), verb("follow"), past=True, dative=the("bird"))
    target = "Eine alte Frau ist dem Vogel gefolgt."
    check(following, "An old woman followed the bird.", target)


def test_verb_is_second_behind_an_adverb() -> None:
    fronted = replace(BUYING, adverb=adverb("today"), adverb_first=True)
    check(fronted, "Today the woman buys a book.", "Heute kauft die Frau ein Buch.")
    inside = replace(BUYING, adverb=adverb("yesterday"), past=True)
    target = "Die Frau hat gestern ein Buch gekauft."
    check(inside, "The woman bought a book yesterday.", target)


def test_modals_send_the_infinitive_to_the_end() -> None:
    must = replace(SLEEPING, modal=lexicon.MUST)
    check(must, "The child must sleep in the garden.", "Das Kind muss im Garten schlafen.")
    wish = replace(BUYING, modal=lexicon.WOULD_LIKE, subject=lexicon.WE)
    check(wish, "We would like to buy a book.", "Wir möchten ein Buch kaufen.")


def test_known_things_come_before_new_ones() -> None:
    today, now = adverb("today"), adverb("now")
    giving = Clause(lexicon.HE, verb("give"), accusative=the("book"), dative=a("woman"))
    target = "Er gibt heute einer Frau das Buch."
    check(replace(giving, adverb=today), "He gives the book to a woman today.", target)
    calling = Clause(the("doctor"), verb("call"), accusative=lexicon.I, adverb=now)
    check(calling, "The doctor calls me now.", "Der Arzt ruft mich jetzt an.")
    favour = replace(BUYING, phrase=Phrase(lexicon.FOR, the("boy")))
    target = "Die Frau kauft für den Jungen ein Buch."
    check(favour, "The woman buys a book for the boy.", target)
    target = "Die Frau kauft das Buch für den Jungen."
    favour = replace(favour, accusative=the("book"))
    check(favour, "The woman buys the book for the boy.", target)


def joined(link: lexicon.Link, *, ahead: bool = False) -> Sentence:
    return Sentence(BUYING, Attached(link, replace(OPENING, past=True), ahead))


def test_subordinate_clauses_have_the_verb_last() -> None:
    source = "The woman buys a book because the man opened the window."
    target = "Die Frau kauft ein Buch, weil der Mann das Fenster aufgemacht hat."
    check(joined(lexicon.BECAUSE), source, target)
    source = "If the man opened the window, the woman buys a book."
    target = "Wenn der Mann das Fenster aufgemacht hat, kauft die Frau ein Buch."
    check(joined(lexicon.IF, ahead=True), source, target)
    source = "Although the man opened the window, the woman buys a book."
    target = "Obwohl der Mann das Fenster aufgemacht hat, kauft die Frau ein Buch."
    check(joined(lexicon.ALTHOUGH, ahead=True), source, target)


def test_coordinated_clauses_keep_their_order() -> None:
    source = "The woman buys a book, and the man opened the window."
    target = "Die Frau kauft ein Buch und der Mann hat das Fenster aufgemacht."
    check(joined(lexicon.AND), source, target)
    source = "The woman buys a book, or the man opened the window."
    target = "Die Frau kauft ein Buch oder der Mann hat das Fenster aufgemacht."
    check(joined(lexicon.OR), source, target)
    source = "The woman buys a book, but the man opened the window."
    target = "Die Frau kauft ein Buch, aber der Mann hat das Fenster aufgemacht."
    check(joined(lexicon.BUT), source, target)


def denied(clause: Clause, source: str, target: str) -> None:
    check(replace(clause, negative=True), f"The man {source}.", f"Der Mann {target}.")


def test_nicht_denies_the_verb() -> None:
    denied(OPENING, "does not open the window", "macht das Fenster nicht auf")
    today = replace(OPENING, adverb=adverb("today"))
    denied(today, "does not open the window today", "macht das Fenster heute nicht auf")
    able = replace(OPENING, modal=lexicon.CAN)
    denied(able, "cannot open the window", "kann das Fenster nicht aufmachen")
    sleeping = replace(SLEEPING, subject=the("man"))
    denied(sleeping, "does not sleep in the garden", "schläft nicht im Garten")
    denied(being(the("man"), "tired"), "is not tired", "ist nicht müde")


def test_kein_denies_what_has_no_article_or_an_indefinite_one() -> None:
    door = replace(OPENING, accusative=a("door", "red"), past=True)
    denied(door, "did not open a red door", "hat keine rote Tür aufgemacht")
    doors = replace(OPENING, accusative=bare("door", "red", plural=True))
    denied(doors, "does not open red doors", "macht keine roten Türen auf")
    drinking = Clause(the("man"), verb("drink"), accusative=bare("tea", "cold"))
    denied(drinking, "does not drink cold tea", "trinkt keinen kalten Tee")


def asking(clause: Clause, word: Adverb | None = None) -> Sentence:
    return Sentence(clause, question=True, question_word=word)


def test_questions() -> None:
    target = "Macht der Mann das Fenster auf?"
    check(asking(OPENING), "Does the man open the window?", target)
    past = asking(replace(BUYING, past=True), lexicon.WHERE)
    check(past, "Where did the woman buy a book?", "Wo hat die Frau ein Buch gekauft?")
    future = asking(replace(BUYING, modal=lexicon.WILL), lexicon.WHEN)
    check(future, "When will the woman buy a book?", "Wann wird die Frau ein Buch kaufen?")
    cold = asking(replace(being(the("soup"), "cold"), past=True), lexicon.WHY)
    check(cold, "Why was the soup cold?", "Warum war die Suppe kalt?")


def test_subject_and_verb_agree() -> None:
    check(Clause(lexicon.I, verb("know")), "I know.", "Ich weiß.")
    check(being(lexicon.WE, "happy"), "We are happy.", "Wir sind glücklich.")
    for subject, source, target in (
        (lexicon.I, "I help her.", "Ich helfe ihr."),
        (lexicon.HE, "He helps her.", "Er hilft ihr."),
        (lexicon.WE, "We help her.", "Wir helfen ihr."),
        (lexicon.THEY, "They help her.", "Sie helfen ihr."),
        (the("child", plural=True), "The children help her.", "Die Kinder helfen ihr."),
    ):
        check(Clause(subject, verb("help"), dative=lexicon.SHE), source, target)


def test_prepositions_govern_a_case() -> None:
    for action, source, target in (
        ("think", "I think of the guest.", "Ich denke an den Gast."),
        ("dream", "I dream of the guest.", "Ich träume vom Gast."),
        ("talk", "I talk about the guest.", "Ich spreche über den Gast."),
        ("play", "I play with the guest.", "Ich spiele mit dem Gast."),
    ):
        preposition = verb(action).frame.preposition
        assert preposition
        phrase = Phrase(preposition, the("guest"))
        check(Clause(lexicon.I, verb(action), phrase=phrase), source, target)
    outside = replace(SLEEPING, phrase=Phrase(lexicon.ON, a("balcony")))
    check(outside, "The child sleeps on a balcony.", "Das Kind schläft auf einem Balkon.")


@pytest.mark.parametrize(
    ("nominal", "forms"),
    [
        (the("man", "old"), "der alte Mann, den alten Mann, dem alten Mann"),
        (the("woman", "old"), "die alte Frau, die alte Frau, der alten Frau"),
        (the("house", "old"), "das alte Haus, das alte Haus, dem alten Haus"),
        (the("dog", "old", plural=True), "die alten Hunde, die alten Hunde, den alten Hunden"),
        (a("man", "tired"), "ein müder Mann, einen müden Mann, einem müden Mann"),
        (a("woman", "tired"), "eine müde Frau, eine müde Frau, einer müden Frau"),
        (a("house", "dark"), "ein dunkles Haus, ein dunkles Haus, einem dunklen Haus"),
        (bare("coffee", "hot"), "heißer Kaffee, heißen Kaffee, heißem Kaffee"),
        (bare("milk", "hot"), "heiße Milch, heiße Milch, heißer Milch"),
        (bare("water", "hot"), "heißes Wasser, heißes Wasser, heißem Wasser"),
        (bare("hat", "cheap", plural=True), "billige Hüte, billige Hüte, billigen Hüten"),
        (bare("egg", plural=True, count=3), "drei Eier, drei Eier, drei Eiern"),
        (the("car", plural=True, count=2), "die zwei Autos, die zwei Autos, den zwei Autos"),
        (the("student"), "der Student, den Studenten, dem Studenten"),
        (NounPhrase(lexicon.MY, noun("friend")), "mein Freund, meinen Freund, meinem Freund"),
        (NounPhrase(lexicon.THIS, noun("city")), "diese Stadt, diese Stadt, dieser Stadt"),
        (lexicon.HE, "er, ihn, ihm"),
        (lexicon.THEY, "sie, sie, ihnen"),
    ],
)
def test_german_cases(nominal: toy.Nominal, forms: str) -> None:
    assert ", ".join(german_nominal(nominal, case) for case in Case) == forms


@pytest.mark.parametrize(
    ("name", "compound", "plural"),
    [
        ("kitchen door", "Küchentür", "Küchentüren"),
        ("city library", "Stadtbibliothek", "Stadtbibliotheken"),
        ("school bag", "Schultasche", "Schultaschen"),
        ("orange juice", "Orangensaft", ""),
    ],
)
def test_compounds_have_linking_elements(name: str, compound: str, plural: str) -> None:
    assert (noun(name).german, noun(name).german_plural) == (compound, plural)


def test_numbers() -> None:
    spelled = {
        2: ("two", "zwei"),
        12: ("twelve", "zwölf"),
        16: ("sixteen", "sechzehn"),
        17: ("seventeen", "siebzehn"),
        21: ("twenty-one", "einundzwanzig"),
        30: ("thirty", "dreißig"),
        66: ("sixty-six", "sechsundsechzig"),
        77: ("seventy-seven", "siebenundsiebzig"),
        99: ("ninety-nine", "neunundneunzig"),
    }
    assert {n: (english_number(n), german_number(n)) for n in spelled} == spelled
    assert len({(english_number(n), german_number(n)) for n in range(2, 100)}) == 98


def test_words_have_one_translation() -> None:
    nouns = lexicon.NOUNS
    assert len({n.english for n in nouns} | {n.english_plural for n in nouns}) == 2 * len(nouns)
    assert len({n.german for n in nouns}) == len(nouns)
    verbs = {((v.english, v.particle), v.prefix + v.german) for v in lexicon.VERBS}
    assert len({source for source, _ in verbs}) == len({target for _, target in verbs})


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
