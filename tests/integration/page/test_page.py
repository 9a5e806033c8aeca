"""The page, in a real browser, against the answers of a stand-in for the server."""

import re

from playwright.sync_api import Browser, Page, expect

from tests.integration.page.browser import needs_chromium, opened, translation, write
from tests.integration.page.stub import SLOW, Asked, Handler

SENTENCE = "A small dog runs through the deep snow."
GERMAN = "Ein kleiner Hund läuft durch den tiefen Schnee."

pytestmark = needs_chromium


def focus_by_tab(page: Page, selector: str) -> None:
    for _ in range(60):
        if page.locator(selector).evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reached {selector}")


def test_the_translation_follows_when_typing_pauses(page: Page, asked: Asked) -> None:
    page.clock.install()
    page.clock.pause_at("2100-01-01")
    page.get_by_label("English").press_sequentially(SENTENCE)
    page.clock.run_for(240)
    assert asked == []
    page.clock.run_for(20)
    translation(page).to_have_text(GERMAN)
    assert [question["q"] for _, question in asked] == [SENTENCE]
    expect(page.get_by_role("heading", name="German")).to_be_visible()


def test_control_and_enter_translate_without_the_pause(page: Page) -> None:
    page.clock.install()
    page.clock.pause_at("2100-01-01")
    write(page, SENTENCE)
    page.get_by_label("English").press("Control+Enter")
    translation(page).to_have_text(GERMAN)


def test_an_example_is_a_click_away_and_an_empty_text_shows_them_again(page: Page) -> None:
    page.get_by_role("button", name="A small dog").click()
    translation(page).to_have_text(GERMAN)
    expect(page.locator("#invitation")).to_be_hidden()
    write(page, "  ")
    expect(page.get_by_role("button", name="A small dog")).to_be_visible()
    translation(page).to_be_empty()


def test_alternatives_open_on_a_click_and_follow_the_beam(page: Page) -> None:
    write(page, SENTENCE)
    page.get_by_text("Alternatives", exact=True).click()
    expect(page.locator("#alternative-list li")).to_have_count(3)
    expect(page.locator("#alternative-list li").first).to_contain_text("Ein kleiner Hund rennt")
    page.get_by_label("Beam").select_option("1")
    expect(page.locator("#alternative-list li")).to_have_count(0)
    expect(page.locator("#alternative-note")).to_contain_text("choose a larger one")


def test_an_answer_that_is_out_of_date_is_not_shown(page: Page) -> None:
    write(page, "slow old houses")
    expect(page.get_by_text("Translating…")).to_be_visible()
    write(page, "two houses")
    translation(page).to_have_text("Zwei Häuser")
    page.wait_for_timeout(1000 * SLOW + 500)
    translation(page).to_have_text("Zwei Häuser")


def test_typing_on_ends_a_question_and_dims_what_is_out_of_date(page: Page) -> None:
    write(page, "two houses")
    translation(page).to_have_text("Zwei Häuser")
    page.clock.install()  # the pause after a key does not end by itself
    page.clock.pause_at("2100-01-01")
    page.get_by_label("English").press("a")
    expect(page.locator("main")).to_have_class("stale")
    page.route("**/v1/inspect", lambda _: None)  # no answer, ever
    page.clock.run_for(300)
    expect(page.get_by_text("Translating…")).to_be_visible()
    with page.expect_event("requestfailed"):
        page.get_by_label("English").press("b")


def test_muting_a_unit_shows_which_words_change(page: Page, asked: Asked) -> None:
    write(page, SENTENCE)
    expect(page.locator("#difference")).to_have_text(GERMAN)
    page.get_by_label("Mute unit 1").check()
    translation(page).to_have_text(GERMAN.replace("kleiner", "großer"))
    assert asked[-1][1]["muted"] == {"0": [1]}
    expect(page.locator("#translation .changed")).to_have_text("großer")
    expect(page.locator("#difference del")).to_have_text("removed: kleiner")
    expect(page.locator("#difference ins")).to_have_text("added: großer")
    expect(page.get_by_label("Unit 0", exact=True)).to_contain_text("0.57 (was 0.42)")
    page.get_by_role("button", name="Unmute all").click()
    translation(page).to_have_text(GERMAN)
    expect(page.get_by_label("Mute unit 1")).not_to_be_checked()
    expect(page.locator("#translation .changed")).to_have_count(0)


def test_an_order_that_is_none_yet_is_not_shown_as_one(page: Page) -> None:
    write(page, SENTENCE)
    page.get_by_label("Layer 1").check()
    expect(page.locator("#order")).to_have_text(
        "No order yet: some units share a place. The nearest order: "
        "unit 0 → unit 3 → unit 1 → unit 2"
    )
    expect(page.get_by_label("Unit 1", exact=True)).to_contain_text("Place 3 of 4 in the nearest")


def test_muting_is_by_layer_and_one_unit_has_to_stay(page: Page) -> None:
    write(page, SENTENCE)
    page.get_by_label("Layer 2").check()
    expect(page.locator("#order")).to_have_text("Learned order: unit 3 → unit 1 → unit 2 → unit 0")
    for unit in (0, 1, 3):
        page.get_by_label(f"Mute unit {unit}").check()
    expect(page.get_by_label("Mute unit 2")).to_be_disabled()
    expect(page.locator("#difference-title")).to_have_text("With muted units: no word changes")
    page.get_by_label("Layer 0").check()
    expect(page.get_by_label("Mute unit 2")).to_be_enabled()
    expect(page.get_by_label("Mute unit 0")).not_to_be_checked()


def test_every_unit_shows_its_kind_weight_place_and_map(page: Page) -> None:
    write(page, SENTENCE)
    unit = page.get_by_label("Unit 2", exact=True)
    kind = "disorder: trained with three neighbouring words shuffled"
    for said in (kind, "0.21", "Place 1 of 4"):
        expect(unit).to_contain_text(said)
    expect(page.locator(".map svg")).to_have_count(4)
    expect(page.locator(".map").first.locator(".cells rect")).to_have_count(11)  # weak ones hidden


def test_a_word_lights_up_what_belongs_to_it(page: Page) -> None:
    write(page, SENTENCE)
    page.locator("#translation .word", has_text="Schnee").hover()
    expect(page.locator("#source-words .lit").first).to_have_text("deep")
    looks = re.compile(r"^Schnee looks at snow 0\.[5-9]")
    expect(page.locator("#alignment-readout")).to_have_text(looks)
    page.locator("#source-words .word", has_text="dog").hover()
    expect(page.locator("#translation .lit", has_text="Hund")).to_be_visible()


def test_everything_works_with_the_keyboard_alone(page: Page) -> None:
    page.keyboard.type(SENTENCE)  # the text has the focus from the start
    translation(page).to_have_text(GERMAN)
    focus_by_tab(page, "#translation .word >> nth=0")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#alignment-readout")).to_contain_text("kleiner looks at small")
    focus_by_tab(page, "summary")
    page.keyboard.press("Enter")
    expect(page.locator("#alternative-list li").first).to_be_visible()
    focus_by_tab(page, "input[name=layer] >> nth=0")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Layer 1")).to_be_checked()
    page.keyboard.press("ArrowLeft")
    focus_by_tab(page, ".map >> nth=0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".unit .readout").first).to_have_text(re.compile(r"^small → small: 0\.9"))
    focus_by_tab(page, "[aria-label='Mute unit 1']")
    page.keyboard.press("Space")
    expect(page.locator("#translation .changed")).to_have_text("großer")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"


def test_a_tap_shows_the_cell_that_was_tapped(
    browser: Browser, server: tuple[str, type[Handler]]
) -> None:
    with opened(browser, server[0], touch=True) as page:
        write(page, "a small dog runs")
        readout = page.locator(".unit .readout p").first
        cells = page.locator(".unit .map").first.locator(".cells rect")
        said = []
        for index in (1, 3, 1):
            cells.nth(index).tap()
            expect(readout).not_to_be_empty()
            said.append(readout.text_content())
        assert said[0] == said[2] != said[1]
        assert all(each and "→" in each for each in said)


def test_another_model_brings_its_own_units(page: Page) -> None:
    said = "This model takes text that is tokenised already."
    expect(page.locator("#source-help")).not_to_contain_text("This model takes")
    page.get_by_label("Model").select_option("back")
    expect(page.locator("#source-help")).to_contain_text(said)
    expect(page.locator("#examples")).to_be_hidden()
    page.get_by_label("German").fill("international zzz")
    expect(page.locator("#source-words .word")).to_have_text(["international", "zzz", "‹end›"])
    expect(page.locator("#order")).to_contain_text("no learned order")
    expect(page.locator(".unit")).to_have_count(2)
    expect(page.locator("#warnings")).to_have_text("'zzz' was copied")


def test_any_code_of_a_language_has_a_heading(page: Page) -> None:
    page.get_by_label("Model").select_option("far")
    expect(page.locator("#source-title")).to_have_text("x")
    expect(page.locator("#target-title")).to_have_text("Simplified Chinese")
    expect(page.locator("#source")).to_have_attribute("lang", "x")
    expect(page.locator("#translation")).to_have_attribute("lang", "zho-Hans")
    page.get_by_role("button", name="zzz").click()
    translation(page).to_have_text("Zzz")


def test_an_error_is_told_in_words_until_it_is_over(page: Page) -> None:
    write(page, "please refuse")
    expect(page.get_by_role("alert")).to_contain_text("This text is refused.")
    write(page, "a dog")
    translation(page).to_have_text("Ein Hund")
    expect(page.get_by_role("alert")).to_be_hidden()


def test_a_server_that_wants_a_key_gets_it_from_the_reader(page: Page) -> None:
    write(page, "locked houses")
    expect(page.get_by_role("alert")).to_contain_text("api_key: missing or wrong.")
    page.get_by_label("API key").fill("open")
    page.keyboard.press("Enter")
    expect(page.get_by_label("API key")).to_be_focused()
    page.get_by_label("API key").fill("sesame")
    page.keyboard.press("Enter")
    translation(page).to_have_text("Locked Häuser")
    expect(page.get_by_label("English")).to_be_focused()


def test_a_busy_server_is_asked_again_when_it_said(page: Page) -> None:
    write(page, "busy dog")
    said = "The queue is full. Trying again in a second."
    expect(page.get_by_role("alert")).to_contain_text(said)
    translation(page).to_have_text("Busy Hund")
    expect(page.get_by_role("alert")).to_be_hidden()


def test_offline_is_told_and_ends_by_itself(page: Page) -> None:
    page.context.set_offline(True)
    write(page, "old houses")
    expect(page.get_by_role("alert")).to_contain_text("You are offline.")
    page.context.set_offline(False)
    translation(page).to_have_text("Alte Häuser")
