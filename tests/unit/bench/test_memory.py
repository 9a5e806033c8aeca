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


def test_there_is_room_for_what_this_process_already_holds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not Path("/proc/self/status").is_file():
        pytest.skip("this system does not tell")
    (tmp_path / "meminfo").write_text("MemAvailable:\t0 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    held = torch.ones(100_000_000, dtype=torch.uint8)
    assert (memory.memory_room(CPU) or 0) >= held.nbytes


@pytest.mark.parametrize(
    ("line", "folder", "names"),
    [
        ("0::/job/step", "job", ("memory.max", "memory.current", "inactive_file")),
        (
            "4:memory:/elsewhere/container",
            "memory",
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ),
    ],
    ids=["version 2", "version 1, in a container"],
)
def test_a_container_has_less_room_than_its_machine(
    line: str,
    folder: str,
    names: tuple[str, str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    limit, used, cached = names
    (tmp_path / "own").write_text(f"{line}\n")
    group = tmp_path / "groups" / folder
    group.mkdir(parents=True)
    (group / limit).write_text("9000000\n")
    (group / used).write_text("8000000\n")
    (group / "memory.stat").write_text(f"{cached} 3000000\n")
    (tmp_path / "meminfo").write_text("MemAvailable:\t60000 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(memory, "_GROUPS", tmp_path / "groups")
    status = tmp_path / "status"
    status.write_text("VmRSS:\t1000 kB\n")
    monkeypatch.setattr(memory, "_STATUS", status)
    assert memory.memory_room(CPU) == 1000 * 1024 + 4_000_000
    (group / limit).write_text("max\n" if limit == "memory.max" else f"{2**63 - 4096}\n")
    assert (memory.memory_room(CPU) or 0) > 50_000_000


def test_a_system_without_proc_is_asked_in_another_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = memory.peak_memory(CPU)
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "status")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    assert memory.peak_memory(CPU) > told / 2
    assert memory.memory_room(CPU) is None
