"""The document with the paper's numbers and ours."""

import re
from pathlib import Path

from mute.studies.definitions import STUDIES
from mute.studies.reproduction import NOT_RUN, fill, main

ROOT = Path(__file__).parents[3]
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


def test_the_document_has_a_place_for_every_study() -> None:
    places = re.findall(r"<!-- results: (\S+)/\S+ -->", DOCUMENT.read_text(encoding="utf-8"))
    assert set(places) == set(STUDIES)


def test_a_document_is_filled_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text("<!-- results: no/where -->\n<!-- end -->\n")
    main(file)
    assert NOT_RUN in file.read_text()
