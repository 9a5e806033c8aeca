import errno
import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from mute.config import DataConfig, ParallelText, TokenizerConfig
from mute.data import prepare as prepare_module
from mute.data import shards
from mute.data.prepare import prepare
from mute.data.prepared import load_prepared
from mute.data.report import DevReport, render
from mute.errors import MuteError

from .sentences import sentences

SENTENCEPIECE = TokenizerConfig(size=330)
MOSES = TokenizerConfig(kind="moses-bpe", size=40)


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """36 training pairs in two files, twice four for dev, in the working directory."""
    monkeypatch.chdir(tmp_path)
    for language in ("en", "de"):
        write(f"train.{language}", sentences(language))
        write(f"dev.{language}", sentences(language)[:4])


def write(name: str, lines: list[str]) -> None:
    Path(name).write_bytes("".join(f"{line}\n" for line in lines).encode())


def text(name: str, **options: Any) -> ParallelText:
    return ParallelText(source=f"{name}.en", target=f"{name}.de", **options)


def config(**options: Any) -> DataConfig:
    defaults: dict[str, Any] = {
        "source": "en",
        "target": "de",
        "prepared": "out/prepared",
        "train": [text("train")],
        "dev": text("dev"),
        "tokenizer": SENTENCEPIECE,
    }
    return DataConfig(**{**defaults, **options})


def content(folder: str) -> dict[str, bytes]:
    paths = (path for path in Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


_PLAIN = str.maketrans("„“", '""')


@pytest.mark.parametrize("tokenizer", [SENTENCEPIECE, MOSES], ids=["sentencepiece", "moses-bpe"])
def test_prepared_data_is_the_text(tokenizer: TokenizerConfig) -> None:
    report = prepare(config(tokenizer=tokenizer), processes=1)
    assert report.kept == 36
    data = load_prepared(config(tokenizer=tokenizer))
    english = [data.tokenizer.decode(data.train[i][0].tolist(), "source") for i in range(36)]
    assert english == sentences("en")
    german = data.tokenizer.decode(data.dev[3][1].tolist(), "target")
    assert german == sentences("de")[3].translate(_PLAIN if tokenizer is MOSES else {})
    assert data.dev_source == sentences("en")[:4]
    assert data.dev_references == [sentences("de")[:4]]
    assert data.train.line(35) == ("train.en", 36)
    again = prepare(config(tokenizer=tokenizer), processes=1)
    assert again == report.model_copy(update={"reused": True})


def test_the_development_text_may_have_several_references() -> None:
    write("dev2.de", sentences("de")[4:8])
    both = config(dev=ParallelText(source="dev.en", target=["dev.de", "dev2.de"]))
    prepare(both, processes=1)
    data = load_prepared(both)
    assert data.dev_references == [sentences("de")[:4], sentences("de")[4:8]]
    german = data.tokenizer.decode(data.dev[3][1].tolist(), "target")
    assert german == sentences("de")[3]  # what the loss is of
    assert prepare(both, processes=1).reused
    write("dev2.de", sentences("de")[8:12])
    assert not prepare(both, processes=1).reused
    with pytest.raises(MuteError, match=r"another data\.dev; run 'mute prepare' again"):
        load_prepared(config())


def test_what_is_dropped_is_counted_with_its_lines() -> None:
    english, german = sentences("en"), sentences("de")
    write("train.en", [*english, english[0], "", "A dog", "short", "A dog " * 80])
    write("train.de", [*german, german[0], "leer", "Ein Hund " * 9, "kurz", "Ein Hund " * 80])
    with Path("train.en").open("ab") as file:
        file.write(b"\xff\n" + b"x" * (1 << 20) + b"\n")
    with Path("train.de").open("ab") as file:
        file.write(b"kein UTF-8\nendlos\n")
    report = prepare(config(max_length=100, max_ratio=5.0), processes=1)
    (train,) = report.corpora
    assert (train.read, train.kept) == (43, 37)
    assert {why: (each.count, each.lines) for why, each in train.dropped.items()} == {
        "duplicate": (1, [37]),
        "empty side": (1, [38]),
        "length ratio": (1, [39]),
        "too long": (2, [41, 43]),
        "not UTF-8": (1, [42]),
    }
    data = load_prepared(config(max_length=100, max_ratio=5.0))
    assert data.train.line(36) == ("train.en", 40)
    assert int(np.concatenate(data.train.lengths).max()) <= 100


def test_duplicates_are_looked_for_in_all_corpora_and_kept_on_demand() -> None:
    both = [text("train"), text("train", weight=2.0)]
    report = prepare(config(train=both), processes=1)
    assert [corpus.kept for corpus in report.corpora] == [36, 0]
    assert load_prepared(config(train=both)).train.corpora == [range(36), range(36, 36)]
    report = prepare(config(train=both, drop_duplicates=False), processes=1)
    assert [corpus.kept for corpus in report.corpora] == [36, 36]


def test_the_report_measures_the_vocabulary() -> None:
    report = prepare(config(tokenizer=MOSES), processes=1)
    data = load_prepared(config(tokenizer=MOSES))
    source, target = report.sides
    assert (source.language, source.vocabulary) == ("en", data.tokenizer.source_size)
    assert source.pieces == int(data.train.lengths[0].sum())
    assert source.words == sum(len(line.split()) for line in sentences("en"))
    assert source.pieces_per_word == round(source.pieces / source.words, 4)
    assert (target.unknown, target.unknown_share) == (0, 0)
    saved = json.loads(Path("out/prepared/report.json").read_text())
    assert saved["sides"][0]["pieces_per_word"] == source.pieces_per_word


def test_the_report_is_readable() -> None:
    write("train.en", [*sentences("en"), ""])
    write("train.de", [*sentences("de"), "leer"])
    console = Console(width=100, file=io.StringIO())
    console.print(render(prepare(config(), processes=1)))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "train.de" in shown
    assert "1 empty side" in shown
    assert "pieces per word" in shown


def test_the_report_names_files_as_they_are() -> None:
    write("train[de].en", sentences("en"))
    text = ParallelText(source="train[de].en", target="train.de")
    console = Console(width=100, file=io.StringIO())
    console.print(render(prepare(config(train=[text]), processes=1)))
    assert "train[de].en" in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("drop_duplicates", [True, False])
def test_the_report_tells_how_much_of_dev_is_in_train(drop_duplicates: bool) -> None:
    write("dev.en", [*sentences("en")[:3], "More."])
    write("dev.de", [*sentences("de")[:3], "Mehr."])
    report = prepare(config(drop_duplicates=drop_duplicates), processes=1)
    assert report.dev == DevReport(source="dev.en", target="dev.de", read=4, in_train=3)
    (warning,) = report.warnings
    assert "3 of 4 pairs are also in data.train" in warning
    console = Console(width=100, file=io.StringIO())
    console.print(render(report))
    assert "also in the training text" in console.file.getvalue()  # type: ignore[attr-defined]
    again = prepare(config(drop_duplicates=drop_duplicates), processes=1)
    assert (again.reused, again.dev, again.warnings) == (True, report.dev, [warning])


def test_text_that_is_its_own_translation_is_told() -> None:
    same = ParallelText(source="train.en", target="train.en")
    report = prepare(config(train=[same], dev=same, tokenizer=MOSES), processes=1)
    assert (report.corpora[0].copies, report.dev and report.dev.copies) == (36, 36)
    assert sum("the same sentence as source and target" in each for each in report.warnings) == 2


def test_a_report_from_before_dev_was_reported_can_be_read() -> None:
    prepare(config(), processes=1)
    file = Path("out/prepared/report.json")
    saved = json.loads(file.read_text())
    del saved["dev"], saved["warnings"], saved["corpora"][0]["copies"]
    file.write_text(json.dumps(saved))
    report = prepare(config(), processes=1)
    assert (report.reused, report.dev, report.warnings) == (True, None, [])
    Console(file=io.StringIO()).print(render(report))


@pytest.mark.parametrize("tokenizer", [SENTENCEPIECE, MOSES], ids=["sentencepiece", "moses-bpe"])
def test_the_number_of_processes_makes_no_difference(
    tokenizer: TokenizerConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare_module, "_CHUNK_LINES", 7)
    write("train.en", [*sentences("en"), "\n".join(["x " * 300] * 30)])
    write("train.de", [*sentences("de"), "\n".join(["y " * 300] * 30)])
    prepare(config(prepared="one", tokenizer=tokenizer), processes=1)
    prepare(config(prepared="again", tokenizer=tokenizer), processes=1)
    prepare(config(prepared="two", tokenizer=tokenizer), processes=2)
    assert content("one") == content("again") == content("two")


def test_an_unchanged_corpus_is_not_prepared_again() -> None:
    first = prepare(config(), processes=1)
    before = content("out/prepared")
    second = prepare(config(), processes=1)
    assert (first.reused, second.reused) == (False, True)
    assert first.corpora == second.corpora
    assert content("out/prepared") == before


@pytest.mark.parametrize(
    "options",
    [
        {"sampling": 0.1},
        {"train": [text("train", weight=3.0)]},
        {"test": {"news": text("news")}},
    ],
    ids=lambda options: next(iter(options)),
)
def test_what_only_training_reads_does_not_matter(options: dict[str, Any]) -> None:
    prepare(config(), processes=1)
    assert prepare(config(**options), processes=1).reused
    load_prepared(config(**options))


def test_nor_does_how_it_is_scored() -> None:
    by_moses = {"tokenizer": TokenizerConfig(kind="moses-bpe", size=50)}
    prepare(config(**by_moses), processes=1)
    assert prepare(config(**by_moses, scored_as="tokens"), processes=1).reused


def append_a_pair() -> None:
    write("train.en", [*sentences("en"), "More."])
    write("train.de", [*sentences("de"), "Mehr."])


def change_a_letter() -> None:
    """Same size; only the time and the content tell."""
    path = Path("dev.de")
    path.write_bytes(path.read_bytes().replace(b"Haus", b"Maus"))


@pytest.mark.parametrize("change", [append_a_pair, change_a_letter])
def test_a_changed_file_is_prepared_again(change: Callable[[], None]) -> None:
    prepare(config(), processes=1)
    before = content("out/prepared")
    change()
    assert not prepare(config(), processes=1).reused
    assert content("out/prepared") != before
    assert prepare(config(), processes=1).reused


def test_a_touched_file_is_not() -> None:
    prepare(config(), processes=1)
    os.utime("train.en", ns=(1, 1))
    assert prepare(config(), processes=1).reused


def test_a_changed_setting_is_prepared_again_and_told_when_it_was_not() -> None:
    prepare(config(), processes=1)
    with pytest.raises(MuteError, match=r"another data\.max_length; run 'mute prepare' again"):
        load_prepared(config(max_length=20))
    assert not prepare(config(max_length=20), processes=1).reused
    load_prepared(config(max_length=20))


def test_what_is_replaced_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    prepare(config(), processes=1)
    prepare(config(), processes=1)
    assert capsys.readouterr().err == ""
    prepare(config(max_length=200, drop_duplicates=False), processes=1)
    assert capsys.readouterr().err == (
        "out/prepared: will replace what was prepared with another data.max_length and "
        "data.drop_duplicates; runs begun with that cannot go on then\n"
    )
    append_a_pair()
    prepare(config(max_length=200, drop_duplicates=False), processes=1)
    assert "will replace what was prepared from other text; runs" in capsys.readouterr().err


def test_data_that_was_never_prepared_is_told() -> None:
    with pytest.raises(MuteError, match="no prepared data; run 'mute prepare' with this config"):
        load_prepared(config())


def test_a_folder_of_something_else_is_left_alone() -> None:
    Path("out/prepared").mkdir(parents=True)
    Path("out/prepared/thesis.tex").write_text("precious")
    with pytest.raises(MuteError, match="will not delete; choose another folder"):
        prepare(config(), processes=1)
    assert Path("out/prepared/thesis.tex").read_text() == "precious"


def test_a_failure_leaves_the_earlier_folder_and_nothing_else() -> None:
    prepare(config(), processes=1)
    before = content("out/prepared")
    write("dev.en", [*sentences("en")[:4], "one more"])
    with pytest.raises(MuteError, match=r"dev\.en has 5 lines, but dev\.de has 4"):
        prepare(config(), processes=1)
    assert content("out/prepared") == before
    assert [path.name for path in Path("out").iterdir() if path.is_dir()] == ["prepared"]


def test_a_full_disk_is_told_and_leaves_the_earlier_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(config(), processes=1)
    before = content("out/prepared")

    def write_to_a_full_disk(path: Path, values: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    append_a_pair()
    with monkeypatch.context() as patch:
        patch.setattr(shards, "_write", write_to_a_full_disk)
        with pytest.raises(MuteError, match=r"out/prepared: .*No space left on device.*free some"):
            prepare(config(), processes=1)
    assert content("out/prepared") == before


def test_what_killed_runs_left_behind_is_put_in_order() -> None:
    prepare(config(), processes=1)
    Path("out/prepared").rename("out/.prepared.old")  # killed between the two renames
    Path("out/.prepared.partial/train").mkdir(parents=True)  # killed while writing
    assert prepare(config(), processes=1).reused
    assert sorted(path.name for path in Path("out").iterdir()) == [".prepared.lock", "prepared"]


def test_a_killed_run_leaves_nothing_that_looks_whole() -> None:
    write("train.en", sentences("en") * 3000)
    write("train.de", sentences("de") * 3000)
    data = config(drop_duplicates=False)
    code = (
        "import sys; from mute.config import DataConfig; from mute.data.prepare import prepare\n"
        "if __name__ == '__main__': prepare(DataConfig.model_validate_json(sys.argv[1]), 2)"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code, data.model_dump_json()],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        deadline = time.monotonic() + 120  # on a machine that has other things to do
        while not Path("out/.prepared.partial/train").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert Path("out/.prepared.partial/train").exists(), "it has not begun"
        assert run.poll() is None, "it ended before it could be killed"
    finally:
        run.kill()
        run.wait()
    assert not Path("out/prepared").exists()
    with pytest.raises(MuteError, match="no prepared data"):
        load_prepared(data)
    assert prepare(data, processes=1).kept == 108_000


@pytest.mark.parametrize(
    ("english", "message"),
    [
        (b"\n" * 36, r"train\.en, train\.de: not one usable pair in 36 lines: 36 empty side"),
        (b"V\xf6gel\n" * 36, r"train\.en:1: not UTF-8, like 36 of 36 lines in all; .*iconv"),
        (b"A dog.\n" * 35, r"train\.en has 35 lines, but train\.de has 36"),
    ],
)
def test_unusable_text_is_told(english: bytes, message: str) -> None:
    Path("train.en").write_bytes(english)
    with pytest.raises(MuteError, match=message):
        prepare(config(), processes=1)
    assert not Path("out/prepared").exists()


@pytest.mark.parametrize(
    ("tsv", "message"),
    [
        (b"A dog.  Ein Hund.\n" * 3 + b"\tEin Hund.\n", "in 4 lines: 3 no tab, 1 empty side"),
        (b"", "in 0 lines: no text"),
    ],
)
def test_an_unusable_tsv_is_told_with_the_reasons(tsv: bytes, message: str) -> None:
    Path("train.tsv").write_bytes(tsv)
    with pytest.raises(MuteError, match=f"train.tsv: not one usable pair {message}"):
        prepare(config(train=[ParallelText(tsv="train.tsv")]), processes=1)


def test_an_empty_dev_text_is_told() -> None:
    Path("dev.en").write_bytes(b"")
    Path("dev.de").write_bytes(b"")
    with pytest.raises(MuteError, match=r"dev\.en: empty, but text that is scored"):
        prepare(config(), processes=1)


def test_a_file_in_place_of_the_folder_stays() -> None:
    Path("mine").write_text("precious")
    with pytest.raises(MuteError, match=r"mine: a file; choose another data\.prepared"):
        prepare(config(prepared="mine"), processes=1)
    assert Path("mine").read_text() == "precious"


def test_a_link_to_a_folder_stays_one() -> None:
    Path("large-disk").mkdir()
    Path("link").symlink_to("large-disk")
    for max_length in (256, 255):
        prepare(config(prepared="link", max_length=max_length), processes=1)
    assert Path("link").is_symlink()
    assert Path("large-disk/manifest.json").is_file()


def test_limits_that_leave_nothing_are_told() -> None:
    with pytest.raises(MuteError, match="no training pair is left of 36: 36 too long"):
        prepare(config(max_length=1), processes=1)


def test_a_missing_file_is_told_before_anything_is_done() -> None:
    with pytest.raises(MuteError, match=r"absent\.en: there is no"):
        prepare(config(dev=text("absent")), processes=1)


@pytest.mark.parametrize("name", ["dev.source", "dev.target", "train/index.json"])
def test_a_damaged_folder_is_told(name: str) -> None:
    prepare(config(), processes=1)
    Path("out/prepared", name).unlink()
    with pytest.raises(MuteError, match=rf"{name}.*prepare"):
        load_prepared(config())


@pytest.mark.parametrize("name", ["dev.source", "train/index.json", "train/0000.source.npy"])
def test_and_is_not_taken_for_whole_when_it_is_prepared_again(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(config(), processes=1)
    before = load_prepared(config()).digest
    Path("out/prepared", name).unlink()
    assert not prepare(config(), processes=1).reused
    assert "out/prepared: something is missing or damaged, so all" in capsys.readouterr().err
    assert load_prepared(config()).digest == before, "runs that began with it can go on"


def test_a_text_that_is_mostly_left_out_is_doubted() -> None:
    write("train.en", [*sentences("en")[:10], *["a dog " * 20] * 12])
    write("train.de", [*sentences("de")[:10], *[f"ein Hund {n} " * 20 for n in range(12)]])
    report = prepare(config(max_length=30), processes=1)
    (doubt,) = (each for each in report.warnings if "left out" in each)
    assert re.match(r".*train\.de: 12 of 22 pairs are left out, 12 of them for", doubt)
    assert "'too long'; if that is not meant, raise data.max_length" in doubt
    write("train.de", [*sentences("de")[:10], *["ein Hund"] * 12])
    write("train.en", [*sentences("en")[:10], *["a dog"] * 12])
    again = prepare(config(max_length=30), processes=1).warnings
    assert not any("left out" in each for each in again), "duplicates are no loss"


def test_a_lost_report_is_told_where_it_is_wanted_and_keeps_nobody_from_training() -> None:
    prepare(config(), processes=1)
    Path("out/prepared/report.json").unlink()
    assert len(load_prepared(config()).train) == 36
    for _ in range(2):
        with pytest.raises(MuteError, match=r"report\.json: missing or damaged; delete the folder"):
            prepare(config(), processes=1)
        Path("out/prepared/report.json").write_bytes(b"\xff")


def test_development_text_that_is_no_text_any_more_is_told() -> None:
    prepare(config(), processes=1)
    Path("out/prepared/dev.source").write_bytes(b"a\xff\n")
    with pytest.raises(MuteError, match=r"dev\.source: damaged, not UTF-8 at byte 1; delete"):
        load_prepared(config())


@pytest.mark.parametrize("name", ["dev.source", "dev.target"])
@pytest.mark.parametrize("lost", [1, 20])
def test_development_text_that_is_cut_short_is_told(name: str, lost: int) -> None:
    prepare(config(), processes=1)
    path = Path("out/prepared", name)
    path.write_bytes(path.read_bytes()[:-lost])
    with pytest.raises(
        MuteError, match=rf"{name}: damaged, has \d+ whole lines instead of \d+; del"
    ):
        load_prepared(config())


@pytest.mark.parametrize("folder", [".", "out/.."])
def test_a_folder_without_a_name_of_its_own_is_refused_and_left_alone(folder: str) -> None:
    before = sorted(Path().iterdir())
    with pytest.raises(MuteError, match=r"data\.prepared should be a folder of its own"):
        prepare(config(prepared=folder), processes=1)
    assert sorted(Path().iterdir()) == before


def test_the_digest_tells_other_text_and_another_tokenizer() -> None:
    def digest() -> str:
        prepare(config(), processes=1)
        return load_prepared(config()).digest

    first = digest()
    assert digest() == first
    settings = next(Path(config().prepared, "tokenizer").glob("*.json"))
    settings.write_text(settings.read_text() + " ")
    assert digest() != first
    write("train.en", sentences("en")[::-1])
    changed = digest()
    write("train.en", sentences("en"))
    assert changed != digest() == first


def test_what_someone_else_put_into_the_folder_is_not_deleted() -> None:
    prepare(config(), processes=1)
    for name in ("checkpoints", "dev.target.corrected"):
        Path("out/prepared", name).mkdir()
        with pytest.raises(MuteError, match=f"holds {name}, which 'mute prepare' did not write"):
            prepare(config(max_ratio=8.0), processes=1)
        Path("out/prepared", name).rmdir()  # it is still there


def test_what_someone_else_put_into_the_folder_is_no_obstacle_to_using_it() -> None:
    prepare(config(), processes=1)
    before = load_prepared(config()).digest
    Path("out/prepared/.DS_Store").touch()
    Path("out/prepared/tokenizer/.DS_Store").write_text("x")
    Path("out/prepared/tokenizer/notes").mkdir()
    assert prepare(config(), processes=1).reused
    assert load_prepared(config()).digest == before


@pytest.mark.parametrize("damaged", [b"", b"\xff"])
def test_a_damaged_manifest_is_told(damaged: bytes) -> None:
    prepare(config(), processes=1)
    Path("out/prepared/manifest.json").write_bytes(damaged)
    with pytest.raises(MuteError, match=r"manifest\.json: damaged, or of another version of mute"):
        prepare(config(), processes=1)
