"""Drawing trees for the embedded corpus that make sense in both languages."""

import random
from dataclasses import replace
from functools import cache

from mute.data.toy import lexicon
from mute.data.toy.syntax import Attached, Clause, Nominal, NounPhrase, Phrase, Sentence
from mute.data.toy.wordclasses import (
    Adjective,
    Adverb,
    Case,
    Determiner,
    Frame,
    Kind,
    Noun,
    Tense,
    Verb,
)

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
