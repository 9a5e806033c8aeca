"""What the README shows must be so, and all pages' links."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

import mute
from mute.cli import app
from mute.configfile import load_config

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("results/**/*.md")])
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def commands() -> set[str]:
    command = get_command(app)
    return set(command.commands)  # type: ignore[attr-defined]


def test_its_config_is_one(tmp_path: Path) -> None:
    (text,) = blocks("yaml")
    (tmp_path / "mine.yaml").write_text(text)
    config = load_config(tmp_path / "mine.yaml")
    assert config.train is not None
    assert config.train.learning_rate == 0.003


def test_its_table_lists_every_command_and_no_other() -> None:
    table = re.findall(r"^\| `mute (\w+)", README, flags=re.MULTILINE)
    assert set(table) == commands()


def test_the_commands_and_names_it_uses_exist() -> None:
    used = re.findall(r"^mute (\w+)", "".join(blocks("sh")), flags=re.MULTILINE)
    assert set(used) <= commands()
    names = re.findall(r"mute\.(\w+)\(", "".join(blocks("python")))
    assert names
    assert set(names) <= set(mute.__all__)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        if not link.startswith(("https:", "http:")):
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_becomes_a_list_for_the_plus_that_it_begins_with(page: Path) -> None:
    """Such as that of + Relative."""
    assert not re.search(r"^ {0,3}\+ ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def test_the_parameter_count_it_shows_is_right() -> None:
    config = mute.ModelConfig(
        units=4, bias=["identity", "swap", "disorder", "mask"], sequential=True
    )
    assert f"# {mute.parameter_count(config, vocab_size=32000)}" in README
