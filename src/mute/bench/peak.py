"""The most that a machine computes: what a share of it means the same on every machine."""

import torch

from mute.bench.stopwatch import Stopwatch

_SIZES = {"cpu": 2048, "cuda": 8192}
_ROUNDS = 5


def measure_peak(device: torch.device) -> float:
    """GFLOP/s of float32 in large matrix products, the best of several."""
    size = _SIZES[device.type]
    left, right = (torch.rand(size, size, device=device) for _ in range(2))
    product = torch.mm(left, right)  # the first one is slower
    watch = Stopwatch(device, rest="product")
    seconds = []
    for _ in range(_ROUNDS):
        watch.restart()
        torch.mm(left, right, out=product)
        seconds.append(watch.read()["product"])
    return 2 * size**3 / min(seconds) / 1e9
