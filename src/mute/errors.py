"""The one exception for what a user can mend."""


class MuteError(ValueError):
    """A mistake in what the user gave: one sentence that says what, where, and what to do.

    The command line prints it without a traceback and exits with status 2. Anything else that
    is raised is a defect of mute and keeps its traceback.
    """
