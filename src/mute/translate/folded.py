"""An encoder layer for translation, with everything folded that training keeps apart."""

from collections.abc import Callable
from itertools import cycle

from torch import Tensor, nn

from mute.model.bank import BankLinear, BankNorm
from mute.model.context import Context
from mute.model.feedforward import FeedForward
from mute.model.fusion import constant_fusion, fuse
from mute.model.layer import MultiUnitLayer
from mute.model.units import Units


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
            self.norms.append(_norm(norm.weight[member], norm.bias[member]))
            self.expand.append(linear(expand.weight[member], expand.bias[member]))
            self.contract.append(linear(contract.weight[member], contract.bias[member]))

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


class Packed(nn.Module):
    """A layer whose weights are laid out for good: copies of a model share it."""

    def __deepcopy__(self, _memo: object) -> "Packed":
        return self


def unstack(model: nn.Module) -> None:
    """Replace every bank of one member inside a model by the plain layer that it is.

    A step of a small model is over so soon that even taking the only member out of its bank
    counts.
    """

    def plain(part: nn.Module) -> nn.Module:
        if type(part) is BankLinear and len(part.weight) == 1:
            return linear(part.weight[0], part.bias[0])
        if type(part) is BankNorm and len(part.weight) == 1:
            return _norm(part.weight[0], part.bias[0])
        return part

    replace_parts(model, plain)


def replace_parts(model: nn.Module, better: Callable[[nn.Module], nn.Module]) -> None:
    """Put in the place of every module inside a model what a function makes of it.

    It should know the types that it replaces exactly: a subclass may compute something else. What
    is inside of others' modules stays: they may use it otherwise than by calling it.
    """
    for name, part in list(model.named_children()):
        replacement = better(part)
        if replacement is not part:
            setattr(model, name, replacement)
        elif type(part).__module__.startswith("mute.") or type(part) is nn.ModuleList:
            replace_parts(part, better)


def _norm(weight: Tensor, bias: Tensor) -> nn.LayerNorm:
    norm = nn.LayerNorm(len(weight), device="meta")
    norm.weight, norm.bias = _frozen(weight), _frozen(bias)
    return norm


def linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    """A linear layer with these weights: (m, n), (m,)."""
    linear = nn.Linear(weight.size(1), weight.size(0), device="meta")
    linear.weight, linear.bias = _frozen(weight), _frozen(bias)
    return linear


def _frozen(value: Tensor) -> nn.Parameter:
    return nn.Parameter(value.detach(), requires_grad=False)
