"""When the server does not answer as it should, and how the reader goes on."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.integration.page import stub
from tests.integration.page.browser import WAIT, needs_chromium, opened, translation, write
from tests.integration.page.stub import Handler

pytestmark = needs_chromium


def test_typing_before_the_models_are_known_leaves_a_way_to_get_them(
    browser: Browser, server: tuple[str, type[Handler]]
) -> None:
    page = browser.new_page()
    page.set_default_timeout(WAIT)
    page.route("**/v1/models", lambda route: route.abort(), times=1)
    page.goto(server[0])
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
    page.get_by_label("Text", exact=True).fill("old houses")
    page.wait_for_timeout(500)  # longer than the pause after which a text is sent
    page.get_by_role("button", name="Try now").press("Enter")
    translation(page).to_have_text("Alte Häuser")
    expect(page.get_by_label("English")).to_be_focused()
    expect(page.get_by_role("alert")).to_be_hidden()
    page.close()


def test_a_problem_is_in_sight_where_units_are_muted(page: Page) -> None:
    write(page, "A small dog.")
    translation(page).to_have_text("Ein kleiner Hund.")
    page.set_viewport_size({"width": 900, "height": 500})
    page.route("**/v1/inspect", lambda route: route.abort())
    page.get_by_label("Mute unit 1").check()
    expect(page.get_by_role("alert")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")


def test_a_server_that_was_started_anew_is_asked_anew(
    browser: Browser, server: tuple[str, type[Handler]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(browser, server[0]) as page:
        write(page, "old houses")
        translation(page).to_have_text("Alte Häuser")
        monkeypatch.setattr(server[1], "instance", "second")
        monkeypatch.setitem(stub.WORDS, "houses", "Gebäude")  # another model of the same name
        write(page, "old houses\nnear")
        expect(page.locator("#translation p")).to_have_text(["Alte Gebäude", "Nahe"])
