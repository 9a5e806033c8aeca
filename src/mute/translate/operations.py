"""Operations of PyTorch's that are compiled for translation, and the threads they take."""

import torch

# As operations of PyTorch's, so that its tools see them; `mute bench` counts what they compute.
# Not by `custom_op`, whose first call imports PyTorch's compiler: a second more for one sentence.
OPERATIONS = torch.library.Library("mute", "FRAGMENT")
"""Where the modules that translate make their operations known."""

_WORTH_A_THREAD = 1 << 15
"""Products of numbers; with fewer, waking a second thread takes longer than they do."""


def threads_for(parts: int, work: int) -> int:
    """How many threads to take: as many as PyTorch would, but no more than the work is worth.

    Args:
        parts: what can be done side by side
        work: multiplications in each
    """
    worth = 1 + parts * work // _WORTH_A_THREAD
    return max(1, min(torch.get_num_threads(), parts, worth))
