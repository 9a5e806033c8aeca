"""How many processor cores there are for us."""

import os


def core_count() -> int:
    """The cores that this process may use: a batch system or `taskset` may allow it but a few.

    Some systems cannot tell; there it is all that the machine has.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
