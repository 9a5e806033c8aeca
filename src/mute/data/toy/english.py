"""The English rules of the embedded corpus."""

from mute.data.toy.syntax import Clause, Nominal, Sentence, finish, words
from mute.data.toy.wordclasses import Adjective, Pronoun

_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def english_number(number: int) -> str:
    """A number from 2 to 99 in words."""
    if number < 20:
        return _SMALL[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")


def english_nominal(nominal: Nominal, *, subject: bool = False) -> str:
    """A noun phrase or pronoun, which English inflects for being the subject only."""
    if isinstance(nominal, Pronoun):
        return nominal.english if subject else nominal.english_object
    determiner, noun = nominal.determiner.english, nominal.noun.english
    if nominal.plural:
        determiner, noun = nominal.determiner.english_plural, nominal.noun.english_plural
    number = english_number(nominal.count) if nominal.count else ""
    adjective = nominal.adjective.english if nominal.adjective else ""
    text = words(number, adjective, noun)
    if determiner == "a" and text[0] in "aeiou":
        determiner = "an"
    return words(determiner, text)


def _be(clause: Clause) -> str:
    if clause.subject.plural:
        return "were" if clause.past else "are"
    if clause.past:
        return "was"
    return "am" if clause.subject.first_person else "is"


def _verb(clause: Clause, *, inverted: bool) -> tuple[str, str]:
    """The auxiliary, if there is one, and the rest of the verb, which follows it."""
    verb, negation = clause.predicate, "not" if clause.negative else ""
    if isinstance(verb, Adjective):
        return words(_be(clause), negation), verb.english
    base = words(verb.english, verb.particle)
    if clause.modal:
        auxiliary = clause.modal.negative if clause.negative else clause.modal.english
        return auxiliary, words(clause.modal.complement, base)
    third = not (clause.subject.plural or clause.subject.first_person)
    if negation or inverted:
        return words("did" if clause.past else "does" if third else "do", negation), base
    inflected = verb.english_third if third else verb.english
    return "", words(verb.english_past if clause.past else inflected, verb.particle)


def _clause(clause: Clause, *, inverted: bool = False) -> str:
    subject = english_nominal(clause.subject, subject=True)
    auxiliary, rest = _verb(clause, inverted=inverted)
    parts = [auxiliary, subject, rest] if inverted else [subject, auxiliary, rest]
    if clause.accusative:
        parts.append(english_nominal(clause.accusative))
    if clause.dative:
        parts += ["to" if clause.accusative else "", english_nominal(clause.dative)]
    if clause.phrase:
        parts += [clause.phrase.preposition.english, english_nominal(clause.phrase.nominal)]
    if clause.adverb:
        parts.insert(0 if clause.adverb_first else len(parts), clause.adverb.english)
    return words(*parts)


def english(sentence: Sentence) -> str:
    """A sentence in English."""
    main = _clause(sentence.clause, inverted=sentence.question)
    if sentence.question_word:
        main = words(sentence.question_word.english, main)
    if not (attached := sentence.attached):
        return finish(main, sentence)
    other = words(attached.link.english, _clause(attached.clause))
    if attached.ahead:
        return finish(f"{other}, {main}", sentence)
    comma = "," if attached.link.coordinates else ""
    return finish(f"{main}{comma} {other}", sentence)
