"""A text of a million lines through `mute translate`: how fast, and in how much memory.

    make demo
    python benchmarks/stream.py --model runs/demo/run [--lines 1000000] [--processes 2]

writes that many sentences of the embedded corpus, runs `mute translate --beam 1 --compute int8` on
them under torchrun, one thread in each process, and looks at them from outside: resident memory of
the largest whenever another tenth of the lines is done. Writes results/bench/stream.json.
"""

import argparse
import itertools
import math
import os
import subprocess
import sys
import time
from pathlib import Path

from outcome import ROOT, mistakes_told, save

from mute.cli.translating import LINES_AT_ONCE
from mute.cores import core_count
from mute.data.toy import pairs

DIFFERENT = 20_000


def write_lines(path: Path, count: int) -> None:
    """Sentences of the embedded corpus, over and over where it has no more."""
    sentences = [english for english, _ in pairs(min(count, DIFFERENT), seed=7, split="test")]
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in itertools.islice(itertools.cycle(sentences), count))


def resident_mb(process: int) -> float:
    """What the largest of a process and its children holds now."""
    status = Path(f"/proc/{process}/status").read_text().splitlines()
    own = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return max([own, *(resident_mb(int(child)) for child in children)])


def watch(process: subprocess.Popen[bytes], parts: Path, blocks: int) -> list[dict[str, float]]:
    """Memory and time at each tenth of the blocks, until the process ends."""
    seen: list[dict[str, float]] = []
    start, before, last = time.monotonic(), None, 0
    while process.poll() is None:
        done = sum(1 for _ in parts.glob("part-*")) if parts.exists() else 0
        before = done if before is None else before
        tenths = done * 10 // blocks
        if tenths > last and done < blocks:
            last = tenths
            record = {"lines": done * LINES_AT_ONCE, "seconds": time.monotonic() - start}
            seen.append({**record, "resident_mb": resident_mb(process.pid)})
            print(seen[-1], flush=True)
        time.sleep(0.5)
    if process.returncode:
        raise SystemExit(f"mute translate ended with status {process.returncode}")
    if before:
        raise SystemExit("done, but begun by an earlier run: its speed was not measured")
    return seen


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=core_count())
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=ROOT / "runs" / "stream")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    source, output = options.folder / "lines.en", options.folder / "lines.de"
    write_lines(source, options.lines)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(options.processes), "-m", "mute", "translate"]
    command += [str(options.model), "-i", str(source)]
    command += ["-o", str(output), "--beam", "1", "--compute", "int8"]
    start = time.monotonic()
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    blocks = math.ceil(options.lines / LINES_AT_ONCE)
    course = watch(process, output.with_name(f"{output.name}.parts"), blocks)
    seconds = time.monotonic() - start
    with output.open("rb") as file:
        lines = sum(1 for _ in file)
    assert lines == options.lines, "as many lines come out as go in"
    result = {"model": options.model.name, "processes": options.processes, "lines": lines}
    save(
        "stream",
        {**result, "seconds": seconds, "lines_per_second": lines / seconds, "course": course},
    )


if __name__ == "__main__":
    with mistakes_told():
        main()
