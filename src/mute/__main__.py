"""`python -m mute` is `mute`."""

from mute.cli import main

main()
