"""The layer of every system of the paper: fuse(units(bias(norm(x))))."""

import torch
from torch import Tensor, nn

from mute.config import ModelConfig, UnitsConfig
from mute.model.bias import Bias
from mute.model.context import Context, LayerCache
from mute.model.fusion import fuse, make_fusion
from mute.model.units import make_units


class MultiUnitLayer(nn.Module):
    """One layer, of the encoder or of the decoder; with one clean unit, a Transformer's."""

    def __init__(self, model: ModelConfig, units: UnitsConfig, *, decoder: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(model.d_model)
        self.bias = Bias(units.bias, units.units, model.d_model, units.sample_rate)
        self.units = make_units(model, units, decoder=decoder)
        self.fusion = make_fusion(units)
        self.drop_branch = units.drop_branch

    def forward(self, x: Tensor, context: Context, cache: LayerCache | None = None) -> Tensor:
        """(B, L, d) → (B, L, d)."""
        seen = self.bias(self.norm(x), context)
        outputs: Tensor = self.units(seen, x, context, cache)
        # In mixed precision, the sum is no product to be sped up: it is the residual stream.
        with torch.autocast(x.device.type, enabled=False):
            return self._fused(outputs.to(x.dtype), x, context)

    def _fused(self, outputs: Tensor, x: Tensor, context: Context) -> Tensor:
        """The units' outputs, (I, B, L, d), and the layer's input → (B, L, d)."""
        coefficients: Tensor = self.fusion()
        if not (self.training and self.drop_branch):
            return fuse(coefficients, outputs)
        kept = coefficients * self._kept_units(context.generator).to(coefficients)
        # A dropped unit is one that adds nothing to the input it was given: F_u = X.
        return fuse(kept, outputs) + (coefficients - kept).sum() * x

    def _kept_units(self, generator: torch.Generator | None) -> Tensor:
        """(I,): 0 for a unit left out of this step, else what makes up for those on average."""
        draws = torch.rand(len(self.fusion.alpha), generator=generator)
        return (draws >= self.drop_branch) / (1 - self.drop_branch)


def multi_unit_layers(stack: nn.ModuleList) -> list[MultiUnitLayer]:
    """The layers of a stack, but for those that translation has replaced by faster ones."""
    return [layer for layer in stack if isinstance(layer, MultiUnitLayer)]
