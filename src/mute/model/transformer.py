"""The whole model, from source and target ids to scores of the next words."""

import copy
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from mute.config import ModelConfig
from mute.errors import MuteError
from mute.model.decoder import Decoder
from mute.model.embedding import token_table
from mute.model.encoder import Encoder
from mute.model.fusion import Fusion
from mute.model.layer import MultiUnitLayer, multi_unit_layers


class Transformer(nn.Module):
    """Every system of the paper, as its config says.

    A training loop needs to know two things beyond any other model's: it adds `penalty()` to
    the loss, and calls `project_()` after each optimizer step. Both do nothing for systems
    without a permutation matrix.
    """

    def __init__(self, config: ModelConfig, source_size: int, target_size: int) -> None:
        super().__init__()
        self.config = config
        source_tokens = token_table(source_size, config.d_model)
        target_tokens = source_tokens
        if not config.share_embeddings:
            target_tokens = token_table(target_size, config.d_model)
        self.encoder = Encoder(config, source_tokens)
        self.decoder = Decoder(config, target_tokens)
        self.output = nn.Linear(config.d_model, target_size)
        nn.init.zeros_(self.output.bias)
        if config.tie_output:
            self.output.weight = target_tokens.weight
        else:
            nn.init.xavier_uniform_(self.output.weight)

    def forward(
        self, source: Tensor, target: Tensor, generator: torch.Generator | None = None
    ) -> Tensor:
        """Scores of every next word, given all words before it.

        Args:
            source: (B, S) ids, padded behind with 0
            target: (B, T) ids, padded likewise, starting with the begin-of-sentence id
            generator: the source of the bias's draws in training, on the CPU

        Returns:
            (B, T, V) logits
        """
        memory, mask = self.encoder(source, generator)
        logits: Tensor = self.output(self.decoder(target, memory, mask, generator=generator))
        return logits

    def multi_unit_layers(self) -> Iterator[MultiUnitLayer]:
        """All layers, the encoder's first."""
        for stack in (self.encoder, self.decoder):
            yield from multi_unit_layers(stack.layers)

    def penalty(self) -> Tensor:
        """The sum over layers of what keeps M from being a permutation: a scalar."""
        return torch.stack([fusion.penalty() for fusion in self._fusions()]).sum()

    def project_(self) -> None:
        """Bring every M back to non-negative rows that sum to 1, after an optimizer step."""
        for fusion in self._fusions():
            fusion.project_()

    def round_(self) -> None:
        """Replace every M by the nearest true permutation, when training is done."""
        for fusion in self._fusions():
            fusion.round_()

    def _fusions(self) -> Iterator[Fusion]:
        return (layer.fusion for layer in self.multi_unit_layers())


def shared_copy(model: Transformer) -> Transformer:
    """A copy of the modules, not of the weights in them."""
    return copy.deepcopy(model, {id(weight): weight for weight in model.parameters()})


def build(config: ModelConfig, vocab_size: int | tuple[int, int]) -> Transformer:
    """Make a model with fresh weights.

    Args:
        config: what to build
        vocab_size: of the joint vocabulary, or of the source's and the target's

    Raises:
        MuteError: shared embeddings were asked for, but the vocabularies differ in size.
    """
    source, target = (vocab_size, vocab_size) if isinstance(vocab_size, int) else vocab_size
    if min(source, target) < 1:
        raise MuteError(f"a vocabulary of {min(source, target)} entries is too small for a model")
    if config.share_embeddings and source != target:
        raise MuteError(
            f"share_embeddings needs a joint vocabulary, but the source has {source} entries and "
            f"the target {target}"
        )
    return Transformer(config, source, target)
