"""The classes that the words of the embedded corpus belong to, in both languages at once."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

Kind = Literal[
    "person", "relation", "parent", "animal", "fruit", "dish", "pastry", "drink", "text",
    "publication", "door", "container", "clothing", "device", "vehicle", "thing", "furniture",
    "room", "building", "grounds", "town", "platform",
]  # fmt: skip
"""What a noun denotes, as far as other words care."""
Role = Literal["place", "companion", "beneficiary"]
"""What a phrase may add to a clause although the verb does not ask for it."""
Tense = Literal["present", "past", "coming"]
"""When something happens; what a modal speaks of is still to come."""
Endings = tuple[tuple[str, str, str, str], ...]
"""German endings: a row for each case, a column for each agreement."""


class Case(IntEnum):
    """The German cases in use."""

    NOMINATIVE = 0
    ACCUSATIVE = 1
    DATIVE = 2


class Agreement(IntEnum):
    """What German articles and adjectives agree with; a plural has no gender."""

    MASCULINE = 0
    FEMININE = 1
    NEUTER = 2
    PLURAL = 3


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun; a mass noun has no German plural.

    A weak noun looks like its plural in the singular as well, save in the nominative.
    """

    kind: Kind
    english: str
    english_plural: str
    gender: Agreement
    german: str
    german_plural: str
    weak: bool


@dataclass(frozen=True, slots=True)
class Determiner:
    """A word before adjective and noun, and the German endings that it and the adjective take."""

    english: str
    english_plural: str
    german: str
    endings: Endings
    adjective_endings: Endings
    definite: bool = True


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A personal pronoun, with its German forms by case."""

    english: str
    english_object: str
    german: tuple[str, str, str]
    plural: bool = False
    first_person: bool = False


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective; its stem takes the German endings."""

    english: str
    german: str
    stem: str
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Preposition:
    """A preposition and the case that it governs in German."""

    english: str
    german: str
    case: Case


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands beside a verb: its objects, and the phrases that may be added."""

    accusative: tuple[Kind, ...] = ()
    dative: tuple[Kind, ...] = ()
    preposition: Preposition | None = None
    governed: tuple[Kind, ...] = ()
    roles: tuple[Role, ...] = ()
    subjects: tuple[Kind, ...] = ("person", "relation", "parent")


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb by its principal parts; the particle or prefix that leaves it stands apart."""

    english: str
    english_third: str
    english_past: str
    particle: str
    german: str
    german_first: str
    german_third: str
    participle: str
    prefix: str
    perfect_with_sein: bool
    frame: Frame


@dataclass(frozen=True, slots=True)
class Modal:
    """A modal verb; one without an English negative would change its sense when negated."""

    english: str
    negative: str
    german_first: str
    german_third: str
    german_plural: str
    complement: str = ""


@dataclass(frozen=True, slots=True)
class Adverb:
    """An adverb of time or a question word.

    One of frequency is not negated: "not every day" would deny the adverb and not the verb.
    """

    english: str
    german: str
    tenses: tuple[Tense, ...] = ("present", "past", "coming")
    frequency: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A conjunction; one that does not coordinate moves the German verb to the end."""

    english: str
    german: str
    coordinates: bool = False
