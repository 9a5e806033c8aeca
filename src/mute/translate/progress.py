"""How far a text is: a live line on a terminal, nothing elsewhere."""

from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from mute.files import say


class _Speed(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.1f} lines/s" if task.speed else "")


class LineProgress:
    """Lines done, lines per second, and the time left if the number of lines is known.

    Args:
        visible: whether there is a live line at all
    """

    def __init__(self, *, visible: bool) -> None:
        self._console = Console(stderr=True, emoji=False, soft_wrap=True)
        self._bar = Progress(
            TextColumn("lines"),
            MofNCompleteColumn(),
            BarColumn(),
            _Speed(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not visible,
            speed_estimate_period=3600,  # a block of a large model may take minutes
            redirect_stdout=False,  # bytes go there, past rich
            redirect_stderr=False,
        )

    def __enter__(self) -> "LineProgress":
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def watch(self, done: int, total: int | None) -> None:
        """So many lines are done; those of the first call were done before."""
        if not self._bar.tasks:
            self._bar.add_task("", completed=done, total=total)
        task = self._bar.tasks[0]
        self._bar.advance(task.id, done - task.completed)

    def tell(self, sentence: str) -> None:
        """Say something to the people watching."""
        if self._bar.disable:
            say(sentence)
        else:
            self._console.print(sentence, highlight=False, markup=False)
