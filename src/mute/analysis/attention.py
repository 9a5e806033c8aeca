"""Which positions the encoder's units look at."""

from collections.abc import Callable
from contextlib import ExitStack

import torch
from torch import Tensor

from mute.model.attention import Attention
from mute.model.layer import multi_unit_layers
from mute.model.transformer import Transformer


@torch.inference_mode()
def unit_attention(model: Transformer, source: Tensor) -> list[Tensor]:
    """How much each position looks at each other one, in every unit of the encoder.

    The model is not changed: hooks look on while it encodes, outside training, where every unit
    reads the clean input.

    Args:
        model: with any kind of units
        source: (B, S) ids with their ends, padded behind

    Returns:
        for each encoder layer (I, B, h, S, S), rows sum to 1; units that share one attention
        show it I times, and units whose attention cannot be seen have no heads: (I, B, 0, S, S)
    """
    layers = multi_unit_layers(model.encoder.layers)
    batch, length = source.shape
    seen = [
        torch.empty(len(layer.fusion()), batch, 0, length, length, device=source.device)
        for layer in layers
    ]
    was_training = model.training
    with ExitStack() as hooks:
        for index, layer in enumerate(layers):
            mixer = getattr(layer.units, "mixer", None)
            if isinstance(mixer, Attention):
                look = mixer.dropout.register_forward_hook(_keep_in(seen, index))
                hooks.callback(look.remove)
        hooks.callback(model.train, was_training)
        model.eval().encoder(source)
    return seen


def _keep_in(seen: list[Tensor], index: int) -> Callable[[object, object, Tensor], None]:
    def look(_module: object, _inputs: object, weights: Tensor) -> None:
        seen[index] = weights.expand(len(seen[index]), -1, -1, -1, -1)

    return look
