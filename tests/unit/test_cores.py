import os
import subprocess
import sys

import pytest

from mute.cores import core_count

PROBE = "from mute.cores import core_count; print(core_count())"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot confine")
def test_only_the_cores_that_a_process_may_use_count() -> None:
    first = min(os.sched_getaffinity(0))

    def confine() -> None:
        os.sched_setaffinity(0, {first})

    confined = subprocess.run(
        [sys.executable, "-c", PROBE], preexec_fn=confine, capture_output=True, check=True
    )
    assert confined.stdout.strip() == b"1"


def test_where_that_is_not_known_the_machines_cores_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert core_count() == os.cpu_count()
