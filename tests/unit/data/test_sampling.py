from pathlib import Path

import numpy as np
import pytest

from mute.config import TokenizerConfig
from mute.data.sampling import SampledPairs
from mute.data.shards import Block, Pairs, ShardWriter
from mute.data.tokenizer import Tokenizer, learn_tokenizer
from mute.data.toy import pairs


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    config = TokenizerConfig(kind="sentencepiece", size=400)
    return learn_tokenizer(list(pairs(400)), config, ("en", "de"))


def test_every_epoch_of_every_run_cuts_the_same_text_its_own_way(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    text = list(pairs(20))
    source = [tokenizer.encode(english, "source") for english, _ in text]
    target = [tokenizer.encode(german, "target") for _, german in text]
    writer = ShardWriter(tmp_path / "shards", 400)
    writer.begin("en", "de")
    writer.add(Block.of(source, target, range(1, 21)))
    writer.close()
    stored = Pairs(tmp_path / "shards")

    def epoch(number: int, seed: int = 1) -> list[tuple[list[int], list[int]]]:
        sampled = SampledPairs(stored, tokenizer, 0.3, seed, number)
        drawn = [(list(sampled[index][0]), list(sampled[index][1])) for index in range(20)]
        lengths = sampled.lengths_of(np.arange(20, dtype=np.int32))
        assert [tuple(map(len, pair)) for pair in drawn] == list(zip(*lengths, strict=True))
        assert [sampled[index] for index in range(20)] == drawn, "measuring changes nothing"
        return drawn

    first, again, second = epoch(0), epoch(0), epoch(1)
    assert first == again
    assert first != second
    assert first != epoch(0, seed=2)
    for (english, german), (source_ids, target_ids) in zip(text, first, strict=True):
        assert tokenizer.decode(source_ids, "source") == english
        assert tokenizer.decode(target_ids, "target") == german
    assert any(ids != stored[index][0].tolist() for index, (ids, _) in enumerate(first))
