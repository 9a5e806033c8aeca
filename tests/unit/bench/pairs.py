"""A corpus of a few pairs in memory."""

import numpy as np
from numpy.typing import NDArray


class FewPairs:
    """Pair n has n + 1 source words and n + 2 target words."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> tuple[list[int], list[int]]:
        return [5] * (index + 1), [6] * (index + 2)

    @property
    def lengths(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        source = np.arange(1, 7, dtype=np.int32)
        return source, source + 1
