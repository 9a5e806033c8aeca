"""Parts of a model, replaced by ones that compute the same and are faster in translation."""

from collections.abc import Callable

from torch import Tensor, nn

from mute.model.bank import BankLinear, BankNorm


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
            return linear_with(part.weight[0], part.bias[0])
        if type(part) is BankNorm and len(part.weight) == 1:
            return norm_with(part.weight[0], part.bias[0])
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


def norm_with(weight: Tensor, bias: Tensor) -> nn.LayerNorm:
    """A layer normalisation with these weights: (d,), (d,)."""
    norm = nn.LayerNorm(len(weight), device="meta")
    norm.weight, norm.bias = _frozen(weight), _frozen(bias)
    return norm


def linear_with(weight: Tensor, bias: Tensor) -> nn.Linear:
    """A linear layer with these weights: (m, n), (m,)."""
    linear = nn.Linear(weight.size(1), weight.size(0), device="meta")
    linear.weight, linear.bias = _frozen(weight), _frozen(bias)
    return linear


def _frozen(value: Tensor) -> nn.Parameter:
    return nn.Parameter(value.detach(), requires_grad=False)
