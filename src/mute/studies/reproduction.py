"""The results' tables inside a document.

    python -m mute.studies.reproduction docs/reproduction.md

puts `results/main/multi30k/table.md` between the lines `<!-- results: main/multi30k -->` and
`<!-- end -->`, and likewise for every other such pair of lines.
"""

import re
import sys
from pathlib import Path

from mute.studies.results import RESULTS
from mute.studies.tables import MARKDOWN

NOT_RUN = "*Not run yet.*"
_PLACE = re.compile(r"(<!-- results: (\S+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
_IMAGE = re.compile(r"\]\(([\w-]+\.png)\)")


def fill(text: str, results: Path, to_results: str) -> str:
    """A document's text with every table as the results have it now.

    Args:
        text: of the document
        results: the folder of all results
        to_results: the same folder, as a link from the document has it
    """

    def table(place: re.Match[str]) -> str:
        file = results / place[2] / MARKDOWN
        content = file.read_text(encoding="utf-8").strip() if file.is_file() else NOT_RUN
        content = _IMAGE.sub(rf"]({to_results}/{place[2]}/\1)", content)
        return f"{place[1]}\n{content}\n\n{place[3]}"

    return _PLACE.sub(table, text)


def main(file: Path) -> None:
    """Fill a document in its place."""
    text = file.read_text(encoding="utf-8")
    file.write_text(fill(text, RESULTS, f"../{RESULTS}"), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
