"""The trees of the embedded corpus: what a sentence says, in neither language."""

from dataclasses import dataclass
from typing import ClassVar

from mute.data.toy.wordclasses import (
    Adjective,
    Adverb,
    Determiner,
    Link,
    Modal,
    Noun,
    Preposition,
    Pronoun,
    Verb,
)


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


def words(*parts: str) -> str:
    """The parts as one text; an empty part leaves no gap."""
    return " ".join(filter(None, parts))


def finish(text: str, sentence: Sentence) -> str:
    """A sentence's words with their capital letter and closing mark."""
    return text[0].upper() + text[1:] + ("?" if sentence.question else ".")
