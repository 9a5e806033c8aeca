"""How much a server takes upon itself."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What a request may ask for, and how long it may wait."""

    queue: int = 1000
    """Lines that may wait to be translated; a request has at most so many."""
    timeout: float = 30.0
    """Seconds for a request to arrive, and again as many for its answer, if only with an error."""
    body: int = 2 << 20
    """Bytes of a request."""
    characters: int = 50_000
    """Of all texts of a request."""
    texts: int = 1000
    """In the list `q` of a request."""
    pieces: int = 100
    """Of a line that is inspected: the answer grows with their square."""
