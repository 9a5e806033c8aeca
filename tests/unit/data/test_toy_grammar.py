from dataclasses import replace

import pytest

from mute.data.toy import lexicon
from mute.data.toy.english import english, english_number
from mute.data.toy.german import german, german_nominal, german_number
from mute.data.toy.syntax import Attached, Clause, Nominal, NounPhrase, Phrase, Sentence
from mute.data.toy.wordclasses import Adjective, Adverb, Case, Link, Noun, Verb


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


def being(subject: Nominal, quality: str) -> Clause:
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


def joined(link: Link, *, ahead: bool = False) -> Sentence:
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
def test_german_cases(nominal: Nominal, forms: str) -> None:
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
