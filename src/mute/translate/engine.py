"""The fast form of a model, for translation; `tree.py` has what it does step by step."""

import copy
from typing import Literal, get_args

from torch import Tensor, nn

from mute.errors import MuteError
from mute.model.layer import multi_unit_layers
from mute.model.muting import Kept, keep_units
from mute.model.transformer import Transformer, shared_copy
from mute.translate.compiled import CompiledLayer, can_be_compiled
from mute.translate.decoding import Decoding, PlainDecoding, check_finite
from mute.translate.folded import FoldedLayer, can_be_folded
from mute.translate.int8 import int8_linear, to_int8
from mute.translate.packed import pack
from mute.translate.replacing import linear_with, unstack
from mute.translate.tree import TreeDecoding, can_be_tree

Compute = Literal["float32", "int8"]


class Engine:
    """A model made ready to translate; the model itself stays as it is.

    Raises:
        MuteError: there is no such way to compute.
    """

    def __init__(self, model: Transformer, compute: Compute = "float32") -> None:
        if compute not in get_args(Compute):
            raise MuteError(f"compute {compute}: should be {' or '.join(get_args(Compute))}")
        self.model = shared_copy(model).eval()
        self.as_tree = all(map(can_be_tree, multi_unit_layers(self.model.decoder.layers)))
        for index, layer in enumerate(multi_unit_layers(self.model.encoder.layers)):
            if can_be_folded(layer):
                self.model.encoder.layers[index] = FoldedLayer(layer)
        self.compute = compute
        self.plain_output = self.model.output
        unstack(self.model)
        self.compiled = [
            CompiledLayer(layer, narrow=compute == "int8")
            if self.as_tree and can_be_compiled(layer)
            else None
            for layer in multi_unit_layers(self.model.decoder.layers)
        ]
        if compute == "int8":
            to_int8(self.model)
        else:
            pack(self.model)

    def with_units(self, kept: Kept) -> "Engine":
        """The same with all other units of the encoder muted; both share their packed weights.

        Raises:
            MuteError: there is no such layer or unit, or none would be left.
        """
        muted = copy.copy(self)
        muted.model = shared_copy(self.model)
        keep_units(muted.model, kept)
        return muted

    def start(self, source: Tensor, width: int, vocabulary: Tensor | None = None) -> Decoding:
        """Begin to translate a batch.

        Args:
            source: (B, S) ids with their ends, padded behind
            width: how many partial translations of each sentence there are
            vocabulary: (V,), the words that logits are wanted of; all if None

        Raises:
            MuteError: the model's weights are not numbers.
        """
        memory, mask = self.model.encoder(source)
        check_finite(memory)
        begun = self.model.decoder, self._output(vocabulary), memory, mask, width
        return TreeDecoding(*begun, self.compiled) if self.as_tree else PlainDecoding(*begun)

    def _output(self, vocabulary: Tensor | None) -> nn.Module:
        if vocabulary is None:
            return self.model.output
        weight, bias = self.plain_output.weight[vocabulary], self.plain_output.bias[vocabulary]
        return int8_linear(weight, bias) if self.compute == "int8" else linear_with(weight, bias)
