"""Small parallel texts, made on the spot."""

from itertools import product

_WORDS = {
    "en": (["A dog", "The child", "An old woman"], ["sees", "likes", "doesn't find"]),
    "de": (["Ein Hund", "Das Kind", "Eine alte Frau"], ["sieht", "mag", "findet nie"]),
    "zh": (["一只狗", "这个孩子", "一位老妇人"], ["看见", "喜欢", "找不到"]),
}
_OBJECTS = {
    "en": ["the red house.", "a big tree!", "3 small birds?", 'the "blue" sea, near Rome.'],
    "de": ["das rote Haus.", "einen großen Baum!", "3 kleine Vögel?", "das „blaue“ Meer bei Rom."],
    "zh": ["红色的房子。", "一棵大树！", "三只小鸟？", "New York的大海。"],
}


def sentences(language: str) -> list[str]:
    """36 different sentences; those of two languages are translations of each other."""
    subjects, verbs = _WORDS[language]
    space = "" if language == "zh" else " "
    return [space.join(words) for words in product(subjects, verbs, _OBJECTS[language])]


def pairs(source: str, target: str) -> list[tuple[str, str]]:
    return list(zip(sentences(source), sentences(target), strict=True))
