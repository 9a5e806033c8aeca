"""The corpora that the paper and this project use, as a table."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class KnownFile:
    """A gzipped file of a corpus, as it should be in the data folder."""

    path: str
    """Below the data folder."""
    lines: int | None = None
    digest: str | None = None
    """The first 16 digits of the SHA-256 of the text, which no way of compressing changes."""
    url: str | None = None
    """Where the text lies, gzipped or not."""


@dataclass(frozen=True)
class KnownCorpus:
    """A corpus and what one has to know to use it."""

    name: str
    languages: tuple[str, str]
    origin: str
    terms: str
    instructions: str
    """How to get it."""
    files: tuple[KnownFile, ...]


def _files(
    pattern: str,
    languages: tuple[str, str],
    parts: Mapping[str, tuple[int | None, str | None, str | None]],
    url: str | None = None,
) -> tuple[KnownFile, ...]:
    """Both sides of each part: its number of lines, and the digests of the two."""
    return tuple(
        KnownFile(
            path=pattern.format(part=part, language=language),
            lines=lines,
            digest=digest,
            url=url.format(part=part, language=language) if url else None,
        )
        for part, (lines, *digests) in parts.items()
        for language, digest in zip(languages, digests, strict=True)
    )


_MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1"
_3AM = "https://raw.githubusercontent.com/MaxyLee/3AM/ce8099724d9ecc8e5c77e44f43d9b7924118f037"
_NEWSTEST = "wmt/{part}.{language}.gz"
_UNKNOWN = (None, None, None)

_CORPORA = (
    KnownCorpus(
        name="multi30k",
        languages=("en", "de"),
        origin="https://github.com/multi30k/dataset, image captions (Elliott et al. 2016)",
        terms="non-commercial research and education, as the captions of Flickr30k",
        instructions="downloaded from GitHub; tok/ is the text that published scores use",
        files=(
            *_files(
                "multi30k/{part}.{language}.gz",
                ("en", "de"),
                {
                    "train": (29_000, "460a15fbd157e34a", "2c2b73fd2b548fbc"),
                    "val": (1014, "1f2a23d992769b5b", "660e09eb7e1da2f8"),
                    "test_2016_flickr": (1000, "399a4382932c1aad", "4be6b5b3236b79c2"),
                    "test_2017_flickr": (1000, "ce1450ddc5ab0834", "c3078bc3b36808bf"),
                    "test_2017_mscoco": (461, "43051fdfa86fd539", "58277df3c75f92f7"),
                },
                f"{_MULTI30K}/raw/{{part}}.{{language}}.gz",
            ),
            *_files(
                "multi30k/tok/{part}.lc.norm.tok.{language}.gz",
                ("en", "de"),
                {
                    "train": (29_000, "08925f8e0572bcd5", "cb5a23529b65ec20"),
                    "val": (1014, "46573ce391ae227f", "97232bd273eceb72"),
                    "test_2016_flickr": (1000, "5b7f32627cf99ece", "c6a33d39d48f9f51"),
                    "test_2017_flickr": (1000, "c9d1dfd7a26add98", "02067e4a9402786a"),
                    "test_2017_mscoco": (461, "fe69ae004d71c42e", "e2825990b8a4e528"),
                },
                f"{_MULTI30K}/tok/{{part}}.lc.norm.tok.{{language}}",
            ),
        ),
    ),
    KnownCorpus(
        name="tatoeba-en-de",
        languages=("en", "de"),
        origin="https://www.manythings.org/anki/deu-eng.zip of 2018-05-13, from tatoeba.org",
        terms="CC-BY 2.0 FR; attribute tatoeba.org and manythings.org/anki",
        instructions=(
            "unzip deu-eng.zip: its deu.txt is a TSV that data.train reads as it is; the split "
            "checked here keeps every sentence of dev and test out of train, on both sides"
        ),
        files=_files(
            "tatoeba_en-de/{part}.{language}.gz",
            ("en", "de"),
            {
                "train": (164_513, "284df9789f3af81a", "99f10d4749314a76"),
                "dev": (2000, "00f14a8e5c7cb33a", "02fbeda36e9135fb"),
                "test": (2000, "44cd5ea6b5429794", "c5099e1b8f1fb260"),
            },
        ),
    ),
    KnownCorpus(
        name="tatoeba-en-zh",
        languages=("en", "zh"),
        origin="https://github.com/Helsinki-NLP/Tatoeba-Challenge, release v2023-09-26, eng-zho",
        terms="CC-BY 2.0 FR; attribute tatoeba.org",
        instructions=(
            "of the pairs labelled cmn, take the release's test as test, and as train its dev "
            "without the pairs that share a side with test"
        ),
        files=_files(
            "tatoeba_en-zh/{part}.{language}.gz",
            ("en", "zh"),
            {
                "train": (35_939, "7d2c2ebe93de5e6e", "25bb0f7936ab03d6"),
                "test": (9826, "0fb5ef056e43a699", "243e1289cbd0c88d"),
            },
        ),
    ),
    KnownCorpus(
        name="3am",
        languages=("en", "zh"),
        origin="https://github.com/MaxyLee/3AM, image captions",
        terms="MIT",
        instructions="downloaded from GitHub",
        files=_files(
            "3am/{part}.{language}.gz",
            ("en", "zh"),
            {
                "train": (23_931, "76892bb6a4bc43b6", "ef6664af8f0fdfef"),
                "val": (1000, "7db9139605b31e96", "900d14fa691534e9"),
                "test": (1000, "a9706d2079338901", "989e2c342f4462bb"),
            },
            f"{_3AM}/data/{{part}}.{{language}}",
        ),
    ),
    KnownCorpus(
        name="wmt14-en-de",
        languages=("en", "de"),
        origin="https://statmt.org/wmt14/translation-task.html, 4.5 million pairs",
        terms="free for research",
        instructions=(
            "join Europarl v7, Common Crawl and News Commentary v9 of that page into one file "
            "for each language; newstest comes from 'sacrebleu -t wmt13 -l en-de --echo src' "
            "(and ref) and 'sacrebleu -t wmt14/full …'"
        ),
        files=(
            *_files("wmt14-en-de/{part}.{language}.gz", ("en", "de"), {"train": _UNKNOWN}),
            *_files(
                _NEWSTEST,
                ("en", "de"),
                {
                    "newstest2013.en-de": (3000, "80b81d23ddfd1672", "026f4fd1fe147ece"),
                    "newstest2014.en-de": (3003, "7294bccf2879a97b", "ae5d110486bc33d7"),
                },
            ),
        ),
    ),
    KnownCorpus(
        name="wmt18-zh-en",
        languages=("zh", "en"),
        origin="https://statmt.org/wmt18/translation-task.html, 18.4 million pairs after cleaning",
        terms="free for research; CWMT's part asks for a registration",
        instructions=(
            "join News Commentary v13, the UN Parallel Corpus and the CWMT corpora of that page "
            "into one file for each language; newstest comes from "
            "'sacrebleu -t wmt17 -l zh-en --echo src' (and ref) and 'sacrebleu -t wmt18 …'"
        ),
        files=(
            *_files("wmt18-zh-en/{part}.{language}.gz", ("zh", "en"), {"train": _UNKNOWN}),
            *_files(
                _NEWSTEST,
                ("zh", "en"),
                {
                    "newstest2017.zh-en": (2001, "cdb2e71249ad0f39", "58c844d4e3c0baf7"),
                    "newstest2018.zh-en": (3981, "37c340d55f142b53", "70fbc6b34f64aff7"),
                },
            ),
        ),
    ),
    KnownCorpus(
        name="nist-zh-en",
        languages=("zh", "en"),
        origin="https://www.ldc.upenn.edu, LDC's Chinese-English news corpora, 1.25 million pairs",
        terms="a licence from the LDC for each corpus",
        instructions=(
            "bring your own copy of LDC2002E18, LDC2003E07, LDC2003E14, LDC2004T07 (Hansards), "
            "LDC2004T08 and LDC2005T06; MT02 to MT08 are the LDC's evaluation sets"
        ),
        files=_files("nist-zh-en/{part}.{language}.gz", ("zh", "en"), {"train": _UNKNOWN}),
    ),
)

CATALOG: Mapping[str, KnownCorpus] = {corpus.name: corpus for corpus in _CORPORA}
"""The known corpora by name."""


def can_be_downloaded(path: str) -> bool:
    """Whether a file is one of a corpus that `mute prepare --download` fetches."""
    return any(
        all(file.url for file in corpus.files) and path in (file.path for file in corpus.files)
        for corpus in CATALOG.values()
    )
