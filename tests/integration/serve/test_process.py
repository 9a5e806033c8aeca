"""`mute serve` as a process of its own, with the client that people have."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError

import pytest
from libretranslatepy import LibreTranslateAPI

from mute.translate.translator import Translator
from tests.integration.command import run


class Running(NamedTuple):
    """A `mute serve` of its own."""

    process: subprocess.Popen[str]
    address: str


@contextmanager
def started(model: Path, *options: str) -> Iterator[Running]:
    command = [sys.executable, "-m", "mute", "serve", str(model), "--port", "0", "--threads", "1"]
    process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        address = said.rpartition(" ")[2].strip()
        assert address.startswith("http://127.0.0.1:"), said
        yield Running(process, address)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def running(model: Path, tmp_path: Path) -> Iterator[Running]:
    keys = tmp_path / "keys"
    keys.write_text("# for the tests\nsesame\n")
    with started(model, "--api-keys", str(keys)) as running:
        yield running


def test_libretranslates_own_client_works_unchanged(
    running: Running, translator: Translator
) -> None:
    client = LibreTranslateAPI(running.address, api_key="sesame")
    (expected,) = translator.translate(["The dog sleeps."])
    assert client.translate("The dog sleeps.", "en", "de", timeout=20) == expected.text
    assert client.languages(timeout=20) == [
        {"code": "en", "name": "English", "targets": ["de"]},
        {"code": "de", "name": "German", "targets": []},
    ]
    assert client.detect("The dog sleeps.", timeout=20)[0]["language"] == "en"
    with pytest.raises(HTTPError, match="403") as refused:
        LibreTranslateAPI(running.address).translate("x", "en", "de", timeout=20)
    refused.value.close()
    running.process.terminate()
    _, errors = running.process.communicate(timeout=20)
    assert "Traceback" not in errors


@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nHost: x\r\n"])
def test_a_connection_that_brings_no_request_is_closed(model: Path, sent: bytes) -> None:
    with started(model, "--timeout", "1") as running:
        host, port = running.address.removeprefix("http://").rstrip("/").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(sent)
            assert connection.recv(1) == b""  # its end


@pytest.mark.parametrize(
    "head", [b"POST /nowhere HTTP/1.1", b"POST /translate HTTP/1.1\r\nContent-Type: text/plain"]
)
def test_a_connection_that_is_refused_and_dawdles_is_closed(model: Path, head: bytes) -> None:
    with started(model, "--timeout", "1") as running:
        host, port = running.address.removeprefix("http://").rstrip("/").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(head + b"\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 4")
            connection.sendall(b"x")
            while connection.recv(1 << 16):
                pass  # until its end


def ask_slowly(connection: socket.socket) -> None:
    for _ in range(100):
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.1)


def test_a_connection_that_never_reads_is_closed(model: Path) -> None:
    with started(model, "--timeout", "1") as running:
        host, port = running.address.removeprefix("http://").rstrip("/").split(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 5000)
            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                ask_slowly(connection)


def test_who_does_not_fetch_an_answer_cannot_keep_the_server_running(model: Path) -> None:
    with started(model, "--timeout", "1") as running:
        host, port = running.address.removeprefix("http://").rstrip("/").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 5000)
            running.process.terminate()
            assert running.process.wait(30) in (0, -signal.SIGTERM)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--port", "{taken}"], "--port {taken}: cannot be had"),
        (["--port", "0", "--api-keys", "no-such-file"], "no-such-file: cannot be read"),
    ],
)
def test_a_server_that_cannot_start_says_why(
    model: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        filled = [option.replace("{taken}", port) for option in options]
        assert run("serve", str(model), *filled) == 2
    assert message.replace("{taken}", port) in capsys.readouterr().err


def test_a_model_of_tokenised_text_says_so_when_it_is_served(
    tokenised_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    assert run("serve", str(tokenised_model), "--port", "0") == 0
    _, said = capsys.readouterr().err.splitlines()
    assert said == "mute: en-de takes text that is tokenised and lower-cased already"


def test_a_missing_package_is_named(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert run("serve", str(model)) == 2
    assert "pip install -c constraints.txt -e '.[serve]'" in capsys.readouterr().err
