"""`mute translate`, as a user pipes lines through it."""

import io
import json
import sys
from pathlib import Path

import pytest

from mute.cli import translating
from mute.configfile import load_config
from mute.data.prepared import load_prepared
from mute.demo import run_demo
from mute.errors import MuteError
from mute.model.folder import load_model
from mute.translate.loading import load
from mute.translate.translator import Translator
from tests.integration.command import run


def piped(
    model: Path, given: bytes, monkeypatch: pytest.MonkeyPatch, *options: str
) -> tuple[int, bytes]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    printed = io.TextIOWrapper(io.BytesIO(), write_through=True)
    monkeypatch.setattr(sys, "stdout", printed)
    status = run("translate", str(model), *options)
    printed.flush()
    assert isinstance(printed.buffer, io.BytesIO)
    return status, printed.buffer.getvalue()


def test_without_a_standard_input_a_file_is_asked_for(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # as a daemon has it
    assert run("translate", str(model)) == 2
    assert capsys.readouterr().err == "mute: standard input is closed; name a file with -i\n"


def test_a_limit_beyond_all_measure_is_refused(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("translate", str(model), "--max-length", "1" + "0" * 20) == 2
    assert "--max-length" in capsys.readouterr().err


def test_as_many_lines_come_out_as_go_in_and_in_their_order(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        "The dog sleeps.",
        "",
        "A very long line of many words. " * 5,
        "He\u2028sings.\r",
        "Yes",
    ]
    given = ("\n".join(lines) + "\n").encode()
    status, together = piped(model, given, monkeypatch)
    assert status == 0
    translations = together.decode().split("\n")[:-1]
    assert len(translations) == 5
    assert translations[1] == ""
    monkeypatch.setattr(translating, "LINES_AT_ONCE", 2)
    assert piped(model, given, monkeypatch) == (0, together)
    alone = [load(model).translate([line.rstrip("\r")])[0].text for line in lines]
    assert translations == alone


def test_a_line_that_is_not_utf8_is_named(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _ = piped(model, b"good\nb\xffd\n", monkeypatch)
    assert status == 2
    assert "standard input:2: not UTF-8 at byte 1" in capsys.readouterr().err


def test_a_line_longer_than_any_of_the_training_text_is_split(
    model: Path, experiment_file: Path
) -> None:
    data = load_config(experiment_file).data
    assert data is not None
    longest = int(load_prepared(data).train.lengths[0].max())
    translator = load(model)
    assert translator.max_length == longest
    (translation,) = translator.translate(["The dog sleeps. " * longest], beam=1)
    assert "translated in parts" in translation.warnings[0]


def test_more_translations_of_a_line_are_its_alternatives(model: Path) -> None:
    (best,) = load(model).translate(["The dog sleeps."], beam=2, nbest=3)
    assert len(best.alternatives) == 2
    scores = [best.score, *(other.score for other in best.alternatives)]
    assert scores == sorted(scores, reverse=True)


def test_a_model_folder_is_complete_by_itself(model: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    model.rename(moved)
    try:
        (translation,) = load(moved).translate(["The dog sleeps."])
        assert translation.tokens
    finally:
        moved.rename(model)


def test_info_on_a_model(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("info", str(model), "--json") == 0
    (parts,) = json.loads(capsys.readouterr().out).values()
    assert parts["encoder permutations"] == 2 * 9
    assert parts["source embedding"] == 500 * 16


def test_a_model_of_tokenised_text_says_so(
    tokenised_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    takes = "takes text that is tokenised and lower-cased already"
    status, _ = piped(tokenised_model, b"A dog runs.\na dog runs .\n", monkeypatch)
    assert status == 0
    assert capsys.readouterr().err.count(f"mute: {tokenised_model} {takes}\n") == 1
    monkeypatch.undo()
    assert run("info", str(tokenised_model)) == 0
    assert takes in " ".join(capsys.readouterr().out.split())


def test_a_loaded_model_is_the_saved_one(model: Path) -> None:
    saved = load_model(model)
    assert saved.network.config.units == 3
    assert Translator(*saved).translate([]) == []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("config.json", "a model is a folder that `mute train` wrote"),
        ("model.safetensors", "missing, damaged or of another model"),
        ("tokenizer/tokenizer.json", "cannot be read"),
    ],
)
def test_a_model_that_is_not_whole_says_what_is_missing(
    model: Path, damage: str, message: str
) -> None:
    lost = model / damage
    kept = lost.read_bytes()
    lost.unlink()
    try:
        with pytest.raises(MuteError, match=message):
            load(model)
        if damage == "model.safetensors":
            lost.write_bytes(kept[: len(kept) // 2])
            with pytest.raises(MuteError, match=message):
                load(model)
    finally:
        lost.write_bytes(kept)


def test_another_format_of_a_model_is_refused(model: Path) -> None:
    config = model / "config.json"
    kept = config.read_text()
    config.write_text(kept.replace('"format": 1', '"format": 7'))
    try:
        with pytest.raises(MuteError, match="format 7, but this version of mute reads format 1"):
            load(model)
    finally:
        config.write_text(kept)


def test_the_demo_needs_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.touch()
    assert run("demo", "--folder", str(file)) == 2
    told = capsys.readouterr().err
    assert told == f"mute: {file}: cannot be written to (Not a directory); choose another folder\n"


def test_the_demo_in_miniature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few steps only: that it learns is shown by `make demo`."""
    from mute import demo

    whole = demo.demo_config

    def hurried(folder: Path) -> object:
        config = whole(folder)
        assert config.train is not None
        quick = config.train.model_copy(update={"steps": 2, "validate_every": 2, "save_every": 1})
        return config.model_copy(update={"train": quick})

    monkeypatch.setattr(demo, "demo_config", hurried)
    monkeypatch.setattr(demo, "SIZES", {"train": 1500, "dev": 5, "test": 12})
    found = run_demo(tmp_path)
    assert len(found.translations) == 12
    assert all(sorted(order) == [0, 1, 2, 3] for order in found.orders)
    page = found.page.read_text(encoding="utf-8")
    assert "Encoder layer 2" in page
    assert "$" not in page
