import asyncio
import contextlib
import socket

import pytest
import uvicorn
from fastapi import FastAPI
from uvicorn.server import ServerState

from mute.serve.connection import punctual


@pytest.mark.parametrize("left", [1, 1 << 16])
def test_who_leaves_anything_unread_is_cut_off(left: int) -> None:
    """However little it is beyond what the system holds for a client."""

    async def serve() -> bool:
        loop = asyncio.get_running_loop()
        config, state = uvicorn.Config(FastAPI(), log_level="critical"), ServerState()
        config.load()
        protocol = punctual(0.2)(config, state, {})
        server = await loop.create_server(lambda: protocol, "127.0.0.1", 0)
        _, client = await asyncio.open_connection(*server.sockets[0].getsockname())
        client.transport.pause_reading()  # type: ignore[attr-defined]
        await asyncio.sleep(0.05)
        transport = protocol.transport
        while transport.get_write_buffer_size() < left:
            transport.write(b"x" * 1024)
        await asyncio.sleep(0.5)
        lost = transport.get_write_buffer_size() == 0 and protocol not in state.connections
        server.close()
        client.transport.abort()
        return lost

    assert asyncio.run(serve())


@pytest.mark.parametrize(("at_once", "all_of_it"), [(1 << 15, True), (1 << 9, False)])
def test_who_reads_slowly_gets_all_if_it_reads_enough(at_once: int, all_of_it: bool) -> None:
    """In several times as long as a client that reads nothing is given."""
    size = 1 << 21

    async def serve() -> int:
        loop = asyncio.get_running_loop()
        config = uvicorn.Config(FastAPI(), log_level="critical")
        config.load()
        protocol = punctual(0.2)(config, ServerState(), {})
        server = await loop.create_server(lambda: protocol, "127.0.0.1", 0)
        slow = socket.socket()  # what the system holds for it should be no more than it reads
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
        slow.connect(server.sockets[0].getsockname())
        reader, client = await asyncio.open_connection(sock=slow, limit=1 << 10)
        await asyncio.sleep(0.05)
        protocol.transport.write(b"x" * size)
        read = 0
        with contextlib.suppress(ConnectionResetError):
            while read < size and (block := await reader.read(at_once)):
                read += len(block)
                await asyncio.sleep(0.02)
        server.close()
        client.transport.abort()
        return read

    assert (asyncio.run(serve()) == size) == all_of_it
