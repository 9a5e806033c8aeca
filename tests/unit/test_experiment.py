from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

from mute.config import Config, DataConfig, TrainConfig
from mute.data.prepare import prepare
from mute.data.prepared import load_prepared, write_sentences
from mute.data.shards import Block, Pairs, ShardWriter
from mute.errors import MuteError
from mute.experiment import sections, validator, weights
from mute.model.transformer import build
from mute.result import score_tests
from mute.studies.variants import dev_bleu
from mute.translate.translation import Translation
from mute.translate.translator import Translator
from tests.unit.data.sentences import sentences
from tests.unit.model.oracle import small


def data_of(*text_weights: float) -> DataConfig:
    text = [{"source": "a", "target": "b", "weight": weight} for weight in text_weights]
    return DataConfig.model_validate(
        {"source": "en", "target": "de", "prepared": "x", "train": text, "dev": text[0]}
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
    found = weights(data_of(2.0, 0.25), two_corpora)
    assert found is not None
    assert found.tolist() == [2.0, 2.0, 2.0, 0.25, 0.25]
    assert weights(data_of(1.0, 1.0), two_corpora) is None


def test_a_config_without_a_section_is_told() -> None:
    with pytest.raises(MuteError, match="has no 'data:' section"):
        sections(Config())
    with pytest.raises(MuteError, match="has no 'train:' section"):
        sections(Config(data=data_of(1.0)))


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
