"""The compiled part of the package. Optional: without a C compiler all works, but trains slower."""

import copy
import platform
import runpy
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = Path("src/mute/model/kernels")
SOURCES = runpy.run_path(str(KERNELS / "sources.py"))["digest"]()
NAMES = ("attention", "dropout", "layer", "linear", "lookup", "softmax")
OPTIONS = ["-O3", "-ffp-contract=fast", "-Wall", "-Wno-psabi"]
# Apple's compiler has no OpenMP; there the kernels run in one thread.
THREADS = [] if sys.platform == "darwin" else ["-fopenmp"]
# By the floats that a register holds, what tells the compiler of it. All are compiled, and the one
# that suits the CPU is loaded: who installs mute may not be who runs it.
REGISTERS: dict[int, list[str]] = {4: []}
X86 = platform.machine() in ("x86_64", "AMD64")
if X86:
    REGISTERS[8] = ["-mavx2", "-mfma"]
    REGISTERS[16] = [*REGISTERS[8], "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"]


class BuildApart(build_ext):
    """Each library with object files of its own, since all are made of the same sources."""

    def build_extension(self, ext: Extension) -> None:
        """In a folder by its name; not of `self`, which others may be built by at the same time."""
        apart = copy.copy(self)
        apart.build_temp = str(Path(self.build_temp, ext.name))
        build_ext.build_extension(apart, ext)


EXTENSIONS = [
    Extension(
        f"mute.model.kernels._lanes{lanes}",
        sources=[str(KERNELS / f"{name}.c") for name in NAMES],
        depends=[*map(str, KERNELS.glob("*.h")), str(KERNELS / "sources.py"), "setup.py"],
        define_macros=[("LANES", str(lanes)), ("SOURCES", f'"{SOURCES}"')],
        extra_compile_args=[*OPTIONS, *THREADS, *flags],
        extra_link_args=THREADS,
        optional=True,
    )
    for lanes, flags in REGISTERS.items()
]
if X86 and sys.platform == "linux":  # where PyTorch has MKL
    EXTENSIONS.append(Extension("mute._mkl", sources=["src/mute/mkl.c"], optional=True))

setup(cmdclass={"build_ext": BuildApart}, ext_modules=EXTENSIONS)
