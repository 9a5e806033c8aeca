"""MKL, the library that PyTorch multiplies matrices with, on CPUs that are not Intel's."""

import ctypes
from importlib.util import find_spec


def use_wide_registers() -> None:
    """Have MKL use AVX-512 on AMD's CPUs, too: products are then up to 1.5 times as fast.

    By two functions that stand in for MKL's own; see `mkl.c`. They are found if they are there
    before PyTorch is, so they are loaded with the package; after PyTorch, they change nothing.
    """
    found = find_spec("mute._mkl")
    if found is None or found.origin is None:  # another kind of CPU or system, or no C compiler
        return
    try:
        ctypes.CDLL(found.origin, mode=ctypes.RTLD_GLOBAL)
    except OSError:  # of another system: PyTorch is then as fast as it is without mute
        return
