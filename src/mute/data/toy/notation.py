"""How `lexicon.py` writes words: as short entries, in the way of a dictionary."""

from mute.data.toy.wordclasses import Adjective, Agreement, Frame, Kind, Noun, Verb

_GENDERS = {"der": Agreement.MASCULINE, "die": Agreement.FEMININE, "das": Agreement.NEUTER}


def _english_plural(singular: str) -> str:
    if singular.endswith("y") and singular[-2] not in "aeiou":
        return singular[:-1] + "ies"
    return singular + ("es" if singular.endswith(("s", "x", "ch", "to")) else "s")


def _noun(
    kind: Kind, english: str, article: str, german: str, german_plural: str = "", weak: str = ""
) -> Noun:
    singular, _, irregular = english.partition("/")
    plural = irregular or _english_plural(singular)
    return Noun(kind, singular, plural, _GENDERS[article], german, german_plural, bool(weak))


def nouns(kind: Kind, entries: str) -> tuple[Noun, ...]:
    """Nouns written as "man/men der Mann Männer"; a mass noun has no German plural."""
    return tuple(_noun(kind, *entry.split()) for entry in entries.split(","))


def adjectives(kinds: tuple[Kind, ...], entries: str) -> tuple[Adjective, ...]:
    """Adjectives written as "old alt", or as "dark dunkel dunkl" where the stem differs."""
    words = [entry.split() for entry in entries.split(",")]
    return tuple(Adjective(word[0], word[1], word[-1], kinds) for word in words)


def verb(english: str, german: str, frame: Frame) -> Verb:
    """A verb written as "turn|on turns turned" and "an|machen macht gemacht" or "ist gefolgt"."""
    base, third, past = english.split()
    infinitive, german_third, *auxiliary, participle = german.split()
    english_verb, _, particle = base.partition("|")
    prefix, _, german_verb = infinitive.rpartition("|")
    return Verb(
        english_verb, third, past, particle,
        german_verb, german_verb.removesuffix("n"), german_third, participle, prefix,
        perfect_with_sein=auxiliary == ["ist"], frame=frame,
    )  # fmt: skip
