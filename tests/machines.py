"""What some tests need of the machine."""

import pytest
import torch

from mute.model.kernels import LIBRARY

needs_int8 = pytest.mark.skipif(
    "fbgemm" not in torch.backends.quantized.supported_engines,
    reason="PyTorch has 8-bit products for x86 CPUs only",
)
needs_kernels = pytest.mark.skipif(LIBRARY is None, reason="no C compiler when mute was installed")
