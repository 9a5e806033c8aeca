"""Connections that have to bring their requests in time."""

from asyncio import TimerHandle, Transport

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


def punctual(seconds: float) -> type[H11Protocol]:
    """Uvicorn's protocol, which closes a connection that brings no request within some seconds.

    By itself it limits the pause after an answer only: a client that sends nothing, or half a
    header, would keep its connection for ever, and a few hundred such would keep out all others.
    """

    class Punctual(H11Protocol):
        deadline: TimerHandle | None = None

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget_deadline()
            super().connection_lost(exc)

        def _watch(self) -> None:
            waiting = self.conn.their_state is h11.IDLE  # for the end of a header
            if not waiting:
                self._forget_deadline()
            elif self.deadline is None:
                self.deadline = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

        def _forget_deadline(self) -> None:
            if self.deadline is not None:
                self.deadline.cancel()
                self.deadline = None

    return Punctual
