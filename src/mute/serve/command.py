"""What `mute serve` does."""

import math
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mute.errors import MuteError, install
from mute.files import say
from mute.serve.limits import Limits
from mute.translate.engine import Compute

BACKLOG = 2048
"""Connections that may wait to be accepted."""


@dataclass(frozen=True)
class Place:
    """Where a server listens, and to whom."""

    host: str
    port: int
    """Any free one if 0."""
    api_keys: Path | None
    cors: Sequence[str]


def serve(models: Sequence[Path], place: Place, limits: Limits, compute: Compute) -> None:
    """Serve models until the process is told to stop; what was begun is finished then.

    Raises:
        MuteError: a package, a model or the keys are not there, or the address cannot be had.
    """
    try:
        import uvicorn

        from mute.serve.app import create_app
        from mute.serve.calls import Server
        from mute.serve.connection import punctual
    except ModuleNotFoundError as error:
        raise MuteError(
            f"mute serve needs {error.name}, which is not installed; {install('serve')}"
        ) from None
    from mute.serve.keys import ApiKeys, read_api_keys
    from mute.serve.served import load_gallery

    keys = read_api_keys(place.api_keys) if place.api_keys else ApiKeys()
    with _listen(place) as listener:
        gallery = load_gallery(models, compute)
        app = create_app(Server(gallery, limits, keys), place.cors)
        config = uvicorn.Config(
            app,
            http=punctual(limits.timeout),
            ws="none",
            access_log=False,
            log_level="warning",
            # By which the page knows a server that was started anew, maybe with another model.
            headers=[("Mute-Instance", secrets.token_hex(8))],
            # What may still arrive and be answered; who does not fetch an answer is not waited for.
            timeout_graceful_shutdown=math.ceil(2 * limits.timeout) + 1,
        )
        host, port = listener.getsockname()[:2]
        names = ", ".join(each.name for each in gallery.models)
        address = f"[{host}]" if ":" in host else host
        say(f"mute: {names} at http://{address}:{port}/")
        for each in gallery.models:
            if each.takes:
                say(f"mute: {each.name} takes {each.takes}")
        with suppress(KeyboardInterrupt):  # uvicorn has shut down in order by then
            uvicorn.Server(config).run(sockets=[listener])


def _listen(place: Place) -> socket.socket:
    """Take the address first: an error then costs no loading of models."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    try:
        return socket.create_server((place.host, place.port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError, TypeError) as error:  # no port, or no host, can be called so
        reason = getattr(error, "strerror", None) or error
        raise MuteError(
            f"--host {place.host} --port {place.port}: cannot be had ({reason}); choose another"
        ) from None
