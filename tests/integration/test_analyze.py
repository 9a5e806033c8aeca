"""`mute analyze`, as a user types it."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mute.analysis import captions
from mute.analysis.muting import Muted, Muting
from tests.integration.command import run
from tests.integration.test_train import train

VOID = {"meta", "li", "br"}


@pytest.fixture(scope="module")
def model(experiment_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("analyzed")
    assert train(experiment_file, folder, "train.steps=6", "train.validate_every=3") == 0
    return folder


@pytest.fixture(scope="module")
def text(experiment_file: Path) -> dict[str, str]:
    return {side: str(experiment_file.parent / f"test.{side}") for side in ("en", "de")}


@pytest.fixture(scope="module")
def report(model: Path, text: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "new"
    files = ["--src", text["en"], "--tgt", text["de"]]
    assert run("analyze", str(model), *files, "--out", str(out), "--sentences", "4") == 0
    return out


def numbers(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "analysis.json").read_text())
    return found


def muting_of(found: dict[str, Any]) -> Muting:
    everywhere, *layers = (
        [Muted(**unit) for unit in units] for units in (found["everywhere"], *found["layers"])
    )
    return Muting(**{**found, "everywhere": everywhere, "layers": layers})


def test_all_numbers_are_there(report: Path) -> None:
    found = numbers(report)
    assert found["sentences"] == 20
    assert list(found["diversity"]["overall"]) == [
        "attention_weights",
        "attention_outputs",
        "ffn_outputs",
    ]
    assert all(1 / 2.72 < value < 2.72 for value in found["diversity"]["overall"].values())
    (encoder,) = found["stacks"]
    assert [len(layer["effective"]) for layer in encoder["weights"]] == [3, 3]
    assert [sorted(order["units"]) for order in encoder["orders"]] == [[0, 1, 2]] * 2
    assert encoder["course"]["steps"] == sorted(encoder["course"]["steps"])
    assert found["muting"]["sentences"] == 4
    assert "tok:13a" in found["muting"]["signature"]
    assert [len(layer) for layer in found["muting"]["layers"]] == [3, 3]
    assert [maps["line"] for maps in found["maps"]] == [1, 2, 3]


class Page(HTMLParser):
    """What a browser would fetch, what has a name, and what was left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.names: list[str] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.addresses += [v or "" for k, v in attrs if k in {"src", "href", "xlink:href"}]
        self.names += [given["id"] or ""] if "id" in given else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_page_needs_nothing_else_and_every_figure_is_a_file_too(report: Path) -> None:
    text = (report / "index.html").read_text()
    page = Page(text)
    assert page.open == []
    assert len(page.names) == len(set(page.names))
    outside = [each for each in page.addresses if not each.startswith(("#", "data:image/png"))]
    assert outside == ["analysis.json"]
    assert {each[1:] for each in page.addresses if each.startswith("#")} <= set(page.names)
    figures = {path.stem for path in report.glob("*.png")}
    assert len(figures) == text.count("<svg")
    assert {"encoder-weights", "encoder-orders", "encoder-permutation", "muting"} <= figures
    assert figures <= set(page.names)
    assert text.count('tabindex="0" role="group"') == len(figures)  # scrolled by keyboard


def test_the_page_says_what_is_seen(report: Path) -> None:
    words = Page((report / "index.html").read_text()).words
    found = numbers(report)
    assert f"{found['diversity']['overall']['ffn_outputs']:.3f} for the FFN outputs" in words
    assert captions.of_muting(muting_of(found["muting"])) in words
    assert found["muting"]["signature"] in words
    order = " → ".join(map(str, found["stacks"][0]["orders"][1]["units"]))
    assert f"layer 1: {order}" in words


def test_choices(model: Path, text: dict[str, str], tmp_path: Path) -> None:
    options = ["--show", "5,2", "--sentences", "0", "--diagonal"]
    folder = str(model / "model")
    assert run("analyze", folder, "--src", text["en"], "--out", str(tmp_path), *options) == 0
    found = numbers(tmp_path)
    assert [maps["line"] for maps in found["maps"]] == [5, 2]
    assert found["muting"] is None
    assert found["diversity"]["diagonal"]
    assert found["stacks"][0]["course"] is None  # a model folder has no log


def test_without_translations_the_model_judges(
    model: Path, text: dict[str, str], tmp_path: Path
) -> None:
    options = ["--out", str(tmp_path), "--sentences", "2"]
    assert run("analyze", str(model), "--src", text["en"], *options) == 0
    assert numbers(tmp_path)["muting"]["measure"] == "score"


def test_a_fixed_order_is_trained_and_shown_as_one(
    experiment_file: Path, text: dict[str, str], tmp_path: Path
) -> None:
    fixed = ["model.order=fixed", "train.steps=6", "train.validate_every=3"]
    assert train(experiment_file, tmp_path / "run", *fixed) == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert [layer["order"] for layer in result["units"]["encoder"]] == [[0, 1, 2]] * 2
    assert any(layer["alpha"] != [layer["alpha"][0]] * 3 for layer in result["units"]["encoder"])
    out = tmp_path / "out"
    options = ["--out", str(out), "--sentences", "2"]
    assert run("analyze", str(tmp_path / "run"), "--src", text["en"], *options) == 0
    (encoder,) = numbers(out)["stacks"]
    assert [order["learned"] for order in encoder["orders"]] == [False, False]
    assert encoder["course"]["penalty"] == [[0, 0]] * len(encoder["course"]["steps"])
    words = re.sub(r"\s+", " ", Page((out / "index.html").read_text()).words)
    assert "The order is fixed, and M the identity: in every layer, 0 → 1 → 2." in words
    assert "How the encoder's order came about" not in words
    assert not (out / "encoder-permutation.png").exists()


def test_of_a_single_unit_the_page_says_what_cannot_be_shown(
    experiment_file: Path, text: dict[str, str], tmp_path: Path
) -> None:
    plain = ["model.units=1", "model.bias=[]", "model.sequential=false", "train.steps=3"]
    assert train(experiment_file, tmp_path / "run", *plain, "train.validate_every=3") == 0
    out = tmp_path / "run" / "analysis"
    out.mkdir()
    (out / "analysis.json").write_text('{"figures": ["muting.png"]}')
    for earlier in ("muting.png", "attention-of-mine.png"):
        (out / earlier).touch()
    assert run("analyze", str(tmp_path / "run"), "--src", text["en"]) == 0
    (out / "attention-of-mine.png").unlink()  # what is not of an earlier analysis stays
    found = numbers(out)
    assert found["diversity"] is None
    assert found["muting"] is None
    assert len(found["maps"]) == 3
    words = Page((out / "index.html").read_text()).words
    assert "there is no second one to differ from (diversity)" in re.sub(r"\s+", " ", words)
    assert {path.stem for path in out.glob("*.png")} == {f"attention-{n}" for n in (1, 2, 3)}


def test_sentences_that_are_too_long_are_counted(
    model: Path, text: dict[str, str], tmp_path: Path
) -> None:
    source = tmp_path / "long.en"
    source.write_text("The dog sleeps. " * 200 + "\n\nThe dog sleeps.\n")
    options = ["--sentences", "0", "--out", str(tmp_path / "out")]
    assert run("analyze", str(model), "--src", str(source), *options) == 0
    found = numbers(tmp_path / "out")
    assert (found["sentences"], found["left_out"]) == (1, 1)
    assert [maps["line"] for maps in found["maps"]] == [3]
    words = Page((tmp_path / "out" / "index.html").read_text()).words
    assert "1 longer than the model takes" in words


def test_without_matplotlib_the_user_is_told_what_to_install() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.argv[0] = 'mute'; "
        "from mute.cli import main; main()"
    )
    words = ["analyze", "model", "--src", "text.en", "--out", "out"]
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    told = "mute: figures need matplotlib: pip install -c constraints.txt -e '.[plots]'\n"
    assert done.stderr == told


def test_units_of_the_decoder_are_weighed_and_what_does_not_attend_has_no_map(
    experiment_file: Path, text: dict[str, str], tmp_path: Path
) -> None:
    changes = ["model.unit=convolution", "model.decoder.units=2", "train.steps=3"]
    assert train(experiment_file, tmp_path / "run", *changes, "train.validate_every=3") == 0
    out, options = tmp_path / "out", ["--src", text["en"], "--sentences", "0"]
    assert run("analyze", str(tmp_path / "run"), *options, "--out", str(out)) == 0
    figures = {path.stem for path in out.glob("*.png")}
    encoder = {"encoder-weights", "encoder-orders", "encoder-course", "encoder-permutation"}
    assert figures == {*encoder, "decoder-weights", "decoder-course", "diversity"}
    words = Page((out / "index.html").read_text()).words
    assert "They share their attention weights, or have none." in words
    assert "There is no map: the units of this model do not attend" in words


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"MODEL": "nowhere"}, "mute: nowhere/config.json: cannot be read"),
        ({"--src": "missing.en"}, "mute: missing.en: no such file"),
        ({"--tgt": "short.de"}, "has 20 lines, but short.de has 1;"),
        ({"--src": "empty.en"}, "mute: empty.en: is empty;"),
        ({"--src": "blank.en"}, "mute: blank.en: has no sentence that the model takes"),
        ({"--out": "short.de"}, "mute: short.de: cannot be written to (File exists)"),
        ({"--out": "short.de/in"}, "mute: short.de/in: cannot be written to (Not a directory)"),
        ({"--show": "21"}, "mute: --show 21: the text has lines 1 to 20"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_status_2(
    model: Path,
    text: dict[str, str],
    changes: dict[str, str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.de").write_text("Ja\n")
    Path("empty.en").write_text("")
    Path("blank.en").write_text("\n\n")
    given = {"MODEL": str(model), "--src": text["en"], "--out": "out", **changes}
    folder = given.pop("MODEL")
    options = [word for option in given.items() for word in option]
    assert run("analyze", folder, *options) == 2
    told = capsys.readouterr().err
    assert message in told
    assert len(told.splitlines()) == 1
