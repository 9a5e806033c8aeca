"""The tests; what they import of mute comes before torch, as it does in the commands."""

import mute  # noqa: F401
