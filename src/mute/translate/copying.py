"""Where the words of a source that a vocabulary does not have go in its translation."""

from collections.abc import Sequence

from torch import Tensor


def place_copies(
    unknown: Sequence[tuple[int, str]], length: int, looked_at: Tensor | None
) -> dict[int, list[str]]:
    """The words to put in behind each piece of a translation.

    Args:
        unknown: places in the source, with the words there
        length: of the translation, in pieces
        looked_at: (T + 1, S), how much each piece looked at each of the source; None if nobody
            knows, and the words go to the end
    """
    copies: dict[int, list[str]] = {}
    for place, word in unknown:
        behind = length if looked_at is None else int(looked_at[: max(1, length), place].argmax())
        copies.setdefault(behind, []).append(word)
    return copies
