"""What is translated when decoding is measured: by which models, and which sentences."""

import random
from collections.abc import Iterator

import torch
from comparison import Setting
from contenders import Search

from mute.config import ModelConfig, Preset, TokenizerConfig
from mute.data.lines import read_text
from mute.data.moses_bpe import MosesBpe
from mute.data.places import locate
from mute.data.tokenizer import Tokenizer
from mute.data.vocabulary import BOS, PAD, SPECIALS, UNK
from mute.model.transformer import Transformer, build

BASE, TRAINED = "Transformer-Base", "Multi30k"
VOCABULARY = 32_000
SOURCES = (10, 30)
"""Tokens of a source sentence: units are the encoder's, and cost in proportion to it."""
STEPS = 30
"""Tokens of every translation, where its length is forced."""
BATCH = 30
ONE_BY_ONE = {BASE: 5, TRAINED: 100}
"""Sentences that are translated one by one."""
TEST_SET = "multi30k/tok/test_2016_flickr.lc.norm.tok.en.gz"


def random_model(units: int, preset: Preset = "base") -> Transformer:
    """A shape of the paper's, with random weights and absolute positions, as all peers have."""
    torch.manual_seed(1)
    config = ModelConfig(
        preset=preset,
        units=units,
        sequential=units > 1,
        relative_positions=0,
        share_embeddings=True,
    )
    model = build(config, VOCABULARY).eval()
    with torch.no_grad():  # only our search forbids what a trained model would never say
        model.output.bias[[PAD, UNK, BOS]] = -30
    return model


def base_tokenizer() -> Tokenizer:
    """Names for the ids, since CTranslate2 knows them by these alone."""
    names = [*SPECIALS, *map(str, range(len(SPECIALS), VOCABULARY))]
    config = TokenizerConfig(kind="moses-bpe", pretokenized=True)
    return MosesBpe(config, ("en", "de"), "#version: 0.2\n1 2\n", [names])


def base_settings(*, quick: bool) -> Iterator[Setting]:
    """Random sentences of every length, in one batch and one by one; if quick, the main part."""
    draw = random.Random(1)
    words = range(len(SPECIALS), VOCABULARY)
    texts = {length: [draw.choices(words, k=length) for _ in range(BATCH)] for length in SOURCES}
    for together in (True,) if quick else (True, False):
        for length, sentences in texts.items():
            singly = [[sentence] for sentence in sentences[: ONE_BY_ONE[BASE]]]
            batches = [sentences] if together else singly
            for beam in (4,) if quick else (4, 1):
                yield Setting(BASE, f"{length} source tokens", batches, Search(beam, STEPS))


def trained_settings(tokenizer: Tokenizer) -> Iterator[Setting]:
    """The test set, all of it in batches by length, and its first lines one by one."""
    sentences = [tokenizer.encode(line, "source") for line in read_text(locate(TEST_SET))]
    singly = [[sentence] for sentence in sentences[: ONE_BY_ONE[TRAINED]]]
    ordered = sorted(sentences, key=len)
    batches = [ordered[start : start + BATCH] for start in range(0, len(ordered), BATCH)]
    for work in (batches, singly):
        for beam in (4, 1):
            yield Setting(TRAINED, "test_2016_flickr", work, Search(beam, steps=None))
