"""The German rules of the embedded corpus."""

from dataclasses import replace
from typing import Literal

from mute.data.toy import lexicon
from mute.data.toy.syntax import Clause, Nominal, Phrase, Sentence, finish, words
from mute.data.toy.wordclasses import Adjective, Agreement, Case, Noun, Pronoun

_SMALL = (
    "null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn",
    "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn",
    "neunzehn",
)  # fmt: skip
_TENS = (
    "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig",
)  # fmt: skip
_CONTRACTIONS = {"in dem": "im", "von dem": "vom"}

Position = Literal["first", "second", "last"]
"""Where the finite verb of a German clause stands."""


def german_number(number: int) -> str:
    """A number from 2 to 99 in words, the ones before the tens."""
    if number < 20:
        return _SMALL[number]
    tens, ones = divmod(number, 10)
    return (f"{_SMALL[ones]}und" if ones else "") + _TENS[tens - 2]


def _noun(noun: Noun, case: Case, *, plural: bool) -> str:
    if plural:
        needs_n = case == Case.DATIVE and not noun.german_plural.endswith(("n", "s"))
        return noun.german_plural + ("n" if needs_n else "")
    return noun.german_plural if noun.weak and case != Case.NOMINATIVE else noun.german


def german_nominal(nominal: Nominal, case: Case) -> str:
    """A noun phrase or pronoun in a case."""
    if isinstance(nominal, Pronoun):
        return nominal.german[case]
    noun, determiner = nominal.noun, nominal.determiner
    agreement = Agreement.PLURAL if nominal.plural else noun.gender
    adjective = nominal.adjective
    return words(
        determiner.german + determiner.endings[case][agreement],
        german_number(nominal.count) if nominal.count else "",
        adjective.stem + determiner.adjective_endings[case][agreement] if adjective else "",
        _noun(noun, case, plural=nominal.plural),
    )


def _phrase(phrase: Phrase) -> str:
    preposition = phrase.preposition.german
    nominal = german_nominal(phrase.nominal, phrase.preposition.case)
    article, _, rest = nominal.partition(" ")
    contracted = _CONTRACTIONS.get(f"{preposition} {article}")
    return f"{contracted} {rest}" if contracted else f"{preposition} {nominal}"


def _conjugate(subject: Nominal, first: str, third: str, plural: str) -> str:
    if subject.plural:
        return plural
    return first if subject.first_person else third


def _verb(clause: Clause) -> tuple[str, str, str]:
    """The finite verb, what closes its clause, and both as one where the verb is last."""
    verb, subject = clause.predicate, clause.subject
    if isinstance(verb, Adjective):
        forms = ("war", "war", "waren") if clause.past else ("bin", "ist", "sind")
        finite, closing = _conjugate(subject, *forms), verb.german
    elif clause.modal:
        modal = clause.modal
        forms = (modal.german_first, modal.german_third, modal.german_plural)
        finite, closing = _conjugate(subject, *forms), verb.prefix + verb.german
    elif clause.past:
        forms = ("bin", "ist", "sind") if verb.perfect_with_sein else ("habe", "hat", "haben")
        finite, closing = _conjugate(subject, *forms), verb.prefix + verb.participle
    else:
        finite = _conjugate(subject, verb.german_first, verb.german_third, verb.german)
        return finite, verb.prefix, verb.prefix + finite
    return finite, closing, f"{closing} {finite}"


def _middle(clause: Clause) -> list[str]:
    """What stands between the finite verb and the close: pronouns first, then known before new."""
    pronouns: list[str] = []
    known: list[str] = []
    new = ""
    negation = "nicht" if clause.negative else ""
    for nominal, case in ((clause.dative, Case.DATIVE), (clause.accusative, Case.ACCUSATIVE)):
        if isinstance(nominal, Pronoun):
            pronouns.append(german_nominal(nominal, case))
        elif nominal and (nominal.determiner.definite or case == Case.DATIVE):
            known.append(german_nominal(nominal, case))
        elif nominal:
            denied = replace(nominal, determiner=lexicon.NO) if negation else nominal
            new, negation = german_nominal(denied, case), ""
    adverb = clause.adverb.german if clause.adverb and not clause.adverb_first else ""
    phrase = _phrase(clause.phrase) if clause.phrase else ""
    if negation:
        return [*pronouns, *known, adverb, negation, phrase]
    return [*pronouns, adverb, *known, phrase, new]


def _clause(clause: Clause, position: Position) -> str:
    subject = german_nominal(clause.subject, Case.NOMINATIVE)
    finite, closing, together = _verb(clause)
    middle = _middle(clause)
    if position == "last":
        return words(subject, *middle, together)
    if position == "second" and not clause.adverb_first:
        return words(subject, finite, *middle, closing)
    front = clause.adverb.german if clause.adverb and clause.adverb_first else ""
    return words(front, finite, subject, *middle, closing)


def german(sentence: Sentence) -> str:
    """A sentence in German."""
    attached = sentence.attached
    # A clause ahead is the first part of the sentence, so that the verb behind it is second.
    verb_first = sentence.question or (attached is not None and attached.ahead)
    main = _clause(sentence.clause, "first" if verb_first else "second")
    if sentence.question_word:
        main = words(sentence.question_word.german, main)
    if not attached:
        return finish(main, sentence)
    order: Position = "second" if attached.link.coordinates else "last"
    other = words(attached.link.german, _clause(attached.clause, order))
    if attached.ahead:
        return finish(f"{other}, {main}", sentence)
    comma = "" if attached.link in (lexicon.AND, lexicon.OR) else ","
    return finish(f"{main}{comma} {other}", sentence)
