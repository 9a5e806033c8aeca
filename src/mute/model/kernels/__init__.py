"""What PyTorch does in too many steps, compiled: attention, dropout, a decoder's layer and more.

For float32 on a CPU. The C is compiled when the package is installed, if there is a compiler.
Where it is not, the plain forms do the same, only slower.
"""

import ctypes
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from mute.errors import MuteError
from mute.model.kernels.sources import digest


def _fields(numbers: str, addresses: str) -> list[tuple[str, Any]]:
    """Of a C structure: numbers of 64 bits, then addresses, by their names."""
    of_numbers = [(name, ctypes.c_int64) for name in numbers.split()]
    return of_numbers + [(name, ctypes.c_void_p) for name in addresses.split()]


class AttentionCall(ctypes.Structure):
    """All that the two calls of attention are told; see `attention.c`."""

    _fields_ = _fields(
        "units batch heads queries keys size tables clip threads q_unit q_row k_unit k_row "
        "mask_batch mask_row",
        "mask q k v key_table value_table weights mixed to_mixed to_q to_k to_v to_tables",
    )


class LookUpCall(ctypes.Structure):
    """All that the attention of a step of decoding is told; see `lookup.c`."""

    _fields_ = _fields(
        "units batch heads queries keys size threads q_unit q_batch q_head q_row "
        "k_unit k_batch k_head hidden_batch hidden_row tables clip step",
        "q k v hidden key_table value_table mixed",
    )


class NormLayer(ctypes.Structure):
    """A layer's norm; see `layer.c`."""

    _fields_ = _fields("", "weight bias")


class LinearLayer(ctypes.Structure):
    """Weights laid out for our own products; see `linear.h`."""

    _fields_ = _fields("inputs outputs", "weights scales middles bias")


class LayerCall(ctypes.Structure):
    """All that a decoder's layer is told in a step; see `layer.c`."""

    _fields_ = [
        *_fields(
            "batch width heads size source room used clip threads threads_back threads_across", ""
        ),
        *((name, NormLayer) for name in ("norm", "cross_norm", "last_norm")),
        *(
            (name, LinearLayer)
            for name in ("input", "output", "query", "cross_output", "expand", "contract")
        ),
        *_fields("", "key_table value_table past memory ancestry padding x y"),
    ]


_WIDTHS = {"AVX512": (16, 8, 4), "AVX2": (8, 4)}


def _load() -> ctypes.CDLL | None:
    """The library for the widest registers that this CPU has, of those that were compiled.

    Raises:
        MuteError: there are only those of another version.
    """
    stale = []
    for lanes in widths():
        try:
            library = load_library(lanes)
        except MuteError as error:  # a compiler that knows fewer CPUs leaves the others as they are
            stale.append(error)
            continue
        if library is not None:
            return library
    if stale:
        raise stale[0]
    return None


def widths() -> tuple[int, ...]:
    """How many floats this CPU's registers may hold, the most first."""
    return _WIDTHS.get(torch.backends.cpu.get_cpu_capability(), (4,))


def load_library(lanes: int) -> ctypes.CDLL | None:
    """The kernels for registers of so many floats, if they are there and can be loaded.

    Raises:
        MuteError: they were compiled from another version.
    """
    found = find_spec(f"mute.model.kernels._lanes{lanes}")
    if found is None or found.origin is None:
        return None
    try:
        library = ctypes.CDLL(found.origin)
    except OSError:  # it needs another library, which is gone
        return None
    if not _fits(library, lanes):
        raise MuteError(
            f"{found.origin} was compiled from another version of mute; install mute again"
        )
    number, address = ctypes.c_int64, ctypes.c_void_p
    library.mute_dropout.argtypes = (
        *(address, number, address, address, number),
        *(ctypes.c_int32, ctypes.c_float, ctypes.c_uint64, number),
    )
    library.mute_dropout.restype = None
    library.mute_log_sum_exp.argtypes = (address, number, number, address, number)
    library.mute_log_sum_exp.restype = None
    library.mute_slopes.argtypes = (
        *(address, number, number, address, address),
        *(ctypes.c_float, address, address, address, number),
    )
    library.mute_slopes.restype = None
    library.mute_layer.argtypes = (address,)
    library.mute_linear.argtypes = (address, number, address, address, number)
    return library


def _fits(library: ctypes.CDLL, lanes: int) -> bool:
    """Whether a library is made of the C that lies here, and takes what it is told here."""
    try:
        library.mute_sources.restype = ctypes.c_char_p
        sources = library.mute_sources().decode()
        sizes = {
            AttentionCall: library.mute_attention_size(),
            LookUpCall: library.mute_look_up_size(),
            LinearLayer: library.mute_linear_size(),
            LayerCall: library.mute_layer_size(),
        }
        same = all(ctypes.sizeof(call) == size for call, size in sizes.items())
        return same and library.mute_lanes() == lanes and digest() in {sources, None}
    except AttributeError:  # of a version that had less to offer
        return False


LIBRARY = _load()
"""The compiled kernels; None where there was no compiler."""
LANES = LIBRARY.mute_lanes() if LIBRARY else 1
"""Numbers that they take at a time."""


def suit(like: Tensor, *sizes: int) -> bool:
    """Whether the kernels are there and take such numbers, in rows of these sizes."""
    takes = LIBRARY is not None and like.device.type == "cpu" and like.dtype == torch.float32
    return takes and all(size % LANES == 0 for size in sizes)


def missed(device: torch.device) -> list[str]:
    """A word to those who train without the kernels on a machine that could use them."""
    if LIBRARY is not None or device.type != "cpu":
        return []
    sentence = (
        "training is slower than it could be: mute's compiled kernels are not there; "
        "with a C compiler such as gcc, install mute again"
    )
    return [sentence]
