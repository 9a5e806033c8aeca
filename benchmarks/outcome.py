"""Where a benchmark leaves what it measured."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

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
