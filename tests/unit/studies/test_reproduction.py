"""The document with the paper's numbers and ours."""

import re
from pathlib import Path

import pytest

from mute.studies.definitions import STUDIES, find_study
from mute.studies.reproduction import NOT_RUN, fill, main
from mute.studies.summary import summarise
from mute.studies.tables import markdown

ROOT = Path(__file__).parents[3]
TABLES = sorted(ROOT.glob("results/*/*/table.md"))
DOCUMENT = ROOT / "docs" / "reproduction.md"


def test_tables_go_between_their_marks(tmp_path: Path) -> None:
    (tmp_path / "main" / "toy").mkdir(parents=True)
    (tmp_path / "main" / "toy" / "table.md").write_text("| 41.0 |\n\n![c](curves.png)\n")
    text = (
        "a\n<!-- results: main/toy -->\nold\n<!-- end -->\nb\n<!-- results: x/y -->\n<!-- end -->"
    )
    filled = fill(text, tmp_path, "../results")
    assert "old" not in filled
    assert "| 41.0 |\n\n![c](../results/main/toy/curves.png)" in filled
    assert f"<!-- results: x/y -->\n\n{NOT_RUN}\n\n<!-- end -->" in filled
    assert fill(filled, tmp_path, "../results") == filled


def test_the_document_has_what_the_results_say() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert fill(text, ROOT / "results", "../results") == text


@pytest.mark.parametrize("table", TABLES, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_tables_have_what_the_runs_say(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    study, task = find_study(table.parts[-3]), table.parts[-2]
    made = markdown(study, summarise(study, task))
    assert table.read_text(encoding="utf-8").split("\n![")[0].strip() == made.strip()


def test_the_document_has_a_place_for_every_study() -> None:
    places = re.findall(r"<!-- results: (\S+)/\S+ -->", DOCUMENT.read_text(encoding="utf-8"))
    assert set(places) == set(STUDIES)


def test_a_document_is_filled_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("<!-- results: no/where -->\n<!-- end -->\n")
    main(file)
    assert NOT_RUN in file.read_text()
