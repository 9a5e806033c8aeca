"""`mute prepare`, as a user types it."""

from pathlib import Path

import pytest

from tests.integration.command import run


def test_what_looks_wrong_and_what_is_replaced_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, animals in {"train": ("dog", "cat", "cow"), "dev": ("hen",)}.items():
        lines = [f"a {animal} sees {count}\n" for animal in animals for count in range(20)]
        Path(f"{name}.en").write_text("".join(lines))
    Path("mine.yaml").write_text(
        "data: {source: en, target: de, prepared: made, dev: {source: dev.en, target: dev.en},\n"
        "  train: [{source: train.en, target: train.en}], tokenizer: {kind: moses-bpe, size: 40}}\n"
    )
    expected = [
        f"Warning: {name}.en: {count} of {count} pairs have the same sentence as source and "
        f"target; name the translation as one of them"
        for name, count in {"train": 60, "dev": 20}.items()
    ]
    for _ in range(2):  # the second time, nothing has changed
        assert run("prepare", "mine.yaml") == 0
        assert capsys.readouterr().err.splitlines() == expected
    assert run("prepare", "mine.yaml", "--set", "data.tokenizer.size=30") == 0
    told = "made: will replace what was prepared with another data.tokenizer; runs begun with that "
    assert capsys.readouterr().err.splitlines() == [f"{told}cannot go on then", *expected]
