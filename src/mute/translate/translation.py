"""What a line becomes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from mute.errors import MuteError


@dataclass(frozen=True)
class Translation:
    """A translation of a line."""

    text: str
    score: float
    """The log-probability divided by the length penalty; 0 for an empty line."""
    tokens: list[str] = field(default_factory=list)
    """The pieces of the text, as the model chose them."""
    alternatives: list["Translation"] = field(default_factory=list)
    """The next best translations, if they were asked for."""
    warnings: list[str] = field(default_factory=list)
    """What a user should know: that the line was split, or that words were copied."""
    source_tokens: list[str] = field(default_factory=list)
    """The pieces that the model read and their end, if attention was asked for."""
    attention: list[list[float]] | None = None
    """For each of `tokens`, and for their end, how much it looked at each of `source_tokens`."""


class LineError(MuteError):
    """A line that cannot be translated; `index` is its place among those given."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(f"line {index + 1}: {reason}")
        self.index, self.reason = index, reason


def joined(parts: Sequence[Translation], between: str) -> Translation:
    """The translation of a line from those of its parts, with a space between them or nothing.

    Scores are added up.

    The n-th alternative is made of the n-th alternatives of all parts. A piece looks at the
    source of its own part only.
    """
    if len(parts) == 1:
        return parts[0]
    others = zip(*(part.alternatives for part in parts), strict=False)
    return Translation(
        between.join(part.text for part in parts if part.text),
        sum(part.score for part in parts),
        [token for part in parts for token in part.tokens],
        [joined(other, between) for other in others],
        [warning for part in parts for warning in part.warnings],
        [token for part in parts for token in part.source_tokens],
        _joined_attention(parts),
    )


def _joined_attention(parts: Sequence[Translation]) -> list[list[float]] | None:
    """The ends of all parts but the last are no tokens of the line: what they looked at goes."""
    maps = [torch.tensor(part.attention) for part in parts if part.attention is not None]
    if not maps:
        return None
    inner = [each[:-1] for each in maps[:-1]]
    whole: list[list[float]] = torch.block_diag(*inner, maps[-1]).tolist()
    return whole
