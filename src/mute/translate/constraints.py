"""What a translation may not say: words are ruled out by setting their logits to minus infinity.

Every function takes the logits (B, W, V) of the words that come next and changes them in place.
"""

import torch
from torch import Tensor

from mute.data.vocabulary import BOS, EOS, PAD, UNK

NEVER = (PAD, UNK, BOS)
"""What no translation may contain of its own accord."""


def rule_out(logits: Tensor, words: tuple[int, ...]) -> None:
    """Some words, everywhere."""
    logits[..., list(words)] = -torch.inf


def end_here(logits: Tensor, now: Tensor) -> None:
    """Every word but the end, in the sentences where `now` (B,) is true."""
    if now.any():
        ends = logits[..., EOS].clone()
        logits.masked_fill_(now[:, None, None], -torch.inf)
        logits[..., EOS] = ends


def repeat_nothing(logits: Tensor, words: Tensor, n: int) -> None:
    """Every word that would complete a sequence of n words for the second time.

    `words` (B, W, T) are those so far, the beginning not counted.
    """
    if words.size(-1) < n:
        return
    sequences = words.unfold(-1, n, 1)  # (B, W, T - n + 1, n)
    last = words[..., words.size(-1) - n + 1 :]
    seen = (sequences[..., :-1] == last[..., None, :]).all(-1)
    # Where nothing repeats there is nothing to rule out but PAD, which is out anyway.
    banned = torch.where(seen, sequences[..., -1], PAD)
    logits.scatter_(-1, banned, -torch.inf)


def prescribe(logits: Tensor, original: Tensor, prefixes: Tensor, position: int) -> None:
    """Every word but that of the prefix, in the sentences whose prefix is not at its end.

    Args:
        logits: after all other rules, which a prefix stands above
        original: before them
        prefixes: (B, P) ids, padded behind
        position: of the next word, less than P
    """
    forced = prefixes[:, position] != PAD
    word = prefixes[:, position, None, None].expand(-1, logits.size(1), 1)
    value = original.gather(-1, word)
    only = torch.full_like(logits, -torch.inf).scatter_(-1, word, value)
    logits.copy_(torch.where(forced[:, None, None], only, logits))
