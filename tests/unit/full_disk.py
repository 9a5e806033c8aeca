"""Files that cannot grow, which is what a full disk looks like to a program."""

import subprocess
import sys

_BEGINNING = """
import resource
from pathlib import Path
from mute.errors import MuteError

def try_with_room_for(bytes, action):
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, resource.RLIM_INFINITY))
    try:
        action()
    except MuteError as error:
        print(error)
"""


def said_on_a_full_disk(code: str) -> list[str]:
    """The messages of a process of its own: the limit is not for the tests."""
    command = [sys.executable, "-c", _BEGINNING + code]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()
