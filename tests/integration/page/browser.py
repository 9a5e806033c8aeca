"""Debian's chromium, driven by playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WAIT = 30_000
"""Milliseconds; other tests may need the processor, too."""
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no chromium; `apt-get install chromium` brings it"
)


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser that talks to nobody by itself, with a profile of its own."""
    expect.set_options(timeout=WAIT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, address: str, *, touch: bool = False) -> Iterator[Page]:
    """The page, open and ready; whatever happens, its scripts may not complain."""
    context = browser.new_context(has_touch=touch)
    context.set_default_timeout(WAIT)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
    page.goto(address)
    expect(page.locator("#invitation")).to_be_visible()
    yield page
    context.close()
    # The browser itself notes every refused or failed call; the page tells of those in words.
    assert [each for each in complaints if "Failed to load resource" not in each] == []


def write(page: Page, text: str) -> None:
    """Fill in the text to translate."""
    page.get_by_label("English").fill(text)


def translation(page: Page) -> Any:
    """What the translation is expected to be."""
    return expect(page.locator("#translation"))
