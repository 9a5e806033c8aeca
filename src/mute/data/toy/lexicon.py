"""The words of the embedded corpus, written as a dictionary lists them.

A noun has a kind, and a verb's frame names the kinds it takes, so that books are read and doors
are opened. An English word has one sense, and no two words share a German one: each side of the
corpus determines the other.
"""

from dataclasses import replace

from mute.data.toy.notation import adjectives, nouns, verb
from mute.data.toy.wordclasses import (
    Adverb,
    Case,
    Determiner,
    Frame,
    Kind,
    Link,
    Modal,
    Noun,
    Preposition,
    Pronoun,
    Role,
)

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
    *nouns("person", "man/men der Mann Männer, woman/women die Frau Frauen"),
    *nouns("person", "child/children das Kind Kinder, girl das Mädchen Mädchen"),
    *nouns("person", "boy der Junge Jungen weak, student der Student Studenten weak"),
    *nouns("person", "tourist der Tourist Touristen weak, farmer der Bauer Bauern weak"),
    *nouns("person", "teacher der Lehrer Lehrer, doctor der Arzt Ärzte, guest der Gast Gäste"),
    *nouns("parent", "mother die Mutter Mütter, father der Vater Väter"),
    *nouns("relation", "sister die Schwester Schwestern, brother der Bruder Brüder"),
    *nouns("relation", "daughter die Tochter Töchter, son der Sohn Söhne, aunt die Tante Tanten"),
    *nouns("relation", "friend der Freund Freunde, neighbour der Nachbar Nachbarn weak"),
    *nouns("animal", "dog der Hund Hunde, cat die Katze Katzen, horse das Pferd Pferde"),
    *nouns("animal", "bird der Vogel Vögel, cow die Kuh Kühe, mouse/mice die Maus Mäuse"),
    *nouns("fruit", "apple der Apfel Äpfel, pear die Birne Birnen"),
    *nouns("fruit", "orange die Orange Orangen, tomato die Tomate Tomaten"),
    *nouns("dish", "soup die Suppe Suppen, potato die Kartoffel Kartoffeln, egg das Ei Eier"),
    *nouns("dish", "rice der Reis, meat das Fleisch"),
    *nouns("pastry", "cake der Kuchen Kuchen, biscuit der Keks Kekse, bread das Brot"),
    *nouns("drink", "water das Wasser, milk die Milch, coffee der Kaffee, tea der Tee"),
    *nouns("drink", "juice der Saft"),
    *nouns("text", "letter der Brief Briefe, message die Nachricht Nachrichten"),
    *nouns("text", "story die Geschichte Geschichten, report der Bericht Berichte"),
    *nouns("publication", "book das Buch Bücher, newspaper die Zeitung Zeitungen"),
    *nouns("door", "door die Tür Türen, window das Fenster Fenster, gate das Tor Tore"),
    *nouns("container", "box die Kiste Kisten, bag die Tasche Taschen"),
    *nouns("container", "suitcase der Koffer Koffer, cupboard der Schrank Schränke"),
    *nouns("clothing", "coat der Mantel Mäntel, jacket die Jacke Jacken, hat der Hut Hüte"),
    *nouns("clothing", "shirt das Hemd Hemden, dress das Kleid Kleider, shoe der Schuh Schuhe"),
    *nouns("device", "lamp die Lampe Lampen, radio das Radio Radios"),
    *nouns("device", "computer der Computer Computer, machine die Maschine Maschinen"),
    *nouns("vehicle", "car das Auto Autos, bus der Bus Busse, train der Zug Züge"),
    *nouns("thing", "key der Schlüssel Schlüssel, picture das Bild Bilder, clock die Uhr Uhren"),
    *nouns("thing", "knife/knives das Messer Messer, cup die Tasse Tassen"),
    *nouns("thing", "plate der Teller Teller, umbrella der Regenschirm Regenschirme"),
    *nouns("thing", "flower die Blume Blumen, bottle die Flasche Flaschen"),
    *nouns("furniture", "chair der Stuhl Stühle, bench die Bank Bänke"),
    *nouns("furniture", "table der Tisch Tische, sofa das Sofa Sofas"),
    *nouns("room", "kitchen die Küche Küchen, room das Zimmer Zimmer, office das Büro Büros"),
    *nouns("room", "cellar der Keller Keller"),
    *nouns("building", "house das Haus Häuser, school die Schule Schulen"),
    *nouns("building", "church die Kirche Kirchen, library die Bibliothek Bibliotheken"),
    *nouns("building", "hotel das Hotel Hotels, museum das Museum Museen"),
    *nouns("grounds", "garden der Garten Gärten, park der Park Parks"),
    *nouns("town", "city die Stadt Städte, village das Dorf Dörfer"),
    *nouns("platform", "balcony der Balkon Balkone, terrace die Terrasse Terrassen"),
    *nouns("platform", "street die Straße Straßen, island die Insel Inseln"),
)


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
    verb("sleep sleeps slept", "schlafen schläft geschlafen", _RESTING),
    verb("wait waits waited", "warten wartet gewartet", _RESTING),
    verb("work works worked", "arbeiten arbeitet gearbeitet", _ACTING),
    verb("dance dances danced", "tanzen tanzt getanzt", _ACTING),
    verb("sing sings sang", "singen singt gesungen", _ACTING),
    verb("get|up gets got", "auf|stehen steht ist gestanden", Frame()),
    verb("stay stays stayed", "bleiben bleibt ist geblieben", _BEING_SOMEWHERE),
    verb("arrive arrives arrived", "an|kommen kommt ist gekommen", _BEING_SOMEWHERE),
    verb("play plays played", "spielen spielt gespielt", _PLAYING),
    verb("wait waits waited", "warten wartet gewartet", _AWAITING),
    verb("think thinks thought", "denken denkt gedacht", _THINKING),
    verb("dream dreams dreamt", "träumen träumt geträumt", _DREAMING),
    verb("talk talks talked", "sprechen spricht gesprochen", _TALKING),
    verb("laugh laughs laughed", "lachen lacht gelacht", _TALKING),
    verb("help helps helped", "helfen hilft geholfen", _HELPING),
    verb("thank thanks thanked", "danken dankt gedankt", _HELPING),
    verb("answer answers answered", "antworten antwortet geantwortet", _HELPING),
    verb("listen|to listens listened", "zu|hören hört gehört", _HELPING),
    verb("follow follows followed", "folgen folgt ist gefolgt", _FOLLOWING),
    verb("give gives gave", "geben gibt gegeben", _GIVING),
    verb("show shows showed", "zeigen zeigt gezeigt", _GIVING),
    verb("bring brings brought", "bringen bringt gebracht", _GIVING),
    verb("sell sells sold", "verkaufen verkauft verkauft", _SELLING),
    verb("send sends sent", "schicken schickt geschickt", _TELLING),
    verb("explain explains explained", "erklären erklärt erklärt", _TELLING),
    verb("read|out reads read", "vor|lesen liest gelesen", _READING_OUT),
    verb("call calls called", "an|rufen ruft gerufen", Frame(accusative=PEOPLE)),
    verb("invite invites invited", "ein|laden lädt geladen", Frame(accusative=PEOPLE)),
    verb("greet greets greeted", "grüßen grüßt gegrüßt", _MEETING),
    verb("meet meets met", "treffen trifft getroffen", _MEETING),
    verb("visit visits visited", "besuchen besucht besucht", _VISITING),
    verb("look|at looks looked", "an|sehen sieht gesehen", _VISITING),
    verb("see sees saw", "sehen sieht gesehen", _SEEING),
    verb("hear hears heard", "hören hört gehört", _HEARING),
    verb("look|for looks looked", "suchen sucht gesucht", _SEEKING),
    verb("find finds found", "finden findet gefunden", _SEEKING),
    verb("buy buys bought", "kaufen kauft gekauft", _BUYING),
    verb("carry carries carried", "tragen trägt getragen", _CARRYING),
    verb("fetch fetches fetched", "holen holt geholt", _FETCHING),
    verb("throw|away throws threw", "weg|werfen wirft geworfen", _FETCHING),
    verb("eat eats ate", "essen isst gegessen", _EATING),
    verb("drink drinks drank", "trinken trinkt getrunken", _DRINKING),
    verb("order orders ordered", "bestellen bestellt bestellt", _ORDERING),
    verb("cook cooks cooked", "kochen kocht gekocht", _COOKING),
    verb("bake bakes baked", "backen backt gebacken", _BAKING),
    verb("read reads read", "lesen liest gelesen", _STUDYING),
    verb("write writes wrote", "schreiben schreibt geschrieben", _WRITING),
    verb("copy copies copied", "ab|schreiben schreibt geschrieben", _WRITING),
    verb("open opens opened", "auf|machen macht gemacht", _OPENING),
    verb("close closes closed", "zu|machen macht gemacht", _OPENING),
    verb("lock locks locked", "ab|schließen schließt geschlossen", _LOCKING),
    verb("put|on puts put", "an|ziehen zieht gezogen", _DRESSING),
    verb("take|off takes took", "aus|ziehen zieht gezogen", _DRESSING),
    verb("try|on tries tried", "an|probieren probiert probiert", _DRESSING),
    verb("turn|on turns turned", "an|machen macht gemacht", _SWITCHING),
    verb("turn|off turns turned", "aus|machen macht gemacht", _SWITCHING),
    verb("repair repairs repaired", "reparieren repariert repariert", _REPAIRING),
    verb("tidy tidies tidied", "auf|räumen räumt geräumt", _TIDYING),
    verb("clean cleans cleaned", "putzen putzt geputzt", _TIDYING),
    verb("wash washes washed", "waschen wäscht gewaschen", _WASHING),
)

VERBS_OF_THOUGHT = (
    replace(verb("know knows knew", "wissen weiß gewusst", Frame()), german_first="weiß"),
    verb("believe believes believed", "glauben glaubt geglaubt", Frame()),
    verb("say says said", "sagen sagt gesagt", Frame()),
    verb("hope hopes hoped", "hoffen hofft gehofft", Frame()),
)
"""What a clause with "that" follows."""

ADJECTIVES = (
    *adjectives(PEOPLE, "happy glücklich, sad traurig, friendly freundlich, clever klug"),
    *adjectives(_LIVING, "young jung, tired müde müd, hungry hungrig"),
    *adjectives((*_LIVING, "clothing", "device", "vehicle", "building"), "old alt"),
    *adjectives((*_PORTABLE, "vehicle", "furniture", *PLACES), "big groß, small klein"),
    *adjectives((*_PORTABLE, "device", "vehicle", "door", "furniture", "building"), "new neu"),
    *adjectives(("clothing", "thing", *PLACES), "beautiful schön"),
    *adjectives(("clothing", "container", "door", "vehicle"), "red rot, blue blau, green grün"),
    *adjectives(("clothing", "device", "vehicle"), "expensive teuer teur, cheap billig"),
    *adjectives(("fruit", "pastry"), "fresh frisch, sweet süß"),
    *adjectives(("dish", "drink"), "hot heiß, cold kalt"),
    *adjectives(_READING, "long lang, interesting interessant, funny lustig"),
    *adjectives(("room", "building", "grounds", "platform"), "dark dunkel dunkl, quiet ruhig"),
    *adjectives(("container",), "heavy schwer, empty leer"),
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
