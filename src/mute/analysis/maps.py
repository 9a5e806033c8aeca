"""What the units look at in chosen sentences (the paper's Figure 5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from mute.analysis.attention import unit_attention
from mute.data.batching import pad
from mute.data.tokenizer import Tokenizer
from mute.data.vocabulary import EOS, SPECIALS
from mute.errors import MuteError
from mute.model.transformer import Transformer

SHOWN = 3
"""Sentences that are shown if none are chosen."""
EASILY_READ = 60
"""Pieces that a sentence has at most if nobody chose it: larger maps are hard to read."""


@dataclass(frozen=True)
class AttentionMaps:
    """The self-attention of all encoder layers and units in one sentence, averaged over heads."""

    line: int
    """Of the text, from 1."""
    tokens: list[str]
    """The pieces of the sentence and its end."""
    weights: list[list[list[list[float]]]]
    """By layer, unit, looking token and token looked at; an attention that is shared, once."""


def choose_lines(
    chosen: str, lines: Sequence[str], tokenizer: Tokenizer, longest: int
) -> list[int]:
    """The numbers, from 1, of the lines to show.

    Args:
        chosen: numbers with commas between them; "" for the first few sentences easily read
        lines: of the text
        tokenizer: of the model
        longest: pieces that the model takes

    Raises:
        MuteError: these are no numbers, or not of lines that can be shown.
    """

    def pieces(number: int) -> int:
        return len(tokenizer.encode(lines[number - 1], "source"))

    if not chosen:
        fitting = (
            n for n in range(1, len(lines) + 1) if 0 < pieces(n) <= min(EASILY_READ, longest)
        )
        return [number for number, _ in zip(fitting, range(SHOWN), strict=False)]
    try:
        numbers = list(dict.fromkeys(int(word) for word in chosen.split(",")))
    except ValueError:
        raise MuteError(f"--show {chosen}: should be numbers of lines, as in 1,5") from None
    for number in numbers:
        if not 1 <= number <= len(lines):
            raise MuteError(f"--show {number}: the text has lines 1 to {len(lines)}")
        if not 0 < pieces(number) <= longest:
            raise MuteError(
                f"--show {number}: the line has {pieces(number)} pieces, but the model takes 1 to "
                f"{longest}; choose another one"
            )
    return numbers


def attention_maps(
    model: Transformer, tokenizer: Tokenizer, lines: Sequence[str], numbers: Sequence[int]
) -> list[AttentionMaps]:
    """The maps of some lines, by their numbers from 1; none of units that do not attend."""
    device = next(model.parameters()).device
    shown = 1 if model.config.shared == "attention" else model.config.units
    maps = []
    for number in numbers:
        ids = tokenizer.encode(lines[number - 1], "source")
        by_layer = unit_attention(model, pad([[*ids, EOS]]).to(device))
        if not all(layer.size(2) for layer in by_layer):
            return []
        tokens = [*tokenizer.pieces(ids, "source"), SPECIALS[EOS]]
        # (U, B, h, S, S) → (U, S, S)
        weights = [layer[:shown, 0].mean(1).tolist() for layer in by_layer]
        maps.append(AttentionMaps(number, tokens, weights))
    return maps
