import pytest
import torch
from torch import Tensor

from mute.model.layer import MultiUnitLayer
from mute.model.transformer import Transformer
from mute.translate.forced import cross_attention
from tests.unit.model.oracle import double, small

SOURCE = torch.tensor([[5, 6, 7, 3], [4, 10, 3, 0]])
TARGET = torch.tensor([[2, 8, 9, 4], [2, 11, 0, 0]])


def looked_at_otherwise(model: Transformer, layer: int) -> Tensor:
    """What the model's words look at once a layer's cross-attention asks for something else."""
    changed = model.decoder.layers[layer]
    assert isinstance(changed, MultiUnitLayer)
    assert changed.units.cross is not None
    with torch.no_grad():
        changed.units.cross.query.weight.neg_()
        looked_at = cross_attention([model], SOURCE, TARGET)
        changed.units.cross.query.weight.neg_()
    return looked_at


@pytest.mark.parametrize(("layers", "shown"), [(1, 0), (2, 0), (3, 1), (4, 2)])
def test_attention_is_that_of_the_last_layer_but_one_or_of_the_only_one(
    layers: int, shown: int
) -> None:
    model = double(small(decoder_layers=layers)).eval()
    looked_at = cross_attention([model], SOURCE, TARGET)
    torch.testing.assert_close(looked_at.sum(-1), torch.ones(2, 4, dtype=torch.float64))
    assert (looked_at[1, :, 3] == 0).all()
    assert not torch.allclose(looked_at_otherwise(model, shown), looked_at)
    for later in range(shown + 1, layers):
        assert torch.equal(looked_at_otherwise(model, later), looked_at)
