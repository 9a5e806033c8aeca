"""What the page looks like on a phone, a tablet and a desk, in light and in dark.

`MUTE_SCREENSHOTS=FOLDER` saves the pictures, among them page.png for the README;
`MUTE_PAGE_URL=URL` pictures a running server instead of the stand-in, and `MUTE_PAGE_TEXT` is what
it translates.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.integration.page.browser import WAIT, needs_chromium
from tests.integration.page.stub import serving

pytestmark = needs_chromium
TEXT = os.environ.get("MUTE_PAGE_TEXT", "A small dog runs through the deep snow.")
FOLDER = os.environ.get("MUTE_SCREENSHOTS")
SIZES = [(360, 800), (768, 1024), (1280, 900)]
README = ((1280, 900), "light")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    elsewhere = os.environ.get("MUTE_PAGE_URL")
    if elsewhere:
        yield elsewhere
        return
    with serving() as (here, _):
        yield here


def save(page: Page, name: str, *, whole: bool = False) -> None:
    """As a small file: the page has few colours."""
    if FOLDER is None:
        return
    path = Path(FOLDER) / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path, full_page=whole, animations="disabled")
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def mute_a_unit_that_shows(page: Page) -> None:
    """The first whose muting changes the translation; the last of all if none does."""
    for layer in page.locator("input[name=layer]").all():
        layer.check()
        for switch in page.get_by_role("switch").all():
            page.locator("#unmute").evaluate("button => button.click()")
            switch.check()
            expect(page.locator("main")).not_to_have_class("stale")
            if page.locator("#difference ins, #difference del").count():
                return


def assert_it_fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_it_fits_every_screen_without_scrolling_sideways(
    browser: Browser, address: str, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    width, height = size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.set_default_timeout(WAIT)
    page.goto(address)
    page.get_by_label("English").fill(TEXT)
    expect(page.locator(".map svg").first).to_be_visible()
    assert_it_fits(page)
    mute_a_unit_that_shows(page)
    page.locator("#translation .word").nth(2).hover()
    assert_it_fits(page)
    save(page, f"page-{width}-{scheme}")
    save(page, f"page-{width}-{scheme}-whole", whole=True)
    if (size, scheme) == README:
        save(page, "page", whole=True)
    page.get_by_label("English").fill("Two internationalisation houses. " * 8)
    expect(page.locator("#source-words .word").nth(20)).to_be_visible()
    assert_it_fits(page)
    page.close()
