"""A browser, a stand-in for the server, and the page in the one from the other."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.integration.page.browser import launched, opened
from tests.integration.page.stub import Asked, Handler, serving


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, type[Handler]]]:
    with serving() as running:
        yield running


@pytest.fixture
def asked(server: tuple[str, type[Handler]]) -> Asked:
    """The calls of this test."""
    server[1].asked.clear()
    return server[1].asked


@pytest.fixture
def page(browser: Browser, server: tuple[str, type[Handler]]) -> Iterator[Page]:
    with opened(browser, server[0]) as page:
        yield page
