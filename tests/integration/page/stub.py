"""A server for the page's tests: the page's own files, and answers that a real model could give.

It translates word by word from a short list. Muting unit 1 of layer 0 changes an adjective, so
there is a difference to see. A text with "refuse" is an error, one with "locked" needs the key
"sesame", "slow" takes its time, the first with "busy" is told to come back in a second, of
lines with "few" it takes few at once, and with "late" it has no time for many. Questions and
answers have the form of the real server's.
"""

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from pydantic import BaseModel

from mute.serve import questions
from mute.serve.app import PAGE_HEADERS, STATIC

FOLDER = STATIC.parent
FORMS: dict[str, tuple[type[BaseModel], type[BaseModel]]] = {
    "/translate": (questions.TranslateQuestion, questions.TranslateAnswer),
    "/v1/inspect": (questions.InspectQuestion, questions.InspectAnswer),
}
MODELS = [
    {
        "name": "small",
        "source": "en",
        "target": "de",
        "layers": 3,
        "units": 4,
        "bias": ["identity", "swap", "disorder", "mask"],
        "takes": "",
        "examples": ["A small dog runs through the deep snow.", "Two old houses."],
    },
    {
        "name": "back",
        "source": "de",
        "target": "en",
        "layers": 2,
        "units": 2,
        "bias": [],
        "takes": "text that is tokenised already",
        "examples": [],
    },
    {
        "name": "far",
        "source": "x",
        "target": "zho_Hans",
        "layers": 2,
        "units": 2,
        "bias": [],
        "takes": "",
        "examples": ["zzz"],
    },
]
WEIGHTS = [0.42, 0.27, 0.21, 0.14]
ORDER = [2, 0, 3, 1]
GERMAN = "ein kleiner Hund läuft durch den tiefen Schnee zwei alte Häuser stehen nahe Fluss"
ENGLISH = "a small dog runs through the deep snow two old houses stand near river"
WORDS = dict(zip(ENGLISH.split(), GERMAN.split(), strict=True))
SPACE = "\u2581"
LONGEST = 400
FEW = 8
"""Lines."""
SLOW = 1.0
"""Seconds."""

Asked = list[tuple[str, dict[str, Any]]]
"""Calls: the path and the question of each."""


def pieces_of(text: str, joined: bool) -> list[str]:
    """Long words in two pieces, a full stop as its own: like SentencePiece, or subword-nmt."""
    pieces: list[str] = []
    for word in text.replace(".", " .").split():
        halves = [word[:5], word[5:]] if len(word) > 6 else [word]
        if joined:
            pieces += [f"{half}@@" for half in halves[:-1]] + halves[-1:]
        else:
            pieces += [halves[0] if word == "." else SPACE + halves[0], *halves[1:]]
    return pieces


def translated(text: str, muted: dict[str, list[int]]) -> str:
    """Word by word; unknown words are copied."""
    words = [WORDS.get(word.lower(), word) for word in text.replace(".", " .").split()]
    if 1 in muted.get("0", []):
        words = ["großer" if word == "kleiner" else word for word in words]
    line = " ".join(words).replace(" .", ".")
    return line[:1].upper() + line[1:]


def warnings_of(text: str) -> list[str]:
    return ["'zzz' was copied"] if "zzz" in text else []


def looking(rows: int, columns: int, shift: float, spread: float) -> list[list[float]]:
    """Attention near the diagonal, moved by `shift`; every row sums to 1."""
    step = columns / max(rows, 1)
    table = [
        [math.exp(-(((row * step + shift - column) / spread) ** 2)) for column in range(columns)]
        for row in range(rows)
    ]
    return [[value / (sum(row) or 1) for value in row] for row in table]


def layer_of(index: int, model: dict[str, Any], length: int, muted: list[int]) -> dict[str, Any]:
    units = range(model["units"])
    left = sum(WEIGHTS[unit] for unit in units if unit not in muted)
    scale = sum(WEIGHTS[unit] for unit in units) / left
    return {
        "weights": [0 if unit in muted else WEIGHTS[unit] * scale for unit in units],
        "order": ORDER[index:] + ORDER[:index] if model["bias"] else None,
        "settled": index != 1 if model["bias"] else None,
        "attention": [
            looking(length, length, (0, 1, -1, 2)[unit], 0.5 + 0.6 * unit + 0.4 * index)
            for unit in units
        ],
    }


def line_by_line(question: dict[str, Any]) -> dict[str, Any]:
    lines = [translated(line, question["muted"]) for line in question["q"]]
    warnings = {"warnings": [warnings_of(line) for line in question["q"]]}
    return {"translatedText": lines, **(warnings if question.get("warnings") else {})}


def inspected(question: dict[str, Any]) -> dict[str, Any]:
    model = next(each for each in MODELS if each["name"] == question["model"])
    muted = question["muted"]
    text = translated(question["q"], muted)
    tokens = pieces_of(text, joined=not model["bias"])
    source_tokens = [*pieces_of(question["q"], joined=not model["bias"]), "</s>"]
    length = len(source_tokens)
    layers = range(int(str(model["layers"])))
    return {
        "text": text,
        "score": -1.25,
        "tokens": tokens,
        "source_tokens": source_tokens,
        "attention": looking(len(tokens) + 1, length, 0, 0.6),
        "alternatives": [
            {"text": text.replace("läuft", "rennt"), "score": -1.5 - extra}
            for extra in range(question["nbest"] - 1)
        ],
        "warnings": warnings_of(question["q"]),
        "layers": [layer_of(at, model, length, muted.get(str(at), [])) for at in layers],
    }


class Handler(SimpleHTTPRequestHandler):
    """The page's calls; `asked` keeps them for the tests."""

    asked: Asked
    busy: list[str]
    instance = "first"
    """What the server calls itself; another one after it was started anew."""

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self._answer(
                200, [questions.ModelAnswer.model_validate(each).model_dump() for each in MODELS]
            )
            return
        if self.path == "/":
            self.path = "/static/index.html"
        super().do_GET()

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asking, answering = FORMS[self.path]
        asking.model_validate(question)
        self.asked.append((self.path, question))
        text = " ".join(question["q"]) if self.path == "/translate" else question["q"]
        if "slow" in text:
            time.sleep(SLOW)
        if "refuse" in text:
            self._answer(400, {"error": "q: this text is refused"})
        elif self.path == "/v1/inspect" and len(text) > LONGEST:
            self._answer(413, {"error": f"q: {len(text)} letters, but at most {LONGEST} are shown"})
        elif "locked" in text and question.get("api_key") != "sesame":
            self._answer(403, {"error": "api_key: missing or wrong"})
        elif "busy" in text and text not in self.busy:
            self.busy.append(text)
            self._answer(503, {"error": "The queue is full."}, {"Retry-After": "1"})
        elif "few" in text and self.path == "/translate" and len(question["q"]) > FEW:
            self._answer(413, {"error": f"q: {len(question['q'])} lines, but at most {FEW}"})
        elif "late" in text and self.path == "/translate" and len(question["q"]) > FEW:
            self._answer(504, {"error": "not translated within 30 seconds; send less text"})
        else:
            answer = line_by_line(question) if self.path == "/translate" else inspected(question)
            answering.model_validate(answer)
            self._answer(200, answer)

    def _answer(self, status: int, answer: Any, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(answer).encode()
        with suppress(ConnectionError):  # the page no longer wants it
            self._send(status, body, headers or {})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        known = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Mute-Instance": self.instance,
        }
        for name, value in {**known, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self) -> None:
        """The real server's headers, so that the page works with what they allow."""
        for name, value in PAGE_HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class's name)
        """Tests are quiet."""


@contextmanager
def serving() -> Iterator[tuple[str, type[Handler]]]:
    """The address of a running server, and its handler with what it was asked."""
    handler = type("OwnHandler", (Handler,), {"asked": [], "busy": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(FOLDER)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
