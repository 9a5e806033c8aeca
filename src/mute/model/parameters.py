"""How many parameters a model has, and where."""

import re
from collections import Counter

import torch

from mute.config import ModelConfig
from mute.model.transformer import build

# The first pattern found in a parameter's name says which part it belongs to.
_PARTS = {
    r"^encoder\.embedding": "source embedding",
    r"^decoder\.embedding": "target embedding",
    r"^output": "output layer",
    r"\.relative\.": "{stack} positions",
    r"\.mixer\.": "{stack} self-attention",
    r"\.cross\.": "{stack} cross-attention",
    r"norm\.": "{stack} norms",
    r"\.feedforward\.": "{stack} feed-forward",
    r"\.units\.": "{stack} units",  # what another kind of unit calls its own
    r"\.fusion\.alpha": "{stack} unit weights",
    r"\.fusion\.matrix": "{stack} permutations",
    r"\.bias\.mask": "{stack} mask vectors",
}


def parameter_count(config: ModelConfig, vocab_size: int | tuple[int, int]) -> int:
    """The number of learnable parameters; a tied or shared one counts once."""
    return sum(parameters_by_part(config, vocab_size).values())


def parameters_by_part(config: ModelConfig, vocab_size: int | tuple[int, int]) -> dict[str, int]:
    """The number of learnable parameters of each part, in the order data passes them.

    A shared embedding counts as the source's, a tied output layer's matrix as the target's.
    """
    with torch.device("meta"):  # shapes only: a big model costs no memory
        model = build(config, vocab_size)
    counts: Counter[str] = Counter()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            counts[_part(name)] += parameter.numel()
    return dict(counts)


def _part(name: str) -> str:
    for pattern, part in _PARTS.items():
        if re.search(pattern, name):
            return part.format(stack=name.partition(".")[0])
    raise AssertionError(f"{name} belongs to no part")
