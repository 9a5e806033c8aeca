import pytest

from mute.config import BiasKind, ModelConfig, UnitsConfig
from mute.model.parameters import parameter_count, parameters_by_part
from mute.model.transformer import build

KINDS: list[BiasKind] = ["identity", "swap", "disorder", "mask"]


def test_one_unit_of_base_and_what_three_more_add() -> None:
    """Table 1's arithmetic: 95M + 57M = 152M."""
    one = parameter_count(ModelConfig(relative_positions=0), vocab_size=32000)
    four = parameter_count(ModelConfig(relative_positions=0, units=4), vocab_size=32000)
    in_one_unit = (four - one) / (6 * 3)
    assert round(in_one_unit / 1e6, 2) == 3.15
    assert round((four - one) / 1e6, 1) == 56.7


def test_sequential_and_bias_cost_almost_nothing() -> None:
    mute = parameters_by_part(ModelConfig(units=4), 32000)
    full = parameters_by_part(ModelConfig(units=4, bias=KINDS, sequential=True), 32000)
    added = {part: full[part] - mute.get(part, 0) for part in full if full[part] != mute.get(part)}
    assert added == {"encoder mask vectors": 6 * 512, "encoder permutations": 6 * 16}


@pytest.mark.parametrize(
    "config",
    [
        ModelConfig(preset="tiny"),
        ModelConfig(preset="tiny", units=3, shared="ffn", share_embeddings=True),
        ModelConfig(preset="tiny", units=2, unit="convolution", tie_output=False),
        ModelConfig(preset="tiny", decoder=UnitsConfig(units=2, sequential=True, bias=["mask"])),
    ],
)
def test_the_count_is_that_of_the_built_model(config: ModelConfig) -> None:
    model = build(config, vocab_size=50)
    learnable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert parameter_count(config, vocab_size=50) == learnable


def test_parts_tell_encoder_and_decoder_apart() -> None:
    parts = parameters_by_part(ModelConfig(preset="tiny", units=4), (70, 50))
    assert parts["source embedding"] == 70 * 128
    assert parts["target embedding"] == 50 * 128
    assert parts["encoder feed-forward"] == 4 * parts["decoder feed-forward"]
    assert parts["decoder cross-attention"] == parts["decoder self-attention"]
