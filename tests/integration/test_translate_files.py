"""`mute translate` from file to file: its options, its mistakes, many processes, killed and not."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from mute.cli import translating
from mute.configfile import load_config
from mute.data.lines import read_text
from mute.data.prepared import load_prepared
from mute.data.toy import pairs
from mute.model.folder import save_model
from mute.model.transformer import build
from mute.translate.command import Files
from mute.translate.stream import pack
from tests.integration.command import run
from tests.integration.test_train import MUTE, TORCHRUN, background, start, wait_until
from tests.machines import needs_int8

__all__ = ["background"]

LONGEST = 100
# A model that has learned nothing finds no end, and says so of every line that has no other.
SHORT = ["--max-length", "20"]
LINES = [english for english, _ in pairs(9, split="test")] + ["", "Yes"]


@pytest.fixture(scope="module")
def model(experiment_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not trained: it says the same nonsense every time, which is all that matters here."""
    config = load_config(experiment_file)
    assert config.data is not None
    tokenizer = load_prepared(config.data).tokenizer
    torch.manual_seed(3)
    network = build(config.model, (tokenizer.source_size, tokenizer.target_size))
    weights = {name: value.detach() for name, value in network.named_parameters()}
    folder = tmp_path_factory.mktemp("model")
    save_model(folder, config.model, weights, tokenizer, LONGEST)
    return folder


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file, and blocks so small that it has several."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(translating, "LINES_AT_ONCE", 2)
    Path("text.en").write_text("".join(f"{line}\n" for line in LINES))
    return "text.en"


def translated(model: Path, *options: str) -> list[str]:
    """By the command, from text.en to a file and that read."""
    assert run("translate", str(model), "-i", "text.en", "-o", "out", *options) == 0
    lines = Path("out").read_text().split("\n")
    assert lines.pop() == ""
    Path("out").unlink()
    return lines


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run("translate", *arguments) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_a_file_becomes_a_file_of_as_many_lines(suffix: str, model: Path, text: str) -> None:
    expected = translated(model)
    assert len(expected) == len(LINES)
    assert expected[LINES.index("")] == ""
    Path(f"in{suffix}").write_bytes(pack(Path(text).read_text(), suffix))
    assert run("translate", str(model), "-i", f"in{suffix}", "-o", f"out{suffix}") == 0
    assert list(read_text(Path(f"out{suffix}"))) == expected


def test_an_output_through_a_link_is_written_where_it_leads(model: Path, text: str) -> None:
    expected = translated(model)
    Path("there").mkdir()
    Path("link").symlink_to("there/out")
    for _ in ("there is none yet", "there is one"):
        assert run("translate", str(model), "-i", text, "-o", "link") == 0
        assert Path("link").is_symlink()
        assert Path("there/out").read_text().split("\n")[:-1] == expected
        Path("there/out").write_text("old\n")
    with Path(text).open("rb") as lines:  # without a name, so without parts
        subprocess.run([*MUTE, "translate", str(model), "-o", "link"], stdin=lines, check=True)
    assert Path("link").is_symlink()
    assert Path("there/out").read_text().split("\n")[:-1] == expected


# Not by the command: if it failed, and as root, the machine would lose the file.
@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_its_name_is_not_replaced(name: str) -> None:
    assert Files(None, None, Path(name)).followed().output is None
    assert Files(Path("-"), None, Path(name)).followed() == Files(None, None, None)


def test_who_types_a_line_gets_its_translation_before_the_next(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = io.TextIOWrapper(io.BytesIO())

    class Typist(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            typed = super().readline(size)
            seen = printed.buffer.getvalue()
            assert seen.count(b"\n") == self.getvalue()[: self.tell() - len(typed)].count(b"\n")
            return typed

    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(Typist(b"one\ntwo\nthree\n")))
    monkeypatch.setattr(sys, "stdout", printed)
    assert run("translate", str(model)) == 0


def test_alternatives_are_numbered_by_their_lines(model: Path, text: str) -> None:
    best = translated(model)
    lines = [line.split(" ||| ") for line in translated(model, "--nbest", "3")]
    assert [int(number) for number, _, _ in lines] == sorted(
        [number for number, line in enumerate(LINES, 1) for _ in range(3 if line else 1)]
    )
    for number, line in enumerate(best, 1):
        of_line = [(shown, float(score)) for n, shown, score in lines if int(n) == number]
        assert of_line[0][0] == line
        assert of_line == sorted(of_line, key=lambda each: -each[1])


def test_json_has_all_that_is_known_of_a_line(model: Path, text: str) -> None:
    best = translated(model)
    found = [json.loads(line) for line in translated(model, "--json", "--nbest", "2")]
    assert [each["text"] for each in found] == best
    assert found[0].keys() == {"text", "score", "tokens", "alternatives", "warnings"}
    assert found[0]["alternatives"][0].keys() == {"text", "score", "tokens"}
    (shown, *_) = [json.loads(line) for line in translated(model, "--json", "--attention")]
    weights = shown["attention"]
    assert len(weights) == len(shown["tokens"]) + 1
    assert all(len(row) == len(shown["source_tokens"]) for row in weights)
    assert all(sum(row) == pytest.approx(1, abs=0.01) for row in weights)
    assert all(each == round(each, 4) for row in weights for each in row)


def test_forced_translations_get_the_score_of_the_search(model: Path, text: str) -> None:
    found = [json.loads(line) for line in translated(model, "--json", "--beam", "1")]
    Path("forced").write_text("".join(f"{each['text']}\n" for each in found))
    scores = [float(line) for line in translated(model, "--forced", "forced")]
    again = [json.loads(line) for line in translated(model, "--forced", "forced", "--json")]
    assert [each["text"] for each in again] == [each["text"] for each in found]
    assert scores == pytest.approx([each["score"] for each in again], abs=1e-4)
    same = [
        (ours["score"], theirs["score"])
        for ours, theirs in zip(found, again, strict=True)
        # One text may be cut into pieces in several ways; an empty line is not translated at all.
        if ours["tokens"] and ours["tokens"] == theirs["tokens"]
    ]
    assert same
    for ours, theirs in same:
        assert ours == pytest.approx(theirs, abs=1e-4)


def test_translations_begin_as_they_have_to(model: Path, text: str) -> None:
    wanted = ["Der Hund", *[""] * (len(LINES) - 1)]
    Path("prefix").write_text("".join(f"{each}\n" for each in wanted))
    free, bound = translated(model), translated(model, "--prefix", "prefix")
    assert bound[0].startswith("Der Hund")
    assert bound[1:] == free[1:]


@needs_int8
def test_numbers_of_8_bits_are_others(model: Path, text: str) -> None:
    exact, rounded = (
        [json.loads(line)["score"] for line in translated(model, "--json", "--compute", each)]
        for each in ("float32", "int8")
    )
    assert exact != rounded


def test_the_options_reach_the_translator(model: Path, text: str) -> None:
    def found(*options: str) -> list[dict[str, Any]]:
        lines = map(json.loads, translated(model, "--json", *options))
        return [line for line in lines if line["tokens"]]

    def tokens(*options: str) -> list[list[str]]:
        return [line["tokens"] for line in found(*options)]

    def scores(*options: str) -> list[float]:
        return [line["score"] for line in found(*options)]

    plain = tokens()
    assert all(len(each) <= 2 for each in tokens("--max-length", "2"))
    assert all(len(each) >= 15 for each in tokens("--min-length", "15"))
    assert all(len(each) == len(set(each)) for each in tokens("--no-repeat", "1"))
    assert tokens("--units", "0") != plain
    assert tokens("--units", "0,1,2") == plain
    assert tokens("--units", "0:0", "--units", "1:0") == tokens("--units", "0")
    assert scores("--length-penalty", "0") != scores()
    sampled = tokens("--sample", "--seed", "1")
    assert sampled == tokens("--sample", "--seed", "1")
    assert sampled != tokens("--sample", "--seed", "2")
    greedy = tokens("--beam", "1")
    assert tokens("--sample", "--top-k", "1") == tokens("--sample", "--top-p", "0.001") == greedy
    assert tokens("--sample", "--temperature", "100") != tokens("--sample")


def test_a_model_and_itself_are_an_ensemble(model: Path, text: str) -> None:
    assert run("translate", str(model), str(model), "-i", text, "-o", "out") == 0
    assert Path("out").read_text().split("\n")[:-1] == translated(model)


def test_a_long_line_is_told_or_refused(
    model: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [*LINES, "The dog sleeps and the cat sings. " * 20]
    Path(text).write_text("".join(f"{line}\n" for line in lines))
    assert len(translated(model)) == len(lines)
    place = f"mute: text.en:{len(lines)}: "
    warnings = capsys.readouterr().err.splitlines()
    (warning,) = (
        line for line in warnings if "cut off" not in line
    )  # the model has learned nothing
    assert warning.startswith(place)
    *_, last = [json.loads(line) for line in translated(model, "--json")]
    assert f"{place}{last['warnings'][0]}" == warning
    assert capsys.readouterr().err == ""
    told = complaint(capsys, str(model), "-i", text, "-o", "out", "--strict", *SHORT)
    assert told.startswith(place)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--temperature", "0.5"], "--temperature: only means something with --sample"),
        (["--top-k", "5"], "--top-k: only means something with --sample"),
        (["--seed", "1"], "--seed: only means something with --sample"),
        (["--attention"], "--attention: only means something with --json"),
        (["--sample", "--beam", "4"], "--beam: means nothing with --sample"),
        (["--forced", "text.en", "--prefix", "text.en"], "--prefix: means nothing with --forced"),
        (["--forced", "text.en", "--nbest", "2"], "--nbest: means nothing with --forced"),
        (["--min-length", "5", "--max-length", "4"], "--min-length 5: is more than --max-length 4"),
        (["--units", "zero"], "--units zero: should be units with commas between them"),
        (["--units", "0", "--units", "1:2"], "--units 1:2: give it once for all layers, or once"),
        (["--units", "1:0", "--units", "1:2"], "--units 1:2: give it once for all layers, or"),
        (["--top-p", "1.5", "--sample"], "--top-p"),
        (["--compute", "int4"], "--compute"),
        (["-i", "nothing"], "nothing: no such file"),
        (["-i", "text.sgm"], "text.sgm: SGML; write its sentences to a file of their own"),
        (["-i", "."], ".: is a folder"),
        (["-o", "."], ".: is a folder"),
        (["-o", "no/out"], "no/out: there is no folder no; make it"),
        (["-o", "text.en"], "text.en: would be read and overwritten; choose another -o"),
        (["--prefix", "short"], f"text.en has {len(LINES)} lines, but short has 1;"),
        (["-i", "bad.gz"], "bad.gz: not packed, in spite of its name"),
    ],
)
def test_mistakes_are_told(
    options: list[str],
    message: str,
    model: Path,
    text: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("short").write_text("one\n")
    Path("text.sgm").write_text("<seg>one</seg>\n")
    Path("bad.gz").write_text("plain\n")
    before = {path.name for path in Path().iterdir()}
    told = complaint(capsys, str(model), "-i", text, "-o", "out", *options)
    assert message in told
    assert {path.name for path in Path().iterdir()} == before


def test_many_processes_need_files(
    model: Path, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    os.mkfifo("pipe")
    for options in ([], ["-i", text], ["-o", "out"], ["-i", "pipe", "-o", "out"]):
        told = complaint(capsys, str(model), *options)
        assert "under torchrun every process reads the text by itself" in told


def test_what_was_begun_with_another_model_or_other_options_is_refused(
    model: Path, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad").write_text("x\n" * 4 + "y " * 999 + "\n")
    begun = [str(model), "-i", "bad", "-o", "out"]
    complaint(capsys, *begun, "--strict")
    assert len(list(Path("out.parts").glob("part-*"))) == 2
    assert "beam was 4, is 2" in complaint(capsys, *begun, "--strict", "--beam", "2")
    other = tmp_path / "other"
    subprocess.run(["cp", "-r", model, other], check=True)
    weights = bytearray((other / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (other / "model.safetensors").write_bytes(weights)
    told = complaint(capsys, str(other), *begun[1:], "--strict")
    assert "models was ['" in told
    assert "beam" not in told


# The command in a process of its own, with small blocks; it may be told to die in the third.
WORKER = """
import os, signal, sys
from mute.cli import main, translating
from mute.translate import command

translating.LINES_AT_ONCE = 2
whole = command.worker

def worker(*arguments):
    work = whole(*arguments)
    def deadly(first, rows):
        if str(first) == os.environ.get("DEADLY"):
            os.kill(os.getpid(), signal.SIGKILL)
        return work(first, rows)
    return deadly

command.worker = worker
main()
"""


@pytest.fixture
def worker(tmp_path: Path) -> str:
    path = tmp_path / "worker.py"
    path.write_text(WORKER)
    return str(path)


def test_two_processes_write_what_one_does_killed_or_not(
    model: Path,
    text: str,
    worker: str,
    monkeypatch: pytest.MonkeyPatch,
    background: list[subprocess.Popen[str]],
) -> None:
    sampled = ["--sample", "--json", "--nbest", "2"]
    expected = translated(model, *sampled)
    command = [*TORCHRUN, worker, "translate", str(model), "-i", text, "-o", "out", *sampled]
    with monkeypatch.context() as patch:
        patch.setenv("DEADLY", "7")
        process = start(background, command)
        process.communicate(timeout=300)
        assert process.returncode != 0
    assert not Path("out").exists()
    assert Path("out.parts/part-00000001").exists()
    process = start(background, command)
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert Path("out").read_text().split("\n")[:-1] == expected
    assert not Path("out.parts").exists()
    assert printed == ""


def test_a_signal_in_the_middle_loses_no_finished_block(
    model: Path, text: str, background: list[subprocess.Popen[str]]
) -> None:
    Path(text).write_text("The dog sleeps.\n" * 100_000)
    process = start(background, [*MUTE, "translate", str(model), "-i", text, "-o", "out", *SHORT])
    wait_until(lambda: list(Path("out.parts").glob("part-*")))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert not Path("out").exists()
    assert Path("out.parts/part-00000000").read_text().count("\n") == 2000


def test_what_comes_from_a_pipe_leaves_nothing_behind_when_it_is_stopped(
    model: Path, text: str, background: list[subprocess.Popen[str]]
) -> None:
    Path(text).write_text("The dog sleeps.\n" * 100_000)
    command = f"{shlex.join([*MUTE, 'translate', str(model), '-o', 'out', *SHORT])} < {text}"
    process = start(background, ["sh", "-c", f"exec {command}"])
    wait_until(lambda: [each for each in Path.cwd().glob(".out.*") if each.stat().st_size])
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert {each.name for each in Path.cwd().iterdir()} == {text}


def test_a_reader_that_has_enough_is_no_reason_to_complain(
    model: Path, text: str, worker: str, background: list[subprocess.Popen[str]]
) -> None:
    Path(text).write_text("The dog sleeps.\n" * 1000)
    command = [sys.executable, worker, "translate", str(model), "-i", text, *SHORT]
    process = start(background, command)
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.wait(timeout=60)


@pytest.mark.skipif(sys.platform != "linux", reason="has no /dev/full")
def test_a_full_disk_behind_standard_output_is_told(model: Path, text: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*MUTE, "translate", str(model), "-i", text, *SHORT],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr == (
        "mute: standard output: cannot be written (No space left on device); mend that and start "
        "over\n"
    )
    assert done.returncode == 2
