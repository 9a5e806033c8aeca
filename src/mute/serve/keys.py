"""Who may use a server: those who know one of its API keys."""

import hmac
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from mute.data.lines import read_text
from mute.errors import MuteError


class ApiKeys:
    """The keys of a server; without any, everyone may use it."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._digests = [_digest(key) for key in keys]

    def admit(self, key: object) -> bool:
        """Whether a request with this key may go on; takes as long for every wrong key."""
        if not self._digests:
            return True
        given = _digest(key if isinstance(key, str) else "")
        # All of them, not just until one is equal: the time must not tell which.
        return sum(hmac.compare_digest(given, known) for known in self._digests) > 0


def read_api_keys(path: Path) -> ApiKeys:
    """Read keys from a file, one on each line; empty lines and those that begin with # are not.

    Raises:
        MuteError: there is no such file, no key in it, or one with a space.
    """
    keys = []
    for number, line in enumerate(read_text(path), 1):
        match line.split():
            case []:
                continue
            case [first, *_] if first.startswith("#"):
                continue
            case [key]:
                keys.append(key)
            case _:
                raise MuteError(
                    f"{path}:{number}: a key has no spaces; a comment has a line of its own"
                )
    if not keys:
        raise MuteError(f"{path}: holds no API key; write one on a line of its own")
    return ApiKeys(keys)


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogatepass")).digest()
