from pathlib import Path

import pytest

from mute.config import Config, DataConfig
from mute.data.shards import Block, Pairs, ShardWriter
from mute.errors import MuteError
from mute.experiment import claim_run_folder, sections, weights


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


def test_a_run_may_go_on_longer_but_not_differently(tmp_path: Path) -> None:
    def config(**train: object) -> Config:
        return Config.model_validate({"train": {"run": "x", **train}})

    claim_run_folder(config(steps=10, seed=1), tmp_path)
    claim_run_folder(config(steps=99, seed=1, keep=3, patience=2), tmp_path)
    with pytest.raises(MuteError, match=r"other settings: train.seed was 1, is 2\. Change"):
        claim_run_folder(config(steps=99, seed=2), tmp_path)
