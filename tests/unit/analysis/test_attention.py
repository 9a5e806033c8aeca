"""The attention of units, as seen from outside."""

import pytest
import torch
from torch import Tensor, nn

from mute.analysis.attention import unit_attention
from mute.config import ModelConfig
from mute.model.layer import multi_unit_layers
from mute.model.transformer import Transformer, build

SOURCE = torch.tensor([[5, 6, 7, 3], [8, 3, 0, 0]])


def model(**changes: object) -> Transformer:
    shape = {"encoder_layers": 2, "decoder_layers": 1, "d_model": 8, "d_ffn": 16, "heads": 2}
    return build(ModelConfig.model_validate({"units": 3, **shape, **changes}), 20).eval()


def test_every_unit_of_every_layer_shows_where_it_looks() -> None:
    maps = unit_attention(model(), SOURCE)
    assert [each.shape for each in maps] == [(3, 2, 2, 4, 4)] * 2
    for each in maps:
        torch.testing.assert_close(each.sum(-1), torch.ones(3, 2, 2, 4))
        assert each[:, 1, :, :, 2:].abs().max() < 1e-6, "nobody looks at padding"
    assert not torch.allclose(maps[0][0], maps[0][1])


def test_units_that_share_an_attention_show_it_alike() -> None:
    (first, _) = unit_attention(model(shared="attention"), SOURCE)
    assert first.shape == (3, 2, 2, 4, 4)
    assert torch.equal(first[0], first[2])


def test_units_without_attention_have_no_heads() -> None:
    maps = unit_attention(model(unit="convolution"), SOURCE)
    assert [each.shape for each in maps] == [(3, 2, 0, 4, 4)] * 2


class Plain(nn.Module):
    """A unit of somebody's own."""

    def forward(self, _seen: Tensor, x: Tensor, *_: object) -> Tensor:
        return x.expand(3, -1, -1, -1)


def test_nor_have_units_of_others_without_a_part_that_mixes() -> None:
    network = model()
    for layer in multi_unit_layers(network.encoder.layers):
        layer.units = Plain()  # type: ignore[assignment]
    maps = unit_attention(network, SOURCE)
    assert [each.shape for each in maps] == [(3, 2, 0, 4, 4)] * 2


@pytest.mark.parametrize("training", [True, False])
def test_looking_changes_nothing(training: bool) -> None:
    network = model(bias=["identity", "swap", "mask"], dropout=0.5).train(training)
    maps = unit_attention(network, SOURCE)
    again = unit_attention(network, SOURCE)
    assert all(torch.equal(one, other) for one, other in zip(maps, again, strict=True))
    assert network.training is training
    assert not any(module._forward_hooks for module in network.modules())
