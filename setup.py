"""The compiled part of the package. Optional: without a C compiler all works, but trains slower."""

import sys
from pathlib import Path

from setuptools import Extension, setup

KERNELS = Path("src/mute/model/kernels")
# Apple's compiler has no OpenMP; there the kernels run in one thread.
THREADS = [] if sys.platform == "darwin" else ["-fopenmp"]

setup(
    ext_modules=[
        Extension(
            "mute.model.kernels._compiled",
            sources=[str(KERNELS / "attention.c"), str(KERNELS / "dropout.c")],
            depends=[str(KERNELS / "vectors.h")],
            extra_compile_args=["-O3", "-ffp-contract=fast", "-Wall", "-Wno-psabi", *THREADS],
            extra_link_args=THREADS,
            optional=True,
        )
    ]
)
