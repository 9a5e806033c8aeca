import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
import torch

from mute import runtime
from mute.errors import MuteError


def test_seeds_differ_for_different_numbers_and_fit_a_generator() -> None:
    seeds = {
        runtime.seed_of(run, step, batch)
        for run in (0, 1)
        for step in range(50)
        for batch in (0, 1)
    }
    assert len(seeds) == 200
    assert runtime.seed_of(1, 23) != runtime.seed_of(12, 3)
    assert runtime.seed_of(1, 2, 3) == runtime.seed_of(1, 2, 3)
    for seed in seeds:
        torch.Generator().manual_seed(seed)


def test_freed_memory_is_kept() -> None:
    """A large block that is freed comes back without new pages from the kernel."""
    code = (
        "import resource, sys\n"
        "from mute.runtime import keep_freed_memory\n"
        "keep_freed_memory()\n"
        "import torch\n"
        "def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "for _ in range(20): torch.ones(16_000_000)\n"  # until the heap has its size
        "before = faults()\n"
        "for _ in range(10): torch.ones(16_000_000)\n"
        "sys.exit(0 if faults() - before < 5000 else str(faults() - before))\n"  # else 150,000
    )
    if sys.platform != "linux":
        pytest.skip("only glibc can be told to keep memory")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_c_library_that_refuses_so_much_is_asked_for_less() -> None:
    asked = []

    def mallopt(parameter: int, value: int) -> int:
        asked.append((parameter, value))
        return int(value <= 2**25 or parameter == -1)

    with (
        mock.patch("sys.platform", "linux"),
        mock.patch("ctypes.CDLL", return_value=mock.Mock(mallopt=mallopt)),
    ):
        runtime.keep_freed_memory()
    assert asked == [(-3, 2**31 - 1), (-3, 2**25), (-1, 2**31 - 1)]


def test_without_a_gpu_the_device_is_the_cpu() -> None:
    with mock.patch("torch.cuda.is_available", return_value=False):
        assert runtime.choose_device() == torch.device("cpu")
    with (
        mock.patch("torch.cuda.is_available", return_value=True),
        mock.patch("torch.cuda.device_count", return_value=4),
        mock.patch.dict("os.environ", {"LOCAL_RANK": "3"}),
    ):
        assert runtime.choose_device() == torch.device("cuda", 3)
        with (
            mock.patch("torch.cuda.device_count", return_value=2),
            pytest.raises(MuteError, match=r"has no GPU: there are 2; .*--nproc-per-node 2"),
        ):
            runtime.choose_device()


def _without_git_settings() -> dict[str, str]:
    """The environment, but for what makes git sign, call hooks or write somewhere else."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**ours, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def test_a_commit_is_that_of_our_code_and_dirty_if_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / ".venv" / "site-packages" / "mute"
    package.mkdir(parents=True)
    identity = ["-c", "user.name=x", "-c", "user.email=x"]
    for command in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "theirs"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, env=_without_git_settings())
    monkeypatch.setattr(runtime, "__file__", str(package / "runtime.py"))
    assert runtime.source_commit() is None
    monkeypatch.setattr(runtime, "__file__", str(tmp_path / "src" / "mute" / "runtime.py"))
    (tmp_path / "src" / "mute").mkdir(parents=True)
    commit = runtime.source_commit()
    assert commit is not None
    (tmp_path / "results.json").touch()
    assert runtime.source_commit() == commit
    (tmp_path / "src" / "mute" / "layer.py").touch()
    assert runtime.source_commit() == f"{commit}-dirty"
