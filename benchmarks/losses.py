"""What was done for speed must not show: training losses of our first loop and of today's.

    python benchmarks/losses.py

Both train the same systems from the same seed on the same batches, without dropout, whose random
numbers are drawn in another way today. What is left of chance, the noise of the units, is the same.
So the losses have to agree until rounding has grown to something one can see, and the distance says
how far they do. Writes results/bench/losses.json.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from first_loop import COMMIT, first_tree, package_of
from outcome import ROOT, mistakes_told, save

SYSTEMS = ("relative", "seq")
STEPS = 200


def losses(tree: Path, system: str, run: Path) -> dict[int, float]:
    """The mean loss of a word in every step that `mute train` tells of."""
    command = [sys.executable, "-m", "mute", "train", f"configs/multi30k/{system}.yaml"]
    for setting in (
        f"train.run={run}",
        f"train.steps={STEPS}",
        f"train.save_every={STEPS}",
        "train.batch_tokens=2048",
        "model.dropout=0",
        # The configs had other values then.
        "train.learning_rate=5e-3",
        "train.penalty_weight=2.5e-4",
        "train.average_decay=0.998",
    ):
        command += ["--set", setting]
    subprocess.run(command, cwd=tree, env=package_of(tree), check=True)
    records = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return {each["step"]: each["loss"] for each in records if each["kind"] == "train"}


def main() -> None:
    """Train both, and keep their losses side by side."""
    argparse.ArgumentParser(description=__doc__).parse_args()  # --help, and no typing mistakes
    trees = {COMMIT: first_tree(), "now": ROOT}
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for system in SYSTEMS:
            of = {
                name: losses(tree, system, Path(folder, system, name))
                for name, tree in trees.items()
            }
            apart = {step: abs(of["now"][step] / loss - 1) for step, loss in of[COMMIT].items()}
            found[system] = {"losses": of, "apart": apart}
            print(system, found[system], flush=True)
    save("losses", {"batch_tokens": 2048, "dropout": 0.0, **found})


if __name__ == "__main__":
    with mistakes_told():
        main()
