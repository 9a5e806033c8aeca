"""The server keeps what its OpenAPI document promises, whatever it is sent."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mute.serve.app import create_app
from mute.serve.calls import Server
from mute.serve.limits import Limits
from mute.serve.served import Gallery

POSTS = ["/translate", "/detect", "/v1/inspect"]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
GETS = ["/languages", "/health", "/metrics", "/v1/models"]


@pytest.fixture
def api_schema(gallery: Gallery) -> Iterator[Any]:
    server = Server(gallery, Limits(characters=200, timeout=20))
    yield schemathesis.openapi.from_asgi("/openapi.json", create_app(server))
    server.batcher.close()


def test_the_openapi_document_tells_of_every_call(api_schema: Any) -> None:
    assert set(api_schema) == {*POSTS, *GETS}


@pytest.mark.parametrize(
    ("path", "mode"),
    [
        *((path, GenerationMode.POSITIVE) for path in POSTS + GETS),
        *((path, GenerationMode.NEGATIVE) for path in POSTS),
    ],
)
def test_any_request_is_answered_as_the_openapi_document_says(
    api_schema: Any, path: str, mode: GenerationMode
) -> None:
    operation = api_schema[path]["POST" if path in POSTS else "GET"]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=40, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    def check(case: Any) -> None:
        case.call_and_validate(checks=CHECKS)
        if path == "/translate" and isinstance(case.body, dict):
            case.body.update(source="en", target="de")  # which chance does not find
            case.call_and_validate(checks=CHECKS)

    check()
