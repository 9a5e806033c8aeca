import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mute import experiment as experiment_module
from mute.config import DataConfig, Experiment, TrainConfig
from mute.data.batching import Batch, Indices, make_batch
from mute.data.prepare import prepare
from mute.data.prepared import load_prepared, write_sentences
from mute.data.shards import Block, Pairs, ShardWriter
from mute.errors import Stopped
from mute.experiment import frequencies, train, validator
from mute.model.transformer import build
from mute.result import score_tests
from mute.studies.variants import dev_bleu
from mute.train.trainer import Trainer
from mute.translate.translation import Translation
from mute.translate.translator import Translator
from tests.unit.data.sentences import sentences
from tests.unit.model.oracle import small

DEV = {"source": "a", "target": "b"}


def data_of(*text_weights: float) -> DataConfig:
    text = [{"source": "a", "target": "b", "weight": weight} for weight in text_weights]
    return DataConfig.model_validate(
        {"source": "en", "target": "de", "prepared": "x", "train": text, "dev": DEV}
    )


@pytest.fixture
def two_corpora(tmp_path: Path) -> Pairs:
    writer = ShardWriter(tmp_path / "shards", vocabulary=10)
    for name, count in (("first", 3), ("second", 2)):
        writer.begin(f"{name}.en", f"{name}.de")
        writer.add(Block.of([[5]] * count, [[6]] * count, range(1, count + 1)))
    writer.close()
    return Pairs(tmp_path / "shards")


def test_every_pair_has_the_weight_of_its_file(two_corpora: Pairs) -> None:
    found = frequencies(data_of(2.0, 0.25), two_corpora)
    assert found is not None
    assert found.tolist() == [2.0, 2.0, 2.0, 0.25, 0.25]
    assert frequencies(data_of(1.0, 1.0), two_corpora) is None


def test_validation_and_tests_score_against_all_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for language in ("en", "de"):
        write_sentences(sentences(language), tmp_path / f"train.{language}")
        write_sentences(sentences(language)[:4], tmp_path / f"dev.{language}")

    def data(*references: str) -> DataConfig:
        dev = {
            "source": f"{tmp_path}/dev.en",
            "target": [f"{tmp_path}/{each}" for each in references],
        }
        train = [{"source": f"{tmp_path}/train.en", "target": f"{tmp_path}/train.de"}]
        folder, tokenizer = f"{tmp_path}/prepared-{len(references)}", {"size": 330}
        settings = {"prepared": folder, "train": train, "dev": dev, "test": {"same": dev}}
        return DataConfig.model_validate(
            {"source": "en", "target": "de", "tokenizer": tokenizer, **settings}
        )

    said = [f"{line[:-1]} wirklich." for line in sentences("de")[:4]]
    write_sentences(said, tmp_path / "own.de")
    monkeypatch.setattr(
        Translator, "translate", lambda *_: [Translation(sentence, 0.0) for sentence in said]
    )
    training = TrainConfig(run="x")
    found: list[Mapping[str, float]] = []
    for config in (data("dev.de"), data("dev.de", "own.de")):
        prepare(config, processes=1)
        prepared = load_prepared(config)
        torch.manual_seed(1)
        sizes = (prepared.tokenizer.source_size, prepared.tokenizer.target_size)
        model = build(small(), sizes).eval()
        validated = validator(prepared, config, training)(model)
        translator = Translator(model, prepared.tokenizer)
        tested = score_tests(translator, config, training, tmp_path)["same"]
        assert tested["bleu"] == validated["bleu"] == dev_bleu(translator, config, training)
        assert f"nrefs:{len(found) + 1}" in tested["signature"]
        found.append(validated)
    assert 10 < found[0]["bleu"] < 90
    assert found[1]["bleu"] == pytest.approx(100)
    assert found[0]["loss"] == found[1]["loss"]  # against the first alone


def test_a_development_line_too_long_for_the_loss_makes_no_batch_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for language in ("en", "de"):
        lines = sentences(language)
        write_sentences(lines, tmp_path / f"train.{language}")
        write_sentences([*lines, " ".join(lines)], tmp_path / f"dev.{language}")
    train_text, dev = (
        {side: f"{tmp_path}/{part}.{code}" for side, code in (("source", "en"), ("target", "de"))}
        for part in ("train", "dev")
    )
    data = DataConfig.model_validate(
        {
            "source": "en",
            "target": "de",
            "prepared": f"{tmp_path}/prepared",
            "train": [train_text],
            "dev": dev,
            "tokenizer": {"size": 330},
        }
    )
    prepare(data, processes=1)
    prepared, budget = load_prepared(data), 60
    longest = int(np.maximum(*prepared.dev.lengths)[:-1].max())
    monkeypatch.setattr(experiment_module, "LONGEST_IN_LOSS", longest)
    monkeypatch.setattr(Translator, "translate", lambda _, lines, *__: [Translation("", 0.0)] * 37)
    sizes, seen = [], []

    def recorded(corpus: Pairs, indices: Indices) -> Batch:
        batch = make_batch(corpus, indices)
        sizes.append(max(batch.source.numel(), batch.target_input.numel()))
        seen.extend(indices.tolist())
        return batch

    monkeypatch.setattr(experiment_module, "make_batch", recorded)
    model = build(small(), (prepared.tokenizer.source_size, prepared.tokenizer.target_size))
    validator(prepared, data, TrainConfig(run="x", batch_tokens=budget))(model.eval())
    assert sorted(seen) == list(range(36))
    assert max(sizes) <= budget


@pytest.fixture(scope="module")
def two_texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A data section with two texts of 24 and 12 pairs and lower-cased pieces, prepared."""
    folder = tmp_path_factory.mktemp("two-texts")
    parts = {"first": slice(24), "second": slice(24, None), "dev": slice(4)}
    for name, part in parts.items():
        for language in ("en", "de"):
            write_sentences(sentences(language)[part], folder / f"{name}.{language}")
    text = {
        name: {"source": f"{folder}/{name}.en", "target": f"{folder}/{name}.de"} for name in parts
    }
    data = {
        "source": "en",
        "target": "de",
        "prepared": f"{folder}/prepared",
        "train": [text["first"], text["second"]],
        "dev": text["dev"],
        "test": {"same": text["dev"]},
        "tokenizer": {"size": 300, "lowercase": True},
    }
    prepare(DataConfig.model_validate(data), processes=1)
    return data


def experiment(data: dict[str, Any], run: Path, **settings: object) -> Experiment:
    training = {"run": str(run), "steps": 1, "batch_tokens": 200, **settings}
    return Experiment.model_validate({"model": small(), "data": data, "train": training})


def trainer_of(config: Experiment) -> Trainer:
    """What an experiment would train with."""
    made: list[Trainer] = []

    def stop(trainer: Trainer, *_: object) -> None:
        made.append(trainer)
        raise Stopped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "fit", stop)
        with pytest.raises(Stopped):
            train(config)
    return made[0]


def test_training_sees_every_text_as_often_as_its_weight_says(
    two_texts: dict[str, Any], tmp_path: Path
) -> None:
    first, second = two_texts["train"]
    weighted = {**two_texts, "train": [{**first, "weight": 2.0}, {**second, "weight": 3.0}]}
    for data, times in ((two_texts, (1, 1)), (weighted, (2, 3))):
        run = tmp_path / f"times-{times[0]}"
        batches = list(trainer_of(experiment(data, run)).stream.epoch(0))
        seen = Counter(int(index) for batch in batches for index in batch)
        assert seen == {index: times[0] if index < 24 else times[1] for index in range(36)}


def test_training_cuts_words_anew_in_every_epoch_if_it_is_to_sample(
    two_texts: dict[str, Any], tmp_path: Path
) -> None:
    def pieces(epoch: int, sampling: float, seed: int = 1) -> list[list[int]]:
        run = tmp_path / f"{sampling}-{seed}"
        trainer = trainer_of(experiment({**two_texts, "sampling": sampling}, run, seed=seed))
        batch = trainer.stream.load(np.arange(36, dtype=np.int32), epoch)
        return [*batch.source.tolist(), *batch.target_output.tolist()]

    usual, sampled = pieces(0, 0.0), pieces(0, 0.5)
    assert pieces(1, 0.0) == usual
    assert pieces(0, 0.5) == sampled
    others = [usual, pieces(1, 0.5), pieces(0, 0.5, seed=2)]
    assert all(other != sampled for other in others)


def test_a_seed_decides_the_first_weights_and_the_order_of_the_batches(
    two_texts: dict[str, Any], tmp_path: Path
) -> None:
    def drawn(seed: int) -> tuple[list[list[int]], list[float]]:
        trainer = trainer_of(experiment(two_texts, tmp_path / f"{seed}", seed=seed))
        batches = [batch.tolist() for batch in trainer.stream.epoch(0)]
        return batches, next(trainer.model.parameters()).flatten().tolist()

    ours = drawn(1)
    assert drawn(1) == ours
    for one, other in zip(ours, drawn(2), strict=True):
        assert one != other


def test_a_run_searches_and_scores_as_its_config_says(
    two_texts: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def capitalise(
        _: Translator, lines: Sequence[str], beam: int = 4, length_penalty: float = 0.6
    ) -> list[Translation]:
        asked.append((beam, length_penalty))
        return [Translation(sentence.title(), 0.0) for sentence in sentences("de")[: len(lines)]]

    monkeypatch.setattr(Translator, "translate", capitalise)
    state = train(experiment(two_texts, tmp_path, beam=3, length_penalty=1.5))
    assert asked == [(3, 1.5)] * 2, "once to validate, once to test"
    assert state.best_score == pytest.approx(100), "case does not count"
    test = json.loads((tmp_path / "result.json").read_text())["tests"]["same"]
    assert test["bleu"] == pytest.approx(100)
    assert "case:lc" in test["signature"]
