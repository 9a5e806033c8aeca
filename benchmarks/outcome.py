"""How a benchmark ends: what it measured is left in a file, or what is amiss is told."""

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mute.errors import MuteError
from mute.runtime import source_commit

ROOT = Path(__file__).parents[1]


def save(name: str, measured: dict[str, Any], folder: str = "bench") -> None:
    """Write results/FOLDER/NAME.json, with the command and the commit it was measured at."""
    script = Path(sys.argv[0]).resolve().relative_to(ROOT)
    command = shlex.join(["python", str(script), *sys.argv[1:]])
    path = ROOT / "results" / folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"command": command, "commit": source_commit(), **measured}
    path.write_text(json.dumps(content, indent=1) + "\n")


@contextmanager
def mistakes_told() -> Iterator[None]:
    """End with a sentence about what is not prepared, not trained or not there."""
    try:
        yield
    except MuteError as error:
        raise SystemExit(str(error)) from None
