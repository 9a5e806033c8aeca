"""A translator that has learned nothing: what is measured does not depend on that."""

from functools import cache

import torch

from mute.config import TokenizerConfig
from mute.data.tokenizer import Tokenizer, learn_tokenizer
from mute.data.toy import pairs
from mute.translate.translator import Translator
from tests.unit.model.oracle import double, small

LINES = ["The dog sleeps.", "", "He sees the old house in the garden.", "Yes"]
GERMAN = ["Der Hund schläft.", "", "Er sieht das alte Haus im Garten.", "Ja"]


@cache
def tokenizer() -> Tokenizer:
    config = TokenizerConfig.model_validate({"size": 400})
    return learn_tokenizer(list(pairs(200, seed=1, split="train")), config, ("en", "de"))


def translator(**settings: object) -> Translator:
    torch.manual_seed(1)
    model = double(small(**settings), vocab_size=tokenizer().source_size).float()
    return Translator(model, tokenizer(), max_length=20)
