"""An encoder layer for translation, with everything folded that training keeps apart."""

from itertools import cycle

from torch import Tensor, nn

from mute.model.bank import BankLinear, BankNorm
from mute.model.context import Context
from mute.model.feedforward import FeedForward
from mute.model.fusion import constant_fusion, fuse
from mute.model.layer import MultiUnitLayer
from mute.model.units import Units
from mute.translate.replacing import linear_with, norm_with


class FoldedLayer(nn.Module):
    """The output of a `MultiUnitLayer` that `can_be_folded` outside training, sooner.

    With s_u = X + SelfAttn_u(X), the layer's output is Σ c_u s_u + Σ c_u FFN_u(s_u). Nothing but
    numbers stands between M, alpha and c. Each unit's network adds to one sum, while what it works
    on is still in the processor's cache; that of a muted unit, whose c is 0, is left out.
    """

    def __init__(self, layer: MultiUnitLayer) -> None:
        super().__init__()
        self.norm, self.mixer = layer.norm, layer.units.mixer
        self.fusion = constant_fusion(layer.fusion())
        feedforward = layer.units.feedforward
        norm, expand, contract = feedforward.norm, feedforward.expand, feedforward.contract
        self.norms, self.expand, self.contract = (nn.ModuleList() for _ in range(3))
        for member in range(len(expand.weight)):  # a shared network is every unit's
            self.norms.append(norm_with(norm.weight[member], norm.bias[member]))
            self.expand.append(linear_with(expand.weight[member], expand.bias[member]))
            self.contract.append(linear_with(contract.weight[member], contract.bias[member]))

    def forward(self, x: Tensor, context: Context) -> Tensor:
        """(B, L, d) → (B, L, d)."""
        s = x + self.mixer(self.norm(x)[None], context)
        coefficients: Tensor = self.fusion()
        s = s.expand(len(coefficients), -1, -1, -1)
        output = fuse(coefficients, s)
        networks = list(zip(self.norms, self.expand, self.contract, strict=True))
        for c, of_unit, network in zip(coefficients.tolist(), s, cycle(networks), strict=False):
            norm, expand, contract = network
            if c != 0:
                output.add_(contract(expand(norm(of_unit)).relu_()), alpha=c)
        return output


def can_be_folded(layer: MultiUnitLayer) -> bool:
    """Whether a layer has the paper's units, whose parts are known here."""
    if type(layer.units) is not Units or type(layer.units.feedforward) is not FeedForward:
        return False
    network = layer.units.feedforward
    banks = type(network.expand) is BankLinear and type(network.contract) is BankLinear
    return banks and type(network.norm) is BankNorm
