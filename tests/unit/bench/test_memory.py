import subprocess
import sys
from pathlib import Path

import pytest
import torch

from mute.bench import memory

CPU = torch.device("cpu")


def test_the_peak_is_still_known_when_memory_was_given_back() -> None:
    code = (
        "import torch; from mute.bench.memory import peak_memory; cpu = torch.device('cpu'); "
        "before = peak_memory(cpu); held = torch.ones(100_000_000, dtype=torch.uint8); del held; "
        "print(peak_memory(cpu) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 80_000_000


def test_there_is_room_for_what_this_process_already_holds() -> None:
    room = memory.memory_room(CPU)
    assert room is not None
    assert room > 50_000_000


def test_a_system_without_proc_is_asked_in_another_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = memory.peak_memory(CPU)
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "status")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    assert memory.peak_memory(CPU) > told / 2
    assert memory.memory_room(CPU) is None
