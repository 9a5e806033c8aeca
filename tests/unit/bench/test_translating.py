import torch

from mute.bench.material import equal_lengths, random_material
from mute.bench.translating import measure_translation
from mute.config import ModelConfig, TrainConfig
from mute.model.transformer import build


def test_as_many_sentences_at_once_are_translated_as_is_asked_for() -> None:
    config = ModelConfig(
        preset="tiny", encoder_layers=1, decoder_layers=1, d_model=16, d_ffn=16, heads=2
    )
    training = TrainConfig(run="x", batch_tokens=20)
    material = random_material(equal_lengths(3), training, torch.device("cpu"), (30, 40))
    found, _ = measure_translation(build(config, material.sizes), material, 100.0, (2, 5))
    assert sorted({each.sentences for each in found}) == [2, 5]
    for each in found:
        assert (each.source_length, each.target_length) == (3, 3)
        tokens = each.speed.target_tokens_per_second * each.seconds
        assert round(tokens) == 3 * each.sentences
