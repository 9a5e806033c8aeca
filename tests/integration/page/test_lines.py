"""Texts of several lines, and lines that are long, on the page."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.integration.page.browser import needs_chromium, translation, write
from tests.integration.page.stub import FEW, Asked

pytestmark = needs_chromium


def sent(asked: Asked, path: str) -> list[Any]:
    return [question["q"] for to, question in asked if to == path]


def test_of_several_lines_the_one_with_the_caret_is_looked_into(page: Page, asked: Asked) -> None:
    write(page, "Two old houses\n\na dog")
    expect(page.locator("#translation p")).to_have_text(["Zwei alte Häuser", "", "Ein Hund"])
    expect(page.locator("#translation .current")).to_have_text("Ein Hund")
    assert sent(asked, "/translate") == [["Two old houses"]]
    page.get_by_label("English").press("Control+Home")
    expect(page.locator("#translation .current")).to_have_text("Zwei alte Häuser")
    expect(page.locator("#source-words .word")).to_have_text(["Two", "old", "houses", "‹end›"])
    page.keyboard.press("ArrowDown")  # an empty line: the one above stays in view
    expect(page.locator("#translation .current")).to_have_text("Zwei alte Häuser")
    assert sent(asked, "/v1/inspect") == ["a dog", "Two old houses"]


def test_beam_and_muting_act_on_all_lines(page: Page, asked: Asked) -> None:
    write(page, "a small house\na dog\ntwo small houses\na dog")
    lines = page.locator("#translation p")
    expect(lines).to_have_text(["Ein kleiner house", "Ein Hund", "Zwei kleiner Häuser", "Ein Hund"])
    asked.clear()
    page.get_by_label("Mute unit 1").check()
    expect(lines).to_have_text(["Ein großer house", "Ein Hund", "Zwei großer Häuser", "Ein Hund"])
    expect(page.locator("#translation .changed")).to_have_text(["großer"] * 2)
    said = "With muted units: 2 of 4 lines change"
    expect(page.locator("#difference-title")).to_have_text(said)
    expect(page.locator("#difference p")).to_have_count(2)
    assert sent(asked, "/translate") == [["a small house", "two small houses"]]
    assert all(question["muted"] == {"0": [1]} for _, question in asked)
    page.get_by_label("Beam").select_option("2")
    expect(page.get_by_text("Translating…")).to_be_hidden()
    assert {question["beam"] for _, question in asked} == {4, 2}
    asked.clear()
    page.get_by_label("English").press("Control+End")
    page.keyboard.type(" runs")
    expect(lines.last).to_have_text("Ein Hund läuft")
    assert [question["q"] for _, question in asked] == ["a dog runs"] * 2


def test_a_long_text_is_sent_in_portions(page: Page, asked: Asked) -> None:
    write(page, "\n".join(f"dog {number}" for number in range(120)))
    expect(page.locator("#translation p").nth(118)).to_have_text("Hund 118")
    assert [len(each) for each in sent(asked, "/translate")] == [50, 50, 19]


@pytest.mark.parametrize("why", ["few", "late"])
def test_a_server_that_takes_few_lines_gets_few_at_a_time(
    why: str, page: Page, asked: Asked
) -> None:
    write(page, "\n".join(f"{why} dog {number}" for number in range(20)))
    expect(page.locator("#translation p").nth(19)).to_have_text(f"{why.title()} Hund 19")
    sizes = [len(question["q"]) for path, question in asked if path == "/translate"]
    assert max(sizes) > FEW
    assert sum(size for size in sizes if size <= FEW) == 19  # one was looked into


def test_a_line_is_said_once_however_the_caret_moves(page: Page) -> None:
    write(page, "a dog\na dog\ntwo houses")
    said = page.locator("#said")
    expect(said).to_have_text("Zwei Häuser")
    page.evaluate("""() => {
        window.times = 0;
        new MutationObserver((all) => (window.times += all.length)).observe(
            document.getElementById("said"), { childList: true });
    }""")
    for key, current in (("ArrowUp", 1), ("ArrowUp", 0)):
        page.get_by_label("English").press(key)
        expect(page.locator("#translation p").nth(current)).to_have_class("current")
    expect(said).to_have_text("Ein Hund")
    assert page.evaluate("window.times") == 1


def test_a_line_too_long_to_look_into_is_translated_all_the_same(page: Page) -> None:
    write(page, "two houses " * 40)
    translation(page).to_have_text(re.compile(r"^Zwei Häuser( zwei Häuser)+$"))
    expect(page.locator("#inside-empty")).to_have_text(re.compile("at most 400 are shown"))


def test_a_line_too_long_to_look_into_is_muted_and_unmuted_as_others(page: Page) -> None:
    write(page, "a small dog")
    page.get_by_label("Mute unit 1").check()
    write(page, "small houses " * 40)
    translation(page).to_have_text(re.compile(r"^Großer Häuser( großer Häuser)+$"))
    page.get_by_role("button", name="Unmute all").click()
    expect(page.get_by_label("English")).to_be_focused()
    translation(page).to_have_text(re.compile(r"^Kleiner Häuser( kleiner Häuser)+$"))
    expect(page.locator("#difference-box")).to_be_hidden()


def test_warnings_are_of_all_lines_by_number(page: Page) -> None:
    write(page, f"zzz\n\n{'zzz ' * 110}\na dog")
    said = "'zzz' was copied"
    expect(page.locator("#warnings li")).to_have_text([f"Line 1: {said}", f"Line 3: {said}"])
    write(page, "zzz " * 110)
    expect(page.locator("#warnings li")).to_have_text([said])


def test_the_marked_line_is_in_sight_and_the_page_stays_where_it_is(page: Page) -> None:
    write(page, "\n".join(f"dog {number}" for number in range(60)))
    current = page.locator("#translation .current")
    for key, line in (("Control+End", "Hund 59"), ("Control+Home", "Hund 0")):
        page.get_by_label("English").press(key)
        expect(current).to_have_text(line)
        assert page.evaluate("window.scrollY") == 0
        expect(current).to_be_in_viewport()
