"""The document with all config keys."""

import re
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from mute.config import Config, ModelConfig, ParallelText, TokenizerConfig, TrainConfig
from mute.configfile import load_config
from mute.reference import fill, main, meanings, sections

DOCUMENT = Path(__file__).parents[2] / "docs" / "config.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
SECTIONS: list[type[BaseModel]] = [Config, *sections()]


def row(key: str) -> list[str]:
    """The first row of a key: its type, default and meaning."""
    (line, *_) = re.findall(rf"^\| `{key}` \| (.*) \|$", TEXT, flags=re.MULTILINE)
    return str(line).split(" | ")


def test_the_document_is_current() -> None:
    assert fill(TEXT) == TEXT, "run: python -m mute.reference docs/config.md"


@pytest.mark.parametrize(
    ("section", "key"),
    [(section, key) for section in SECTIONS for key in section.model_fields],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_every_key_has_a_meaning(section: type[BaseModel], key: str) -> None:
    assert meanings(section).get(key, "").endswith("."), f"say what {key} means, below it"


def test_sections_are_known_by_their_places() -> None:
    places = sections()
    assert places[ModelConfig] == ["model"]
    assert places[ParallelText] == ["data.train", "data.dev", "data.test"]
    assert places[TokenizerConfig] == ["data.tokenizer"]
    assert places[TrainConfig] == ["train"]


@pytest.mark.parametrize(
    ("key", "kind", "default"),
    [
        ("units", "integer, at least 1, at most 1000", "`1`"),
        ("sample_rate", "number, at least 0, at most 1", "`0.85`"),
        ("learning_rate", "number, above 0", "`1`"),
        ("sequential", "`true` or `false`", "`false`"),
        ("shared", "`none`, `attention` or `ffn`", "`none`"),
        ("bias", "list: `identity`, `swap`, `disorder` or `mask`", "`[]`"),
        ("betas", "list of 2: number, at least 0, below 1", "`[0.9, 0.998]`"),
        ("d_model", "integer, at least 1, at most 65536", "the preset's"),
        ("prepared", "text", "required"),
        ("start_from", "text", "none"),
        ("tokenizer", "[a section](#datatokenizer)", "its own"),
        ("test", "names, each with [a section](#datatrain-datadev-datatest)", "`{}`"),
    ],
)
def test_types_and_defaults_are_told_in_plain_words(key: str, kind: str, default: str) -> None:
    assert row(key)[:2] == [kind, default]


def test_a_meaning_may_be_inherited_and_may_have_several_lines() -> None:
    assert meanings(ModelConfig)["units"].startswith("How many units run in parallel")
    assert "\n" not in meanings(TrainConfig)["r_drop"]


def test_its_examples_are_configs(tmp_path: Path) -> None:
    examples = re.findall(r"```yaml\n(.*?)```", TEXT, flags=re.DOTALL)
    (whole, two_files, another, own_split, diverse) = examples
    files = {"mine.yaml": whole, "wider.yaml": another, "diverse.yaml": diverse}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    config, wider = load_config(tmp_path / "mine.yaml"), load_config(tmp_path / "wider.yaml")
    assert config.data
    assert config.data.train[0].tsv
    assert wider == load_config(
        tmp_path / "mine.yaml", ["model.units=6", "train.run=runs/mine-6-units"]
    )
    more = load_config(tmp_path / "diverse.yaml")
    assert more.data
    assert len(more.data.train) == 3
    assert more.data.dev == config.data.dev
    ParallelText.model_validate(yaml.safe_load(two_files)["train"][0])
    (tmp_path / "split.yaml").write_text(
        own_split.replace("configs/", f"{DOCUMENT.parents[1]}/configs/"), encoding="utf-8"
    )
    split = load_config(tmp_path / "split.yaml")
    assert split.data
    assert split.data.dev == ParallelText(tsv="dev.tsv")


def test_a_document_is_filled_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("a\n<!-- keys -->\noutdated\n<!-- end -->\nb\n", encoding="utf-8")
    main(file)
    filled = file.read_text(encoding="utf-8")
    assert filled.startswith("a\n<!-- keys -->\n\n## `model`\n")
    assert filled.endswith("\n\n<!-- end -->\nb\n")
    assert "outdated" not in filled
