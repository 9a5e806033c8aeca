"""The whole model must learn something, not only run."""

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from mute.config import ModelConfig, TrainConfig
from mute.data.batching import BatchStream, pad
from mute.data.vocabulary import EOS
from mute.model.transformer import Transformer, build
from mute.train.group import Group
from mute.train.trainer import Trainer
from mute.translate.engine import Engine
from mute.translate.search import SearchOptions, beam_search


class Reversals:
    """Words 4 … 11 in any order, and the same backwards."""

    def __init__(self, count: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        self._sources = [random.integers(4, 12, random.integers(3, 8)) for _ in range(count)]

    def __len__(self) -> int:
        return len(self._sources)

    def __getitem__(self, index: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self._sources[index], self._sources[index][::-1]

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        lengths = np.array([len(source) for source in self._sources])
        return lengths, lengths


def share_right(model: Transformer, corpus: Reversals) -> float:
    pairs = [corpus[index] for index in range(len(corpus))]
    source = pad([[*source, EOS] for source, _ in pairs])
    options = SearchOptions()
    with torch.inference_mode():
        found = beam_search(Engine(model).start(source, options.beam), source, options)
    right = [
        bool(best[0].ids == target.tolist()) for best, (_, target) in zip(found, pairs, strict=True)
    ]
    return sum(right) / len(right)


@pytest.mark.parametrize(
    "system",
    [
        {"units": 1},
        {"units": 4, "bias": ["identity", "swap", "disorder", "mask"], "sequential": True},
    ],
    ids=["relative", "bias + seq"],
)
def test_it_learns_to_turn_a_sentence_around(system: dict[str, object], tmp_path: Path) -> None:
    torch.manual_seed(1)
    shape = {"encoder_layers": 2, "decoder_layers": 2, "d_model": 32, "d_ffn": 64, "heads": 4}
    config = ModelConfig.model_validate({**shape, "dropout": 0.0, **system})
    model = build(config, vocab_size=12)
    training = TrainConfig(
        run=str(tmp_path),
        steps=400,
        batch_tokens=400,
        schedule="inverse-sqrt",
        learning_rate=5e-3,
        warmup=50,
        validate_every=400,
        save_every=400,
        average_decay=0.0,
    )
    corpus = Reversals(4000, seed=1)
    stream = BatchStream(corpus, training.batch_tokens, training.seed)
    group = Group(0, 1, torch.device("cpu"))
    trainer = Trainer(model, training, group, stream, str)
    trainer.fit(validate=lambda _: {"bleu": 0.0}, keep_best=lambda _: None)
    assert share_right(model, Reversals(200, seed=2)) > 0.95
