"""Units: self-attention and feed-forward network, I of them in parallel.

Another kind of unit is another bank with the same call, registered under a name that the config
can give:

    @register_unit("convolution")
    class ConvolutionUnits(Units): ...

The commands know of those in the modules that the environment variable MUTE_PLUGINS names.
"""

import importlib
import os
from collections.abc import Callable

from torch import Tensor, nn

from mute.config import ModelConfig, UnitsConfig
from mute.errors import MuteError
from mute.model.attention import CrossAttention, SelfAttention
from mute.model.bank import BankNorm
from mute.model.context import Context, LayerCache
from mute.model.convolution import Convolution
from mute.model.dropout import Dropout
from mute.model.feedforward import FeedForward

_KINDS: dict[str, type["Units"]] = {}


def register_unit(name: str) -> Callable[[type["Units"]], type["Units"]]:
    """Make a kind of unit known to configs by `name`.

    Raises:
        MuteError: another kind has it.
    """

    def register(kind: type["Units"]) -> type["Units"]:
        known = _KINDS.get(name, kind)
        if (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
            raise MuteError(f"there is a unit called '{name}' already; give yours another name")
        _KINDS[name] = kind
        return kind

    return register


def make_units(model: ModelConfig, units: UnitsConfig, *, decoder: bool) -> "Units":
    """The bank of units a config asks for.

    Raises:
        MuteError: there is no such kind, or a module of MUTE_PLUGINS cannot be imported.
    """
    _import_plugins()
    if units.unit not in _KINDS:
        known = ", ".join(sorted(_KINDS))
        raise MuteError(
            f"there is no unit called '{units.unit}'; known kinds: {known}. One of your own is "
            f"found if the environment variable MUTE_PLUGINS names the module that registers it"
        )
    return _KINDS[units.unit](model, units, decoder=decoder)


def _import_plugins() -> None:
    for module in filter(None, os.environ.get("MUTE_PLUGINS", "").split(",")):
        try:
            importlib.import_module(module.strip())
        except MuteError as error:
            raise MuteError(f"MUTE_PLUGINS: {module.strip()}: {error}") from None
        except Exception as error:  # whatever another's code may raise
            raise MuteError(
                f"MUTE_PLUGINS: {module.strip()} cannot be imported ({error}); is it installed, or "
                f"its folder in PYTHONPATH?"
            ) from error


@register_unit("attention")
class Units(nn.Module):
    """The paper's unit: s_i = SelfAttn_i(X_i) + X, F_i = s_i + FFN_i(s_i).

    In the decoder a unit also has a cross-attention between the two.
    """

    def __init__(self, model: ModelConfig, units: UnitsConfig, *, decoder: bool) -> None:
        super().__init__()
        d = model.d_model
        mixers = 1 if units.shared == "attention" else units.units
        ffns = 1 if units.shared == "ffn" else units.units
        self.mixer = self.make_mixer(model, mixers, causal=decoder)
        self.cross_norm = BankNorm(mixers, d) if decoder else None
        self.cross = (
            CrossAttention(mixers, d, model.heads, model.attention_dropout) if decoder else None
        )
        self.feedforward = FeedForward(ffns, d, model.d_ffn, model.activation_dropout)
        self.dropout = Dropout(model.dropout)

    def make_mixer(self, model: ModelConfig, members: int, *, causal: bool) -> nn.Module:  # noqa: ARG002
        """The part in which positions exchange information; another kind has another one."""
        return SelfAttention(
            members, model.d_model, model.heads, model.attention_dropout, model.relative_positions
        )

    def forward(
        self, seen: Tensor, x: Tensor, context: Context, cache: LayerCache | None = None
    ) -> Tensor:
        """The outputs F_i of all units.

        Args:
            seen: (U, B, L, d), the units' views of the normalised input; U is 1 or I
            x: (B, L, d), the clean input, which the residual path carries
            context: what else the units may look at
            cache: in step-by-step decoding, what earlier steps left

        Returns:
            (I, B, L, d)
        """
        s = self.dropout.add(x, self.mixer(seen, context, cache))
        if self.cross is not None and self.cross_norm is not None:
            s = self.dropout.add(s, self.cross(self.cross_norm(s), context, cache))
        return self.dropout.add(s, self.feedforward(s))


@register_unit("convolution")
class ConvolutionUnits(Units):
    """A unit that convolves where the paper's attends."""

    def make_mixer(self, model: ModelConfig, members: int, *, causal: bool) -> nn.Module:
        """A gated convolution."""
        return Convolution(members, model.d_model, causal)
