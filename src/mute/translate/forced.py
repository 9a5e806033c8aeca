"""Forced decoding: what models think of translations that are given."""

from collections.abc import Sequence

import torch
from torch import Tensor

from mute.data.vocabulary import PAD
from mute.errors import MuteError
from mute.model.attention import CrossAttention
from mute.model.layer import MultiUnitLayer
from mute.model.transformer import Transformer
from mute.model.units import Units
from mute.translate.decoding import check_finite
from mute.translate.ensemble import mean_log_probability


@torch.inference_mode()
def log_probabilities(models: Sequence[Transformer], source: Tensor, target: Tensor) -> Tensor:
    """The log-probability of each given translation, its end included.

    Args:
        models: one, or an ensemble
        source: (B, S) ids with their ends, padded behind
        target: (B, T + 1) ids from BOS to EOS, padded behind

    Returns:
        (B,)

    Raises:
        NotFiniteError: a model's weights are damaged.
    """
    log_p = mean_log_probability([model(source, target[:, :-1]) for model in models])
    words = target[:, 1:, None]
    log_p = log_p.gather(-1, words).masked_fill(words == PAD, 0).sum((1, 2))
    check_finite(log_p)
    return log_p


def can_show_attention(model: Transformer) -> bool:
    """Whether the decoder looks at the source as ours does; units of another kind may not."""
    return _cross(_aligning_units(model)) is not None


def _aligning_units(model: Transformer) -> Units:
    layer = model.decoder.layers[max(0, len(model.decoder.layers) - 2)]
    assert isinstance(layer, MultiUnitLayer)
    return layer.units


def _cross(units: Units) -> CrossAttention | None:
    cross = getattr(units, "cross", None)
    return cross if isinstance(cross, CrossAttention) else None


@torch.inference_mode()
def cross_attention(models: Sequence[Transformer], source: Tensor, target: Tensor) -> Tensor:
    """How much each word of a translation, as it was chosen, looked at each of the source.

    The mean over the heads, units and models of the last decoder layer but one, which is known
    to align best (Garg et al. 2019), or of the only one.

    Args:
        models: one, or an ensemble
        source: (B, S) ids with their ends, padded behind
        target: (B, T) ids from BOS on, padded behind

    Returns:
        (B, T, S), rows sum to 1

    Raises:
        MuteError: the decoder's units are of a kind that looks at the source in another way.
    """
    seen: list[Tensor] = []
    for model in models:
        units = _aligning_units(model)
        cross = _cross(units)
        if cross is None:
            kind = type(units).__name__
            raise MuteError(f"the decoder's {kind} have no `cross`, whose attention could be shown")

        def look(_module: object, _inputs: object, weights: Tensor) -> None:
            seen.append(weights.mean((0, 2)))  # (U, B, h, T, S) → (B, T, S)

        hook = cross.dropout.register_forward_hook(look)
        try:
            model.decoder(target, *model.encoder(source))
        finally:
            hook.remove()
    return torch.stack(seen).mean(0)
