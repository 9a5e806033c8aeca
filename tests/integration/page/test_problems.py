"""When the server does not answer as it should, and how the reader goes on."""

from playwright.sync_api import Browser, expect

from tests.integration.page.browser import WAIT, needs_chromium, translation
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
