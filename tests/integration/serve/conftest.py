"""A server with a tiny model that has learned next to nothing, twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from mute.serve.app import create_app
from mute.serve.calls import Server
from mute.serve.limits import Limits
from mute.serve.served import Gallery, load_gallery
from mute.translate.loading import load
from mute.translate.translator import Translator


@pytest.fixture(scope="session")
def gallery(model: Path) -> Gallery:
    return load_gallery([model, model], "float32")


@pytest.fixture(scope="session")
def translator(model: Path) -> Translator:
    return load(model)


@pytest.fixture(scope="session")
def client(gallery: Gallery) -> Iterator[TestClient]:
    limits = Limits(queue=50, characters=2000, body=20_000, texts=20)
    with TestClient(create_app(Server(gallery, limits))) as client:
        yield client
