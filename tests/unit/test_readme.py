"""What the README shows must be so."""

import re
from pathlib import Path

import yaml
from typer.main import get_command

import mute
from mute.cli import app
from mute.config import Config

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def commands() -> set[str]:
    command = get_command(app)
    return set(command.commands)  # type: ignore[attr-defined]


def test_its_config_is_one() -> None:
    (text,) = blocks("yaml")
    Config.model_validate(yaml.safe_load(text.replace("3e-3", "0.003")))


def test_its_table_lists_every_command_and_no_other() -> None:
    table = re.findall(r"^\| `mute (\w+)", README, flags=re.MULTILINE)
    assert set(table) == commands()


def test_the_commands_and_names_it_uses_exist() -> None:
    used = re.findall(r"^mute (\w+)", "".join(blocks("sh")), flags=re.MULTILINE)
    assert set(used) <= commands()
    names = re.findall(r"mute\.(\w+)\(", "".join(blocks("python")))
    assert names
    assert set(names) <= set(mute.__all__)


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    for link in (link for link in links if not link.startswith("https:")):
        assert (ROOT / link).exists(), link


def test_the_parameter_count_it_shows_is_right() -> None:
    config = mute.ModelConfig(
        units=4, bias=["identity", "swap", "disorder", "mask"], sequential=True
    )
    assert f"# {mute.parameter_count(config, vocab_size=32000)}" in README
