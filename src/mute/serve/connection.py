"""Connections that have to bring their requests, and take their answers, in time."""

import socket
from asyncio import TimerHandle, Transport
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_PACE = 1 << 16
"""Bytes of an answer that a client has to take in the time it is given."""


class _Punctual(H11Protocol):
    """Uvicorn's protocol, which closes a connection that is slower than some seconds.

    By itself it limits the pause after an answer only: a client that sends nothing, or half a
    header, or a byte of what was refused already, or hardly ever reads from its answers, would
    keep its connection for ever, and a few hundred such would keep out all others.
    """

    seconds: ClassVar[float]
    deadline: TimerHandle | None = None  # for what it sends
    reading: TimerHandle | None = None  # for what it is sent

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # Writing pauses as soon as anything is left unread, however little that is. What the
        # system holds it takes in bursts, of megabytes if it may, so a pace would not show.
        transport.set_write_buffer_limits(0)
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _PACE // 4)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reading()

    def resume_writing(self) -> None:
        _stop(self.reading)
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        _stop(self.deadline)
        _stop(self.reading)
        super().connection_lost(exc)

    def _watch_reading(self) -> None:
        left = self.transport.get_write_buffer_size()
        self.reading = self.loop.call_later(self.seconds, self._check_pace, left)

    def _check_pace(self, before: int) -> None:
        if before - self.transport.get_write_buffer_size() >= _PACE:
            self._watch_reading()
        else:  # at once: to close it would be to wait until the rest is read
            self.transport.abort()

    def _watch(self) -> None:
        for_header = self.conn.their_state is h11.IDLE
        for_refused = self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY
        if not (for_header or for_refused):
            _stop(self.deadline)
            self.deadline = None
        elif self.deadline is None:
            self.deadline = self.loop.call_later(self.seconds, self.timeout_keep_alive_handler)


def punctual(seconds: float) -> type[H11Protocol]:
    """The protocol with so many seconds; Uvicorn wants a class."""
    return type("Punctual", (_Punctual,), {"seconds": seconds})


def _stop(timer: TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
