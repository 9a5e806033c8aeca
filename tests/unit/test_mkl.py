import os
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
import torch

from mute import mkl

MULTIPLY = "import mute, torch; torch.mm(torch.ones(64, 64), torch.ones(64, 64))"


@pytest.mark.skipif(
    sys.platform != "linux"
    or not torch.backends.mkl.is_available()
    or torch.backends.cpu.get_cpu_capability() != "AVX512",
    reason="needs MKL and a CPU with AVX-512",
)
def test_mkl_uses_the_registers_that_there_are_whoever_made_the_cpu() -> None:
    settings = {**os.environ, "MKL_VERBOSE": "1"}
    command = [sys.executable, "-c", MULTIPLY]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
    heading, *_ = done.stdout.splitlines()
    assert "AVX-512" in heading


def test_a_library_that_cannot_be_loaded_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "_mkl.so"
    broken.write_bytes(b"of another machine")
    for found in (None, ModuleSpec("mute._mkl", None, origin=str(broken))):
        monkeypatch.setattr(mkl, "find_spec", lambda _, found=found: found)
        mkl.use_wide_registers()
