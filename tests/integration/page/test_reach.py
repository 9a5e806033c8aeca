"""The page for those who see, point or read in another way."""

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.integration.page.browser import WAIT, needs_chromium, write
from tests.integration.page.stub import Handler

pytestmark = needs_chromium
SENTENCE = "A small dog runs through the deep snow."


def style(of: Locator, name: str, part: str | None = None) -> str:
    """A computed style of an element, or of its ::before."""
    script = "(element, [name, part]) => getComputedStyle(element, part).getPropertyValue(name)"
    found: str = of.evaluate(script, [name, part])
    return found


def contrast(one: str, other: str) -> float:
    """WCAG's, of two colours as browsers write them: rgb(1, 2, 3)."""

    def luminance(colour: str) -> float:
        shares = [int(each) / 255 for each in colour.removeprefix("rgb(")[:-1].split(",")]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares]
        return sum(x * y for x, y in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture
def forced(browser: Browser, server: tuple[str, type[Handler]]) -> Iterator[Page]:
    """The page in the reader's own colours."""
    page = browser.new_page(forced_colors="active")
    page.set_default_timeout(WAIT)
    page.goto(server[0])
    write(page, SENTENCE)
    yield page
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_moves_when_a_word_or_a_cell_is_pointed_at(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    write(page, SENTENCE)
    expect(page.locator(".map svg")).to_have_count(4)
    place = "document.querySelector('.unit:last-child').getBoundingClientRect().bottom + scrollY"
    before = page.evaluate(place)
    page.locator("#translation .word").first.focus()
    expect(page.locator("#alignment-readout")).not_to_be_empty()
    assert page.evaluate(place) == before
    page.locator(".map").first.focus()
    expect(page.locator(".unit .readout p").first).not_to_be_empty()
    assert page.evaluate(place) == before


def test_forced_colours_tell_on_from_off(forced: Page) -> None:
    forced.get_by_label("Mute unit 1").check()
    expect(forced.locator("#translation .changed")).to_have_text("großer")
    paper = style(forced.locator("body"), "background-color")
    on, off = (forced.get_by_label(f"Mute unit {unit}") for unit in (1, 0))
    assert style(on, "background-color") != style(off, "background-color") == paper
    assert style(off, "background-color", "::before") != paper
    chosen, other = (forced.locator(".segment span").nth(at) for at in (0, 1))
    assert style(chosen, "background-color") != style(other, "background-color") == paper
    assert style(forced.locator(".fill").first, "background-color") != paper
    forced.locator("#translation .word").first.focus()
    lit = forced.locator("#source-words .lit").first
    assert style(lit, "background-color") not in (paper, style(lit, "color"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_can_be_used_has_an_edge_that_can_be_seen(
    page: Page, scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    around = [style(page.locator("body"), "background-color")]
    for each in ("#source", "#model", ".example", ".segment:last-child span"):
        control = page.locator(each).first
        ground = [*around, style(control, "background-color")]
        edge = style(control, "border-top-color")
        assert min(contrast(edge, colour) for colour in ground) >= 3, each


def test_the_text_of_a_muted_unit_is_not_dimmed(page: Page) -> None:
    write(page, SENTENCE)
    page.get_by_label("Mute unit 1").check()
    unit = page.locator(".unit.muted")
    expect(unit).to_have_count(1)
    assert [style(unit.locator(each), "opacity") for each in (".weight", "svg")] == ["1", "1"]
    assert float(style(unit.locator(".cells"), "opacity")) < 1


def test_words_say_what_they_are(page: Page) -> None:
    write(page, SENTENCE)
    for name, word in (("Words of the text", "snow"), ("Words of the translation", "Schnee")):
        page.get_by_role("group", name=name).get_by_role("button", name=word).focus()
        expect(page.locator("#alignment-readout")).to_contain_text(word)


def test_wide_letters_of_a_map_are_not_cut_off(page: Page) -> None:
    write(page, "WWWWWWWWW 图书馆图书馆图书 dog")
    expect(page.locator(".map svg").first).to_be_visible()
    inside = page.locator(".map svg").first.evaluate(
        """(svg) => [...svg.querySelectorAll(".labels text")].every((label) => {
            const [inner, outer] = [label.getBoundingClientRect(), svg.getBoundingClientRect()];
            return inner.left >= outer.left - 1 && inner.top >= outer.top - 1;
        })"""
    )
    assert inside
