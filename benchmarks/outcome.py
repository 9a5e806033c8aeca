"""Where a benchmark leaves what it measured."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def save(name: str, measured: dict[str, Any], folder: str = "bench") -> None:
    """Write results/FOLDER/NAME.json, with the command and the commit it was measured at."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    script = Path(sys.argv[0]).resolve().relative_to(ROOT)
    command = shlex.join(["python", str(script), *sys.argv[1:]])
    path = ROOT / "results" / folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"command": command, "commit": commit, **measured}
    path.write_text(json.dumps(content, indent=1) + "\n")
