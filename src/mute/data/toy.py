"""The embedded corpus: English-German sentence pairs from a synchronous grammar.

A sentence is first drawn as a tree that belongs to neither language: who does what, to whom,
when, and whether it is denied or asked. Two sets of rules then put the same tree into words, each
in the order and with the endings of its language. So the pairs are exact translations, and what a
model has to learn is what sets the two languages apart: gender and case, the verb in second or
last place, prefixes that leave their verb, compounds, and numbers read backwards.

The words are in `mute.data.lexicon`.
"""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Literal

from mute.data import lexicon
from mute.data.lexicon import (
    Adjective,
    Adverb,
    Agreement,
    Case,
    Determiner,
    Frame,
    Kind,
    Link,
    Modal,
    Noun,
    Preposition,
    Pronoun,
    Tense,
    Verb,
)
from mute.errors import MuteError

SPLITS = ("train", "dev", "test")
_LONGEST = 25
"""Words in an English sentence of the corpus."""


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun with what stands before it; a count of 0 is left unsaid."""

    first_person: ClassVar[bool] = False

    determiner: Determiner
    noun: Noun
    plural: bool = False
    count: int = 0
    adjective: Adjective | None = None


Nominal = NounPhrase | Pronoun


@dataclass(frozen=True, slots=True)
class Phrase:
    """A preposition with its noun phrase or pronoun."""

    preposition: Preposition
    nominal: Nominal


@dataclass(frozen=True, slots=True)
class Clause:
    """Who does or is what; an adjective as predicate stands for "to be" with it."""

    subject: Nominal
    predicate: Verb | Adjective
    past: bool = False
    modal: Modal | None = None
    negative: bool = False
    accusative: Nominal | None = None
    dative: Nominal | None = None
    phrase: Phrase | None = None
    adverb: Adverb | None = None
    adverb_first: bool = False


@dataclass(frozen=True, slots=True)
class Attached:
    """A second clause, and what joins it to the first; `ahead` puts it before that one."""

    link: Link
    clause: Clause
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """A statement or a question, which may ask for something by a question word."""

    clause: Clause
    attached: Attached | None = None
    question: bool = False
    question_word: Adverb | None = None


def _words(*parts: str) -> str:
    return " ".join(filter(None, parts))


def _finish(text: str, sentence: Sentence) -> str:
    return text[0].upper() + text[1:] + ("?" if sentence.question else ".")


# ---- English

_ENGLISH_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_ENGLISH_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def english_number(number: int) -> str:
    """A number from 2 to 99 in words."""
    if number < 20:
        return _ENGLISH_SMALL[number]
    tens, ones = divmod(number, 10)
    return _ENGLISH_TENS[tens - 2] + (f"-{_ENGLISH_SMALL[ones]}" if ones else "")


def english_nominal(nominal: Nominal, *, subject: bool = False) -> str:
    """A noun phrase or pronoun, which English inflects for being the subject only."""
    if isinstance(nominal, Pronoun):
        return nominal.english if subject else nominal.english_object
    determiner, noun = nominal.determiner.english, nominal.noun.english
    if nominal.plural:
        determiner, noun = nominal.determiner.english_plural, nominal.noun.english_plural
    number = english_number(nominal.count) if nominal.count else ""
    adjective = nominal.adjective.english if nominal.adjective else ""
    text = _words(number, adjective, noun)
    if determiner == "a" and text[0] in "aeiou":
        determiner = "an"
    return _words(determiner, text)


def _english_be(clause: Clause) -> str:
    if clause.subject.plural:
        return "were" if clause.past else "are"
    if clause.past:
        return "was"
    return "am" if clause.subject.first_person else "is"


def _english_verb(clause: Clause, *, inverted: bool) -> tuple[str, str]:
    """The auxiliary, if there is one, and the rest of the verb, which follows it."""
    verb, negation = clause.predicate, "not" if clause.negative else ""
    if isinstance(verb, Adjective):
        return _words(_english_be(clause), negation), verb.english
    base = _words(verb.english, verb.particle)
    if clause.modal:
        auxiliary = clause.modal.negative if clause.negative else clause.modal.english
        return auxiliary, _words(clause.modal.complement, base)
    third = not (clause.subject.plural or clause.subject.first_person)
    if negation or inverted:
        return _words("did" if clause.past else "does" if third else "do", negation), base
    inflected = verb.english_third if third else verb.english
    return "", _words(verb.english_past if clause.past else inflected, verb.particle)


def _english_clause(clause: Clause, *, inverted: bool = False) -> str:
    subject = english_nominal(clause.subject, subject=True)
    auxiliary, rest = _english_verb(clause, inverted=inverted)
    parts = [auxiliary, subject, rest] if inverted else [subject, auxiliary, rest]
    if clause.accusative:
        parts.append(english_nominal(clause.accusative))
    if clause.dative:
        parts += ["to" if clause.accusative else "", english_nominal(clause.dative)]
    if clause.phrase:
        parts += [clause.phrase.preposition.english, english_nominal(clause.phrase.nominal)]
    if clause.adverb:
        parts.insert(0 if clause.adverb_first else len(parts), clause.adverb.english)
    return _words(*parts)


def english(sentence: Sentence) -> str:
    """A sentence in English."""
    main = _english_clause(sentence.clause, inverted=sentence.question)
    if sentence.question_word:
        main = _words(sentence.question_word.english, main)
    if not (attached := sentence.attached):
        return _finish(main, sentence)
    other = _words(attached.link.english, _english_clause(attached.clause))
    if attached.ahead:
        return _finish(f"{other}, {main}", sentence)
    comma = "," if attached.link.coordinates else ""
    return _finish(f"{main}{comma} {other}", sentence)


# ---- German

_GERMAN_SMALL = (
    "null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn",
    "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn",
    "neunzehn",
)  # fmt: skip
_GERMAN_TENS = (
    "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig",
)  # fmt: skip
_CONTRACTIONS = {"in dem": "im", "von dem": "vom"}

Position = Literal["first", "second", "last"]
"""Where the finite verb of a German clause stands."""


def german_number(number: int) -> str:
    """A number from 2 to 99 in words, the ones before the tens."""
    if number < 20:
        return _GERMAN_SMALL[number]
    tens, ones = divmod(number, 10)
    return (f"{_GERMAN_SMALL[ones]}und" if ones else "") + _GERMAN_TENS[tens - 2]


def _german_noun(noun: Noun, case: Case, *, plural: bool) -> str:
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
    return _words(
        determiner.german + determiner.endings[case][agreement],
        german_number(nominal.count) if nominal.count else "",
        adjective.stem + determiner.adjective_endings[case][agreement] if adjective else "",
        _german_noun(noun, case, plural=nominal.plural),
    )


def _german_phrase(phrase: Phrase) -> str:
    preposition = phrase.preposition.german
    nominal = german_nominal(phrase.nominal, phrase.preposition.case)
    article, _, rest = nominal.partition(" ")
    contracted = _CONTRACTIONS.get(f"{preposition} {article}")
    return f"{contracted} {rest}" if contracted else f"{preposition} {nominal}"


def _conjugate(subject: Nominal, first: str, third: str, plural: str) -> str:
    if subject.plural:
        return plural
    return first if subject.first_person else third


def _german_verb(clause: Clause) -> tuple[str, str, str]:
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


def _german_middle(clause: Clause) -> list[str]:
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
    phrase = _german_phrase(clause.phrase) if clause.phrase else ""
    if negation:
        return [*pronouns, *known, adverb, negation, phrase]
    return [*pronouns, adverb, *known, phrase, new]


def _german_clause(clause: Clause, position: Position) -> str:
    subject = german_nominal(clause.subject, Case.NOMINATIVE)
    finite, closing, together = _german_verb(clause)
    middle = _german_middle(clause)
    if position == "last":
        return _words(subject, *middle, together)
    if position == "second" and not clause.adverb_first:
        return _words(subject, finite, *middle, closing)
    front = clause.adverb.german if clause.adverb and clause.adverb_first else ""
    return _words(front, finite, subject, *middle, closing)


def german(sentence: Sentence) -> str:
    """A sentence in German."""
    attached = sentence.attached
    # A clause ahead is the first part of the sentence, so that the verb behind it is second.
    verb_first = sentence.question or (attached is not None and attached.ahead)
    main = _german_clause(sentence.clause, "first" if verb_first else "second")
    if sentence.question_word:
        main = _words(sentence.question_word.german, main)
    if not attached:
        return _finish(main, sentence)
    order: Position = "second" if attached.link.coordinates else "last"
    other = _words(attached.link.german, _german_clause(attached.clause, order))
    if attached.ahead:
        return _finish(f"{other}, {main}", sentence)
    comma = "" if attached.link in (lexicon.AND, lexicon.OR) else ","
    return _finish(f"{main}{comma} {other}", sentence)


# ---- Drawing

_TENSES: tuple[Tense, ...] = ("present", "past", "coming")
_ADVERBS = {tense: [a for a in lexicon.ADVERBS if tense in a.tenses] for tense in _TENSES}
# "They read" is present or past, and the German would have to tell which.
_VERBS_WITH_PAST = [verb for verb in lexicon.VERBS if verb.english_past != verb.english]
_NEGATED_MODALS = [modal for modal in lexicon.MODALS if modal.negative]


@cache
def _nouns(kinds: tuple[Kind, ...]) -> list[Noun]:
    return [noun for noun in lexicon.NOUNS if noun.kind in kinds]


@cache
def _adjectives(kind: Kind) -> list[Adjective]:
    return [adjective for adjective in lexicon.ADJECTIVES if kind in adjective.kinds]


def _draw_determiner(rng: random.Random, noun: Noun, *, plural: bool, definite: bool) -> Determiner:
    related = noun.kind in lexicon.RELATIONS
    owned = 0.8 if related else 0.25 if noun.kind in lexicon.OWNED else 0.0
    if rng.random() < owned:
        return rng.choice(lexicon.POSSESSIVES)
    if not (definite or related) and rng.random() < 0.5:
        return lexicon.BARE if plural or not noun.german_plural else lexicon.A
    return lexicon.THIS if rng.random() < 0.15 else lexicon.THE


def _draw_noun_phrase(
    rng: random.Random, kinds: tuple[Kind, ...], *, definite: bool = False
) -> NounPhrase:
    noun = rng.choice(_nouns(kinds))
    most = lexicon.LARGEST_COUNTS.get(noun.kind, 99)
    plural = most > 1 and noun.german_plural != "" and rng.random() < 0.3
    determiner = _draw_determiner(rng, noun, plural=plural, definite=definite)
    # "Men" alone would be men in general.
    general = determiner is lexicon.BARE and noun.kind == "person"
    count = rng.randint(2, most) if plural and (general or rng.random() < 0.5) else 0
    adjectives = _adjectives(noun.kind)
    adjective = rng.choice(adjectives) if adjectives and rng.random() < 0.4 else None
    return NounPhrase(determiner, noun, plural, count, adjective)


def _draw_subject(rng: random.Random, kinds: tuple[Kind, ...]) -> Nominal:
    if rng.random() < 0.3:
        return rng.choice(lexicon.PRONOUNS)
    return _draw_noun_phrase(rng, kinds)


def _clashes(nominal: Nominal, other: Nominal | None) -> bool:
    """Whether two parts of a clause name the same, or would need a reflexive pronoun."""
    if isinstance(nominal, NounPhrase):
        return isinstance(other, NounPhrase) and other.noun is nominal.noun
    return other is nominal or (other is not None and other.first_person and nominal.first_person)


def _draw_object(
    rng: random.Random, kinds: tuple[Kind, ...], case: Case, *others: Nominal | None, definite: bool
) -> Nominal:
    """Someone or something else than the others in the clause."""
    phrase = _draw_noun_phrase(rng, kinds, definite=definite)
    nominal: Nominal = phrase
    if phrase.noun.kind in lexicon.PEOPLE and rng.random() < 0.3:
        dative = case == Case.DATIVE
        nominal = rng.choice(lexicon.PRONOUNS if dative else lexicon.ACCUSATIVE_PRONOUNS)
    if any(_clashes(nominal, other) for other in others):
        return _draw_object(rng, kinds, case, *others, definite=definite)
    return nominal


def _draw_place(rng: random.Random) -> Phrase:
    place = _draw_noun_phrase(rng, lexicon.PLACES, definite=True)
    preposition = lexicon.ON if place.noun.kind == "platform" else lexicon.IN
    return Phrase(preposition, replace(place, plural=False, count=0))


def _draw_phrase(
    rng: random.Random, frame: Frame, *others: Nominal | None, definite: bool
) -> Phrase | None:
    preposition, kinds = frame.preposition, frame.governed
    if not preposition:
        if not frame.roles or rng.random() < 0.5:
            return None
        role = rng.choice(frame.roles)
        if role == "place":
            return _draw_place(rng)
        preposition = lexicon.WITH if role == "companion" else lexicon.FOR
        kinds = lexicon.PEOPLE
    case = preposition.case
    return Phrase(preposition, _draw_object(rng, kinds, case, *others, definite=definite))


def _draw_adverb(rng: random.Random, tense: Tense, *, negative: bool) -> Adverb:
    adverb = rng.choice(_ADVERBS[tense])
    while negative and adverb.frequency:
        adverb = rng.choice(_ADVERBS[tense])
    return adverb


def _draw_action(rng: random.Random, tense: Tense) -> Clause:
    verb = rng.choice(_VERBS_WITH_PAST if tense == "past" else lexicon.VERBS)
    frame, negative = verb.frame, rng.random() < 0.2
    subject = _draw_subject(rng, frame.subjects)
    accusative = dative = adverb = modal = None
    if frame.accusative:
        accusative = _draw_object(rng, frame.accusative, Case.ACCUSATIVE, subject, definite=False)
        if negative and isinstance(accusative, NounPhrase):
            accusative = replace(accusative, count=0)  # "not two books" denies the number
    if frame.dative:
        dative = _draw_object(rng, frame.dative, Case.DATIVE, subject, definite=negative)
    phrase = _draw_phrase(rng, frame, subject, accusative, definite=negative)
    if rng.random() < 0.35 or not (accusative or dative or phrase):  # no "She sleeps" of two words
        adverb = _draw_adverb(rng, tense, negative=negative)
    if tense == "coming":
        modal = rng.choice(_NEGATED_MODALS if negative else lexicon.MODALS)
    past = tense == "past"
    return Clause(subject, verb, past, modal, negative, accusative, dative, phrase, adverb)


def _draw_description(rng: random.Random, tense: Tense) -> Clause:
    adjective = rng.choice(lexicon.ADJECTIVES)
    described = _draw_noun_phrase(rng, adjective.kinds, definite=True)
    subject: Nominal = replace(described, adjective=None)
    if described.noun.kind in lexicon.PEOPLE and rng.random() < 0.5:
        subject = rng.choice(lexicon.PRONOUNS)
    return Clause(subject, adjective, past=tense == "past", negative=rng.random() < 0.2)


def _draw_clause(rng: random.Random, *tenses: Tense) -> Clause:
    tense = rng.choice(tenses)
    if tense != "coming" and rng.random() < 0.15:
        return _draw_description(rng, tense)
    return _draw_action(rng, tense)


def _draw_statement(rng: random.Random) -> Sentence:
    clause = _draw_clause(rng, *_TENSES)
    if clause.adverb and rng.random() < 0.5:
        clause = replace(clause, adverb_first=True)
    return Sentence(clause)


def _draw_question(rng: random.Random) -> Sentence:
    clause = _draw_clause(rng, *_TENSES)
    if clause.negative or clause.subject.first_person:
        return _draw_question(rng)  # nobody asks "Do I sleep today?"
    words: list[Adverb | None] = [None, None, lexicon.WHY]
    if isinstance(clause.predicate, Verb):
        if not clause.adverb:
            words.append(lexicon.WHEN)
        if not clause.phrase and "place" in clause.predicate.frame.roles:
            words.append(lexicon.WHERE)
    return Sentence(clause, question=True, question_word=rng.choice(words))


def _draw_thought(rng: random.Random) -> Sentence:
    past, negative = rng.random() < 0.4, rng.random() < 0.2
    subject = _draw_subject(rng, lexicon.PEOPLE)
    thinking = Clause(subject, rng.choice(lexicon.VERBS_OF_THOUGHT), past, negative=negative)
    thought = _draw_clause(rng, *(("past",) if past else _TENSES))
    question = not (negative or subject.first_person) and rng.random() < 0.2
    return Sentence(thinking, Attached(lexicon.THAT, thought), question)


def _draw_reason(rng: random.Random) -> Sentence:
    tense = rng.choice(_TENSES)
    link = rng.choice((lexicon.BECAUSE, lexicon.ALTHOUGH))
    attached = Attached(link, _draw_clause(rng, tense), ahead=rng.random() < 0.5)
    return Sentence(_draw_clause(rng, tense), attached)


def _draw_condition(rng: random.Random) -> Sentence:
    attached = Attached(lexicon.IF, _draw_clause(rng, "present"), ahead=rng.random() < 0.5)
    # A condition for what is always so would make no sense.
    return Sentence(_draw_action(rng, rng.choice(("present", "coming"))), attached)


def _draw_coordination(rng: random.Random) -> Sentence:
    tense = rng.choice(_TENSES)
    # What is or was so leaves nothing to choose.
    alternative = lexicon.OR if tense == "coming" else lexicon.AND
    link = rng.choice((lexicon.AND, lexicon.BUT, alternative))
    return Sentence(_draw_clause(rng, tense), Attached(link, _draw_clause(rng, tense)))


_SHAPES = (
    *(_draw_statement,) * 6,
    *(_draw_question,) * 2,
    *(_draw_thought,) * 2,
    *(_draw_reason,) * 2,
    _draw_condition,
    *(_draw_coordination,) * 2,
)


def draw_sentence(rng: random.Random) -> Sentence:
    """Any sentence of the grammar."""
    return rng.choice(_SHAPES)(rng)


# ---- The corpus


def _fingerprint(english_text: str) -> int:
    return int.from_bytes(hashlib.blake2b(english_text.encode(), digest_size=8).digest())


def _split_of(fingerprint: int) -> str:
    percentile = fingerprint % 100
    return "train" if percentile < 90 else "dev" if percentile < 95 else "test"


def _distinct_pairs(count: int, seed: int, split: str) -> Iterator[tuple[str, str]]:
    # As text, since Random takes a seed and its negative for the same.
    rng = random.Random(str(seed))  # noqa: S311 - reproducible, not secret
    seen: set[int] = set()
    while len(seen) < count:
        sentence = draw_sentence(rng)
        source = english(sentence)
        fingerprint = _fingerprint(source)
        wanted = _split_of(fingerprint) == split and len(source.split()) <= _LONGEST
        if wanted and fingerprint not in seen:
            seen.add(fingerprint)
            yield source, german(sentence)


def pairs(count: int, seed: int = 1, split: str = "train") -> Iterator[tuple[str, str]]:
    """Yield `count` distinct (English, German) pairs of one split.

    A sentence alone decides which split it is in, so that splits are disjoint whatever the seeds.
    """
    if split not in SPLITS:
        raise MuteError(f"there is no split called '{split}'; known splits: {', '.join(SPLITS)}")
    if count < 0:
        raise MuteError(f"the number of pairs must not be negative, but is {count}")
    return _distinct_pairs(count, seed, split)
