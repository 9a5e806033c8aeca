"""An encoder layer for translation, with everything folded that training keeps apart."""

from collections.abc import Callable

from torch import Tensor, nn

from mute.model.bank import BankLinear, BankNorm
from mute.model.context import Context, LayerCache
from mute.model.fusion import fuse
from mute.model.layer import MultiUnitLayer


class FoldedLayer(nn.Module):
    """The output of a `MultiUnitLayer` of attention units outside training, sooner.

    With s_u = X + SelfAttn_u(X), the layer's output is Σ c_u s_u + Σ c_u FFN_u(s_u). Nothing but
    numbers stands between M, alpha and c, and c_u goes into the second matrix of FFN_u. Then
    each unit's network adds to one sum, while what it works on is still in the processor's cache.
    """

    def __init__(self, layer: MultiUnitLayer) -> None:
        super().__init__()
        self.norm, self.mixer = layer.norm, layer.units.mixer
        self.coefficients = layer.fusion().detach()
        feedforward = layer.units.feedforward
        norm, expand, contract = feedforward.norm, feedforward.expand, feedforward.contract
        self.norms, self.expand, self.contract = (nn.ModuleList() for _ in range(3))
        for unit, c in enumerate(self.coefficients):
            member = unit % len(expand.weight)  # a shared network is every unit's
            self.norms.append(_norm(norm.weight[member], norm.bias[member]))
            self.expand.append(linear(expand.weight[member], expand.bias[member]))
            self.contract.append(linear(c * contract.weight[member], c * contract.bias[member]))

    def forward(self, x: Tensor, context: Context, _cache: LayerCache | None = None) -> Tensor:
        """(B, L, d) → (B, L, d)."""
        s = x + self.mixer(self.norm(x)[None], context)
        s = s.expand(len(self.coefficients), -1, -1, -1)
        output = fuse(self.coefficients, s)
        networks = zip(s, self.norms, self.expand, self.contract, strict=True)
        for of_unit, norm, expand, contract in networks:
            output += contract(expand(norm(of_unit)).relu_())
        return output


def unstack(model: nn.Module) -> None:
    """Replace every bank of one member inside a model by the plain layer that it is.

    A step of a small model is over so soon that even taking the only member out of its bank
    counts.
    """

    def plain(part: nn.Module) -> nn.Module:
        if isinstance(part, BankLinear) and len(part.weight) == 1:
            return linear(part.weight[0], part.bias[0])
        if isinstance(part, BankNorm) and len(part.weight) == 1:
            return _norm(part.weight[0], part.bias[0])
        return part

    replace_parts(model, plain)


def replace_parts(model: nn.Module, better: Callable[[nn.Module], nn.Module]) -> None:
    """Put in the place of every module inside a model what a function makes of it."""
    for module in list(model.modules()):
        for name, part in list(module.named_children()):
            setattr(module, name, better(part))


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
