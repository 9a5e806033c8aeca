import ctypes
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from mute.errors import MuteError
from mute.model import kernels
from tests.machines import needs_kernels

CPU = torch.device("cpu")


def test_those_who_train_without_a_compiler_hear_of_it_where_it_would_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "LIBRARY", None)
    (said,) = kernels.missed(CPU)
    assert "install" in said
    assert kernels.missed(torch.device("cuda")) == []
    monkeypatch.setattr(kernels, "LIBRARY", ctypes.CDLL(None))
    assert kernels.missed(CPU) == []


def test_without_a_compiled_file_there_are_no_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "find_spec", lambda _: None)
    assert kernels._load() is None
    broken = tmp_path / "_lanes4.so"
    broken.write_bytes(b"not a library")
    monkeypatch.setattr(kernels, "find_spec", lambda _: SimpleNamespace(origin=str(broken)))
    assert kernels._load() is None


@needs_kernels
def test_the_widest_registers_of_the_cpu_are_used() -> None:
    assert kernels.LIBRARY is not None
    assert kernels.LIBRARY.mute_lanes() == kernels.widths()[0]


@pytest.mark.parametrize(("capability", "most"), [("AVX512", 16), ("AVX2", 8), ("DEFAULT", 4)])
def test_what_the_cpu_cannot_do_is_not_loaded(
    capability: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    tried: list[int] = []
    monkeypatch.setattr(kernels, "load_library", tried.append)
    assert kernels._load() is None
    assert tried == [lanes for lanes in (16, 8, 4) if lanes <= most]


@needs_kernels
def test_kernels_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "AttentionCall", ctypes.c_int64)
    with pytest.raises(MuteError, match=r"_lanes.*another version of mute; install mute again"):
        kernels._load()


@needs_kernels
def test_kernels_of_other_sources_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An update may mend the C and leave what it is told as it was."""
    monkeypatch.setattr(kernels, "digest", lambda: "of newer sources")
    with pytest.raises(MuteError, match=r"_lanes.*another version of mute; install mute again"):
        kernels._load()
    monkeypatch.setattr(kernels, "digest", lambda: None)  # where they are not
    assert kernels._load()


@needs_kernels
def test_kernels_for_other_registers_than_their_name_says_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of_four = find_spec("mute.model.kernels._lanes4")
    monkeypatch.setattr(kernels, "find_spec", lambda _: of_four)
    assert kernels.load_library(4)
    with pytest.raises(MuteError, match=r"_lanes4.*another version"):
        kernels.load_library(8)


def test_what_is_left_of_another_version_is_in_nobodys_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = ctypes.CDLL(None)

    def load(lanes: int) -> ctypes.CDLL | None:
        if lanes == 16:
            raise MuteError("of another version")
        return good if lanes == 8 else None

    monkeypatch.setattr(kernels, "load_library", load)
    monkeypatch.setattr(kernels, "widths", lambda: (16, 8, 4))
    assert kernels._load() is good
    monkeypatch.setattr(kernels, "widths", lambda: (16, 4))
    with pytest.raises(MuteError, match="of another version"):
        kernels._load()
