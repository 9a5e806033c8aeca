"""Reading requests: JSON or a form, of bounded size, whatever a stranger may have sent."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import BaseModel, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect

from mute.serve.limits import Limits
from mute.serve.metrics import GONE

FORM, MULTIPART, JSON = (
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/json",
)

OTHER_FIELDS = 20
"""That a request may have beside its texts."""
OTHER_ENTRIES = 1000
"""That a field may have which is no list of texts: units, by the layer."""

Question = TypeVar("Question", bound=BaseModel)


class RefusalError(Exception):
    """A request that is answered with an error: a status and a sentence."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        # Whatever the sentence quotes, it can be sent.
        super().__init__(message.encode("utf-8", "replace").decode())
        self.status, self.headers = status, headers


async def read_fields(request: Request, limits: Limits) -> dict[str, Any]:
    """The fields of a request, as a JSON object or a form gives them.

    Raises:
        RefusalError: the body is too large, too slow, cut off, of another type, or not what it
            says.
    """
    kind = _kind(request)
    try:
        async with asyncio.timeout(limits.timeout):
            body = await _read_body(request, limits.body)
    except TimeoutError:
        raise RefusalError(
            408, f"the request did not arrive within {limits.timeout:g} seconds"
        ) from None
    except ClientDisconnect:
        raise RefusalError(GONE, "the client is gone") from None
    if kind == JSON:
        fields = _fields_of_json(body)
        _check_entries(fields, limits.texts)
        return fields
    if kind == FORM:
        pairs = _pairs_of_form(body, limits.texts + OTHER_FIELDS)
    else:
        pairs = await _pairs_of_multipart(request, body, limits.texts + OTHER_FIELDS)
    fields = {}
    for name, value in pairs:  # a field given several times is a list
        if name not in fields:
            fields[name] = value
        elif isinstance(fields[name], list):
            fields[name].append(value)
        else:
            fields[name] = [fields[name], value]
    return fields


def validated(question: type[Question], fields: dict[str, Any], status: int) -> Question:
    """The fields as a model.

    Raises:
        RefusalError: with the given status, naming the field that is wrong and why.
    """
    try:
        return question.model_validate(fields)
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_input=False)
    # The deepest: of a list with a wrong entry, pydantic also says that it is no single text.
    first = max(mistakes, key=lambda mistake: len(mistake["loc"]))
    name = ".".join(
        str(part) for i, part in enumerate(first["loc"]) if i == 0 or isinstance(part, int)
    )
    if first["type"] == "missing":
        raise RefusalError(status, f"Invalid request: missing {name} parameter")
    reason = first["msg"].removeprefix("Value error, ")
    raise RefusalError(status, f"Invalid request: {name}: {reason}")


def _kind(request: Request) -> str:
    kind, options = parse_options_header(request.headers.get("content-type"))
    known = kind.decode("latin-1").lower()
    if known not in (FORM, MULTIPART, JSON):
        raise RefusalError(415, f"Content-Type: should be {JSON}, {FORM} or {MULTIPART}")
    # The parser of such forms would decode them as they wish, and some codecs take their time.
    charset = options.get(b"charset", b"utf-8").decode("latin-1").lower()
    if known == MULTIPART and charset not in ("utf-8", "utf8"):
        raise RefusalError(400, "Content-Type: charset: should be utf-8")
    return known


async def _read_body(request: Request, most: int) -> bytes:
    too_large = RefusalError(413, f"the request is larger than {most:,} bytes")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > most:
        raise too_large
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise too_large
    return bytes(body)


def _decoded(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise RefusalError(400, f"the request is not UTF-8 at byte {error.start}") from None


def _fields_of_json(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(_decoded(body))
    except RecursionError:
        raise RefusalError(400, "the JSON is nested too deeply") from None
    except ValueError as error:
        raise RefusalError(400, f"the request is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise RefusalError(400, "the JSON should be an object with fields such as q")
    return fields


def _check_entries(fields: dict[str, Any], most_texts: int) -> None:
    """Refuse what holds too much before anyone looks at it: each wrong entry costs memory."""
    if len(fields) > OTHER_FIELDS:
        raise RefusalError(413, f"more than {OTHER_FIELDS:,} fields")
    for name, value in fields.items():
        count, most = _entries(value), most_texts if name == "q" else OTHER_ENTRIES
        if count > most:
            raise RefusalError(413, f"{name}: {count:,} entries, but at most {most:,} at once")


def _entries(value: object) -> int:
    """Of a list or an object, and of those inside; no question is nested more deeply."""
    if not isinstance(value, list | dict):
        return 0
    inside = value.values() if isinstance(value, dict) else value
    return len(value) + sum(len(each) for each in inside if isinstance(each, list | dict))


def _pairs_of_form(body: bytes, most: int) -> Iterable[tuple[str, str]]:
    if body.count(b"&") >= most:
        raise RefusalError(413, f"more than {most:,} fields")
    try:
        return parse_qsl(_decoded(body), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise RefusalError(400, "the form is not UTF-8") from None
    except ValueError as error:
        raise RefusalError(400, f"the request is not a form: {error}") from None


async def _pairs_of_multipart(
    request: Request, body: bytes, most: int
) -> Iterable[tuple[str, str]]:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    _decoded(body)  # the parser would take what is not UTF-8 for Latin-1
    try:
        form = await MultiPartParser(
            request.headers, stream(), max_files=0, max_fields=most, max_part_size=len(body)
        ).parse()
    except MultiPartException as error:
        if error.message.startswith("Too many fields"):
            raise RefusalError(413, f"more than {most:,} fields") from None
        raise RefusalError(400, f"the request is not a form: {error.message}") from None
    return [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
