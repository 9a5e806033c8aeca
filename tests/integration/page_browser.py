"""Debian's chromium, driven by playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

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
