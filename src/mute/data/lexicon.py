"""The words of the embedded corpus, written as a dictionary lists them.

A noun has a kind, and a verb's frame names the kinds it takes, so that books are read and doors
are opened. An English word has one sense, and no two words share a German one: each side of the
corpus determines the other.
"""

from dataclasses import dataclass, replace
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


def _nouns(kind: Kind, entries: str) -> tuple[Noun, ...]:
    """Nouns written as "man/men der Mann Männer"; a mass noun has no German plural."""
    return tuple(_noun(kind, *entry.split()) for entry in entries.split(","))


def _compounds(modifier: str, german: str, heads: str) -> tuple[Noun, ...]:
    """Compound nouns: German writes one word, which inflects as its head does."""
    return tuple(
        replace(
            head,
            english=f"{modifier} {head.english}",
            english_plural=f"{modifier} {head.english_plural}",
            german=german + head.german.lower(),
            german_plural=head.german_plural and german + head.german_plural.lower(),
        )
        for head in _SIMPLE_NOUNS
        if head.english in heads.split()
    )


def _adjectives(kinds: tuple[Kind, ...], entries: str) -> tuple[Adjective, ...]:
    """Adjectives written as "old alt", or as "dark dunkel dunkl" where the stem differs."""
    words = [entry.split() for entry in entries.split(",")]
    return tuple(Adjective(word[0], word[1], word[-1], kinds) for word in words)


def _verb(english: str, german: str, frame: Frame) -> Verb:
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


_DEFINITE = (("er", "ie", "as", "ie"), ("en", "ie", "as", "ie"), ("em", "er", "em", "en"))
_STRONG = (("er", "e", "es", "e"), ("en", "e", "es", "e"), ("em", "er", "em", "en"))
_EIN = (("", "e", "", "e"), ("en", "e", "", "e"), ("em", "er", "em", "en"))
_WEAK = (("e", "e", "e", "en"), ("en", "e", "e", "en"), ("en", "en", "en", "en"))
_MIXED = (("er", "e", "es", "en"), ("en", "e", "es", "en"), ("en", "en", "en", "en"))
_NONE = (("", "", "", ""),) * 3

THE = Determiner("the", "the", "d", _DEFINITE, _WEAK)
THIS = Determiner("this", "these", "dies", _STRONG, _WEAK)
A = Determiner("a", "", "ein", _EIN, _MIXED, definite=False)
NO = Determiner("no", "no", "kein", _EIN, _MIXED, definite=False)
BARE = Determiner("", "", "", _NONE, _STRONG, definite=False)
MY = Determiner("my", "my", "mein", _EIN, _MIXED)
HIS = Determiner("his", "his", "sein", _EIN, _MIXED)
HER = Determiner("her", "her", "ihr", _EIN, _MIXED)
OUR = Determiner("our", "our", "unser", _EIN, _MIXED)
# Without "their", which would be "ihr" as well.
POSSESSIVES = (MY, HIS, HER, OUR)

I = Pronoun("I", "me", ("ich", "mich", "mir"), first_person=True)  # noqa: E741
HE = Pronoun("he", "him", ("er", "ihn", "ihm"))
SHE = Pronoun("she", "her", ("sie", "sie", "ihr"))
WE = Pronoun("we", "us", ("wir", "uns", "uns"), plural=True, first_person=True)
THEY = Pronoun("they", "them", ("sie", "sie", "ihnen"), plural=True)
PRONOUNS = (I, HE, SHE, WE, THEY)
# Without "them", which would be "sie" as "her" is.
ACCUSATIVE_PRONOUNS = (I, HE, SHE, WE)

IN = Preposition("in", "in", Case.DATIVE)
ON = Preposition("on", "auf", Case.DATIVE)
WITH = Preposition("with", "mit", Case.DATIVE)
FOR = Preposition("for", "für", Case.ACCUSATIVE)
_FOR_AWAITED = Preposition("for", "auf", Case.ACCUSATIVE)
_OF_THOUGHT = Preposition("of", "an", Case.ACCUSATIVE)
_OF_DREAM = Preposition("of", "von", Case.DATIVE)
_ABOUT = Preposition("about", "über", Case.ACCUSATIVE)

_SIMPLE_NOUNS = (
    *_nouns("person", "man/men der Mann Männer, woman/women die Frau Frauen"),
    *_nouns("person", "child/children das Kind Kinder, girl das Mädchen Mädchen"),
    *_nouns("person", "boy der Junge Jungen weak, student der Student Studenten weak"),
    *_nouns("person", "tourist der Tourist Touristen weak, farmer der Bauer Bauern weak"),
    *_nouns("person", "teacher der Lehrer Lehrer, doctor der Arzt Ärzte, guest der Gast Gäste"),
    *_nouns("parent", "mother die Mutter Mütter, father der Vater Väter"),
    *_nouns("relation", "sister die Schwester Schwestern, brother der Bruder Brüder"),
    *_nouns("relation", "daughter die Tochter Töchter, son der Sohn Söhne, aunt die Tante Tanten"),
    *_nouns("relation", "friend der Freund Freunde, neighbour der Nachbar Nachbarn weak"),
    *_nouns("animal", "dog der Hund Hunde, cat die Katze Katzen, horse das Pferd Pferde"),
    *_nouns("animal", "bird der Vogel Vögel, cow die Kuh Kühe, mouse/mice die Maus Mäuse"),
    *_nouns("fruit", "apple der Apfel Äpfel, pear die Birne Birnen"),
    *_nouns("fruit", "orange die Orange Orangen, tomato die Tomate Tomaten"),
    *_nouns("dish", "soup die Suppe Suppen, potato die Kartoffel Kartoffeln, egg das Ei Eier"),
    *_nouns("dish", "rice der Reis, meat das Fleisch"),
    *_nouns("pastry", "cake der Kuchen Kuchen, biscuit der Keks Kekse, bread das Brot"),
    *_nouns("drink", "water das Wasser, milk die Milch, coffee der Kaffee, tea der Tee"),
    *_nouns("drink", "juice der Saft"),
    *_nouns("text", "letter der Brief Briefe, message die Nachricht Nachrichten"),
    *_nouns("text", "story die Geschichte Geschichten, report der Bericht Berichte"),
    *_nouns("publication", "book das Buch Bücher, newspaper die Zeitung Zeitungen"),
    *_nouns("door", "door die Tür Türen, window das Fenster Fenster, gate das Tor Tore"),
    *_nouns("container", "box die Kiste Kisten, bag die Tasche Taschen"),
    *_nouns("container", "suitcase der Koffer Koffer, cupboard der Schrank Schränke"),
    *_nouns("clothing", "coat der Mantel Mäntel, jacket die Jacke Jacken, hat der Hut Hüte"),
    *_nouns("clothing", "shirt das Hemd Hemden, dress das Kleid Kleider, shoe der Schuh Schuhe"),
    *_nouns("device", "lamp die Lampe Lampen, radio das Radio Radios"),
    *_nouns("device", "computer der Computer Computer, machine die Maschine Maschinen"),
    *_nouns("vehicle", "car das Auto Autos, bus der Bus Busse, train der Zug Züge"),
    *_nouns("thing", "key der Schlüssel Schlüssel, picture das Bild Bilder, clock die Uhr Uhren"),
    *_nouns("thing", "knife/knives das Messer Messer, cup die Tasse Tassen"),
    *_nouns("thing", "plate der Teller Teller, umbrella der Regenschirm Regenschirme"),
    *_nouns("thing", "flower die Blume Blumen, bottle die Flasche Flaschen"),
    *_nouns("furniture", "chair der Stuhl Stühle, bench die Bank Bänke"),
    *_nouns("furniture", "table der Tisch Tische, sofa das Sofa Sofas"),
    *_nouns("room", "kitchen die Küche Küchen, room das Zimmer Zimmer, office das Büro Büros"),
    *_nouns("room", "cellar der Keller Keller"),
    *_nouns("building", "house das Haus Häuser, school die Schule Schulen"),
    *_nouns("building", "church die Kirche Kirchen, library die Bibliothek Bibliotheken"),
    *_nouns("building", "hotel das Hotel Hotels, museum das Museum Museen"),
    *_nouns("grounds", "garden der Garten Gärten, park der Park Parks"),
    *_nouns("town", "city die Stadt Städte, village das Dorf Dörfer"),
    *_nouns("platform", "balcony der Balkon Balkone, terrace die Terrasse Terrassen"),
    *_nouns("platform", "street die Straße Straßen, island die Insel Inseln"),
)
NOUNS = (
    *_SIMPLE_NOUNS,
    *_compounds("kitchen", "Küchen", "door window table chair lamp clock knife cupboard"),
    *_compounds("garden", "Garten", "gate table chair bench lamp house"),
    *_compounds("house", "Haus", "door key"),
    *_compounds("cellar", "Keller", "door window key"),
    *_compounds("car", "Auto", "door window key radio"),
    *_compounds("office", "Büro", "door window chair lamp key"),
    *_compounds("school", "Schul", "door window bag bus book library garden"),
    *_compounds("church", "Kirchen", "door window clock bench"),
    *_compounds("hotel", "Hotel", "door room key kitchen garden guest"),
    *_compounds("city", "Stadt", "library park bus museum"),
    *_compounds("village", "Dorf", "school church street"),
    *_compounds("apple", "Apfel", "cake juice"),
    *_compounds("orange", "Orangen", "juice"),
    *_compounds("tomato", "Tomaten", "soup juice"),
    *_compounds("potato", "Kartoffel", "soup"),
    *_compounds("coffee", "Kaffee", "cup machine"),
    *_compounds("winter", "Winter", "coat jacket shoe"),
    *_compounds("summer", "Sommer", "dress hat shoe"),
)

RELATIONS: tuple[Kind, ...] = ("relation", "parent")
PEOPLE: tuple[Kind, ...] = ("person", *RELATIONS)
PLACES: tuple[Kind, ...] = ("room", "building", "grounds", "town", "platform")
_LIVING: tuple[Kind, ...] = (*PEOPLE, "animal")
_READING: tuple[Kind, ...] = ("text", "publication")
_FOOD: tuple[Kind, ...] = ("fruit", "dish", "pastry")
_PORTABLE: tuple[Kind, ...] = ("clothing", "thing", "container", "publication")
_GOODS: tuple[Kind, ...] = (*_PORTABLE, "device", "vehicle", "furniture", "fruit", "pastry")
OWNED: tuple[Kind, ...] = (*_GOODS, "animal", "dish", "drink", "text", "room")
"""What goes with a possessive, apart from relations."""
LARGEST_COUNTS: dict[Kind, int] = {
    "parent": 1, "grounds": 1, "town": 1, "platform": 1, "relation": 4, "room": 6, "building": 9,
    "door": 20, "clothing": 20, "device": 30, "vehicle": 30, "furniture": 50,
}  # fmt: skip
"""How many make sense, where not all numbers do; one alone has no plural."""

_HERE: tuple[Role, ...] = ("place",)
_TOGETHER: tuple[Role, ...] = ("place", "companion")
_AS_A_FAVOUR: tuple[Role, ...] = ("place", "beneficiary")

_RESTING = Frame(roles=_HERE, subjects=_LIVING)
_ACTING = Frame(roles=_TOGETHER)
_BEING_SOMEWHERE = Frame(preposition=IN, governed=("town", "grounds"))
_PLAYING = Frame(preposition=WITH, governed=_LIVING, subjects=_LIVING)
_AWAITING = Frame(preposition=_FOR_AWAITED, governed=(*PEOPLE, "vehicle"))
_THINKING = Frame(preposition=_OF_THOUGHT, governed=(*_LIVING, "town"))
_DREAMING = Frame(preposition=_OF_DREAM, governed=(*RELATIONS, "animal", "town", "dish"))
_TALKING = Frame(preposition=_ABOUT, governed=(*_LIVING, *_READING))
_HELPING = Frame(dative=PEOPLE)
_FOLLOWING = Frame(dative=_LIVING, subjects=_LIVING)
_GIVING = Frame(accusative=_PORTABLE, dative=PEOPLE)
_SELLING = Frame(accusative=_GOODS, dative=PEOPLE)
_TELLING = Frame(accusative=("text",), dative=PEOPLE)
_READING_OUT = Frame(accusative=_READING, dative=PEOPLE)
_MEETING = Frame(accusative=PEOPLE, roles=_HERE)
_VISITING = Frame(accusative=(*PEOPLE, "building", "town"), roles=("companion",))
_SEEING = Frame(accusative=(*_LIVING, "vehicle", "building"), subjects=_LIVING)
_HEARING = Frame(accusative=(*_LIVING, "vehicle"), subjects=_LIVING)
_SEEKING = Frame(accusative=(*_LIVING, *_PORTABLE), roles=_HERE)
_BUYING = Frame(accusative=_GOODS, roles=_AS_A_FAVOUR)
_CARRYING = Frame(accusative=("container", "furniture"), roles=("beneficiary",))
_FETCHING = Frame(accusative=("thing", "container"), roles=("beneficiary",))
_EATING = Frame(accusative=_FOOD, roles=_TOGETHER)
_DRINKING = Frame(accusative=("drink",), roles=_TOGETHER)
_ORDERING = Frame(accusative=("dish", "pastry", "drink"), roles=_AS_A_FAVOUR)
_COOKING = Frame(accusative=("dish",), roles=_AS_A_FAVOUR)
_BAKING = Frame(accusative=("pastry",), roles=_AS_A_FAVOUR)
_STUDYING = Frame(accusative=_READING, roles=_TOGETHER)
_WRITING = Frame(accusative=("text",), roles=_AS_A_FAVOUR)
_OPENING = Frame(accusative=("door", "container"), roles=("beneficiary",))
_LOCKING = Frame(accusative=("door",))
_DRESSING = Frame(accusative=("clothing",), roles=_HERE)
_SWITCHING = Frame(accusative=("device",), roles=_HERE)
_REPAIRING = Frame(accusative=("device", "vehicle", "furniture"), roles=("beneficiary",))
_TIDYING = Frame(accusative=("room",), roles=("companion",))
_WASHING = Frame(accusative=("clothing", "vehicle", "fruit"), roles=("beneficiary",))

VERBS = (
    _verb("sleep sleeps slept", "schlafen schläft geschlafen", _RESTING),
    _verb("wait waits waited", "warten wartet gewartet", _RESTING),
    _verb("work works worked", "arbeiten arbeitet gearbeitet", _ACTING),
    _verb("dance dances danced", "tanzen tanzt getanzt", _ACTING),
    _verb("sing sings sang", "singen singt gesungen", _ACTING),
    _verb("get|up gets got", "auf|stehen steht ist gestanden", Frame()),
    _verb("stay stays stayed", "bleiben bleibt ist geblieben", _BEING_SOMEWHERE),
    _verb("arrive arrives arrived", "an|kommen kommt ist gekommen", _BEING_SOMEWHERE),
    _verb("play plays played", "spielen spielt gespielt", _PLAYING),
    _verb("wait waits waited", "warten wartet gewartet", _AWAITING),
    _verb("think thinks thought", "denken denkt gedacht", _THINKING),
    _verb("dream dreams dreamt", "träumen träumt geträumt", _DREAMING),
    _verb("talk talks talked", "sprechen spricht gesprochen", _TALKING),
    _verb("laugh laughs laughed", "lachen lacht gelacht", _TALKING),
    _verb("help helps helped", "helfen hilft geholfen", _HELPING),
    _verb("thank thanks thanked", "danken dankt gedankt", _HELPING),
    _verb("answer answers answered", "antworten antwortet geantwortet", _HELPING),
    _verb("listen|to listens listened", "zu|hören hört gehört", _HELPING),
    _verb("follow follows followed", "folgen folgt ist gefolgt", _FOLLOWING),
    _verb("give gives gave", "geben gibt gegeben", _GIVING),
    _verb("show shows showed", "zeigen zeigt gezeigt", _GIVING),
    _verb("bring brings brought", "bringen bringt gebracht", _GIVING),
    _verb("sell sells sold", "verkaufen verkauft verkauft", _SELLING),
    _verb("send sends sent", "schicken schickt geschickt", _TELLING),
    _verb("explain explains explained", "erklären erklärt erklärt", _TELLING),
    _verb("read|out reads read", "vor|lesen liest gelesen", _READING_OUT),
    _verb("call calls called", "an|rufen ruft gerufen", Frame(accusative=PEOPLE)),
    _verb("invite invites invited", "ein|laden lädt geladen", Frame(accusative=PEOPLE)),
    _verb("greet greets greeted", "grüßen grüßt gegrüßt", _MEETING),
    _verb("meet meets met", "treffen trifft getroffen", _MEETING),
    _verb("visit visits visited", "besuchen besucht besucht", _VISITING),
    _verb("look|at looks looked", "an|sehen sieht gesehen", _VISITING),
    _verb("see sees saw", "sehen sieht gesehen", _SEEING),
    _verb("hear hears heard", "hören hört gehört", _HEARING),
    _verb("look|for looks looked", "suchen sucht gesucht", _SEEKING),
    _verb("find finds found", "finden findet gefunden", _SEEKING),
    _verb("buy buys bought", "kaufen kauft gekauft", _BUYING),
    _verb("carry carries carried", "tragen trägt getragen", _CARRYING),
    _verb("fetch fetches fetched", "holen holt geholt", _FETCHING),
    _verb("throw|away throws threw", "weg|werfen wirft geworfen", _FETCHING),
    _verb("eat eats ate", "essen isst gegessen", _EATING),
    _verb("drink drinks drank", "trinken trinkt getrunken", _DRINKING),
    _verb("order orders ordered", "bestellen bestellt bestellt", _ORDERING),
    _verb("cook cooks cooked", "kochen kocht gekocht", _COOKING),
    _verb("bake bakes baked", "backen backt gebacken", _BAKING),
    _verb("read reads read", "lesen liest gelesen", _STUDYING),
    _verb("write writes wrote", "schreiben schreibt geschrieben", _WRITING),
    _verb("copy copies copied", "ab|schreiben schreibt geschrieben", _WRITING),
    _verb("open opens opened", "auf|machen macht gemacht", _OPENING),
    _verb("close closes closed", "zu|machen macht gemacht", _OPENING),
    _verb("lock locks locked", "ab|schließen schließt geschlossen", _LOCKING),
    _verb("put|on puts put", "an|ziehen zieht gezogen", _DRESSING),
    _verb("take|off takes took", "aus|ziehen zieht gezogen", _DRESSING),
    _verb("try|on tries tried", "an|probieren probiert probiert", _DRESSING),
    _verb("turn|on turns turned", "an|machen macht gemacht", _SWITCHING),
    _verb("turn|off turns turned", "aus|machen macht gemacht", _SWITCHING),
    _verb("repair repairs repaired", "reparieren repariert repariert", _REPAIRING),
    _verb("tidy tidies tidied", "auf|räumen räumt geräumt", _TIDYING),
    _verb("clean cleans cleaned", "putzen putzt geputzt", _TIDYING),
    _verb("wash washes washed", "waschen wäscht gewaschen", _WASHING),
)

VERBS_OF_THOUGHT = (
    replace(_verb("know knows knew", "wissen weiß gewusst", Frame()), german_first="weiß"),
    _verb("believe believes believed", "glauben glaubt geglaubt", Frame()),
    _verb("say says said", "sagen sagt gesagt", Frame()),
    _verb("hope hopes hoped", "hoffen hofft gehofft", Frame()),
)
"""What a clause with "that" follows."""

ADJECTIVES = (
    *_adjectives(PEOPLE, "happy glücklich, sad traurig, friendly freundlich, clever klug"),
    *_adjectives(_LIVING, "young jung, tired müde müd, hungry hungrig"),
    *_adjectives((*_LIVING, "clothing", "device", "vehicle", "building"), "old alt"),
    *_adjectives((*_PORTABLE, "vehicle", "furniture", *PLACES), "big groß, small klein"),
    *_adjectives((*_PORTABLE, "device", "vehicle", "door", "furniture", "building"), "new neu"),
    *_adjectives(("clothing", "thing", *PLACES), "beautiful schön"),
    *_adjectives(("clothing", "container", "door", "vehicle"), "red rot, blue blau, green grün"),
    *_adjectives(("clothing", "device", "vehicle"), "expensive teuer teur, cheap billig"),
    *_adjectives(("fruit", "pastry"), "fresh frisch, sweet süß"),
    *_adjectives(("dish", "drink"), "hot heiß, cold kalt"),
    *_adjectives(_READING, "long lang, interesting interessant, funny lustig"),
    *_adjectives(("room", "building", "grounds", "platform"), "dark dunkel dunkl, quiet ruhig"),
    *_adjectives(("container",), "heavy schwer, empty leer"),
)

_DAYS = (
    ("Monday", "Montag"), ("Tuesday", "Dienstag"), ("Wednesday", "Mittwoch"),
    ("Thursday", "Donnerstag"), ("Friday", "Freitag"), ("Saturday", "Samstag"),
    ("Sunday", "Sonntag"),
)  # fmt: skip
ADVERBS = (
    Adverb("today", "heute"),
    Adverb("this week", "diese Woche"),
    Adverb("in the morning", "am Morgen"),
    Adverb("in the evening", "am Abend"),
    Adverb("every day", "jeden Tag", frequency=True),
    Adverb("every evening", "jeden Abend", frequency=True),
    Adverb("now", "jetzt", ("present", "coming")),
    *(Adverb(f"on {english}", f"am {german}", ("past", "coming")) for english, german in _DAYS),
    Adverb("yesterday", "gestern", ("past",)),
    Adverb("last week", "letzte Woche", ("past",)),
    Adverb("tomorrow", "morgen", ("coming",)),
    Adverb("next week", "nächste Woche", ("coming",)),
)
WHY = Adverb("why", "warum")
WHEN = Adverb("when", "wann")
WHERE = Adverb("where", "wo")

CAN = Modal("can", "cannot", "kann", "kann", "können")
# "Must not" forbids, which is not what "nicht müssen" does.
MUST = Modal("must", "", "muss", "muss", "müssen")
SHOULD = Modal("should", "should not", "sollte", "sollte", "sollten")
WILL = Modal("will", "will not", "werde", "wird", "werden")
WOULD_LIKE = Modal("would", "would not", "möchte", "möchte", "möchten", complement="like to")
MODALS = (CAN, MUST, SHOULD, WILL, WOULD_LIKE)

AND = Link("and", "und", coordinates=True)
BUT = Link("but", "aber", coordinates=True)
OR = Link("or", "oder", coordinates=True)
BECAUSE = Link("because", "weil")
ALTHOUGH = Link("although", "obwohl")
IF = Link("if", "wenn")
THAT = Link("that", "dass")
