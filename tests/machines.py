"""What some tests need of the machine."""

import pytest
import torch

needs_int8 = pytest.mark.skipif(
    "fbgemm" not in torch.backends.quantized.supported_engines,
    reason="PyTorch has 8-bit products for x86 CPUs only",
)
