"""A long job that several processes share, and that goes on where it was killed.

Beside the output OUT there is a folder `OUT.parts` until the job is done: `manifest.json` says what
job it is, and a file `part-00000012` holds what came out of block 12. Each is written under another
name, pushed to the disk and renamed, so a part that is there is whole. Process r of n does the
blocks r, r + n, …; they meet in that folder and nowhere else, so it does not matter how far they
are apart in time: a process that is done says so by a file `done-r`, and the first one, when all
have, joins the parts to OUT and removes the folder, which is what the others wait for.
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from math import ceil
from pathlib import Path
from typing import Any

from mute.errors import MuteError, refusals_told
from mute.files import try_to_lock
from mute.runtime import Share
from mute.translate.stream import Content, Job, pack, survey

FORMAT = 1
MANIFEST = "manifest.json"
POLL_SECONDS = 1.0
"""How often a process that waits for others looks."""


def work_in_parts(job: Job, output: Path, identity: Mapping[str, Any], share: Share) -> None:
    """Do a share of a job, or what is left of it; the first process also makes the output.

    Args:
        job: of files, since they are read twice
        output: the file that appears when all is done
        identity: whatever decides what comes out, by name; the text itself is added
        share: of this process

    Raises:
        MuteError: as `Job.rows`; a file cannot be written; what was begun is another job; or
            another process is at it.
    """
    content = survey(job)
    parts = Parts(output, share)
    with parts.alone():
        parts.claim(
            {
                "format": FORMAT,
                **identity,
                "lines": content.lines,
                "text": content.digest(),
                "lines of a part": job.lines_at_once,
            }
        )
        _work(job, parts, content)


def _work(job: Job, parts: "Parts", content: Content) -> None:
    share = parts.share

    def tell() -> None:
        job.watch(min(len(parts.finished()) * job.lines_at_once, content.lines), content.lines)

    tell()
    finished = parts.finished()
    for number, (first, rows) in enumerate(job.blocks(content)):
        if number % share.size == share.rank and number not in finished:
            parts.save(number, job.do(first, rows, parts.output.suffix))
            tell()
    if share.leads:
        parts.wait_for_others(tell)
        parts.join(ceil(content.lines / job.lines_at_once))
    else:
        parts.wait_for_the_end()


class Parts:
    """The folder of an unfinished output.

    Args:
        output: the file
        share: of this process
    """

    def __init__(self, output: Path, share: Share) -> None:
        self.output, self.share = output, share
        self.folder = output.with_name(f"{output.name}.parts")
        self._launcher = os.getppid() if "TORCHELASTIC_RUN_ID" in os.environ else None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep another run of the same command away; the first process does it for all.

        Raises:
            MuteError: one is at it, or the folder cannot be written.
        """
        if self.share.rank > 0:
            yield
            return
        with self._refusals_told():
            self.folder.mkdir(exist_ok=True)
            lock = (self.folder / ".lock").open("w")
        with lock:
            if not try_to_lock(lock):
                raise MuteError(
                    f"{self.folder}: another process is at this text; wait for it to end, or "
                    f"choose another output"
                )
            yield

    def claim(self, identity: Mapping[str, Any]) -> None:
        """Begin a job, or make sure that what was begun is the same; only the first begins.

        Raises:
            MuteError: it is another one, and what differs; or the folder cannot be written.
        """
        manifest = self.folder / MANIFEST
        if self.share.leads:
            with self._refusals_told():
                self._begin(identity)
        while not manifest.is_file():
            self._wait()
        try:
            before = json.loads(manifest.read_text(encoding="utf-8"))
            now = json.loads(json.dumps(identity))  # tuples are lists there, and keys are words
            differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        except (OSError, ValueError, TypeError):
            raise MuteError(f"{manifest}: damaged; delete {self.folder} to start over") from None
        if differing:
            changes = "; ".join(
                f"{name} was {before.get(name)}, is {now.get(name)}" for name in differing
            )
            what = "has what is finished of" if self.finished() else "was begun for"
            raise MuteError(
                f"{self.folder}: {what} another job: {changes}. Delete the folder to start over, "
                f"or finish that one as it was begun"
            )

    def _begin(self, identity: Mapping[str, Any]) -> None:
        shutil.rmtree(self._removed, ignore_errors=True)
        self.folder.mkdir(exist_ok=True)
        manifest = self.folder / MANIFEST
        if manifest.is_file():  # else it is not our folder, or a new one
            for stale in self.folder.glob("done-*"):  # of a killed run, which may have had more
                stale.unlink(missing_ok=True)
        if self.share.size == 1 and not self.finished():  # several might still read what it was
            manifest.unlink(missing_ok=True)
        if not manifest.is_file():
            if any(not path.name.startswith(".") for path in self.folder.iterdir()):
                raise MuteError(f"{self.folder}: in the way, and not made by mute; move it")
            text = json.dumps(identity, indent=1, ensure_ascii=False) + "\n"
            self._write(manifest, [text.encode()])

    def finished(self) -> set[int]:
        """The numbers of the blocks that are done."""
        return {
            int(path.name.removeprefix("part-")) for path in self.folder.glob(f"part-{'[0-9]' * 8}")
        }

    def save(self, number: int, content: bytes) -> None:
        """Keep what came out of a block.

        Raises:
            MuteError: it cannot be written.
        """
        with self._refusals_told():
            self._write(self._part(number), [content])

    def wait_for_others(self, tell: Callable[[], None]) -> None:
        """Until every other process is done; meanwhile, tell how far they are."""
        while not all(self._done(rank).is_file() for rank in range(1, self.share.size)):
            self._wait()
            tell()

    def wait_for_the_end(self) -> None:
        """Until the first process has joined the parts.

        The file that says this one is done is made again and again: the first process deletes
        such files when it starts, as left by a killed run, and it may start after this one is done.
        """
        while True:
            self._check_launcher()
            try:
                self._done(self.share.rank).touch()
            except FileNotFoundError:
                return
            self._wait()

    def join(self, count: int) -> None:
        """Make the output of all parts and remove them.

        Raises:
            MuteError: one is missing, or the output cannot be written.
        """
        if missing := set(range(count)) - self.finished():
            raise MuteError(f"{self._part(min(missing))}: has vanished; run the same command again")
        parts = (self._part(number).read_bytes() for number in range(count))
        with self._refusals_told():
            self._write(self.output, parts if count else [pack("", self.output.suffix)])
            # First out of the way, in one move: no process may take what is left for a job.
            self.folder.rename(self._removed)
        shutil.rmtree(self._removed, ignore_errors=True)

    def _wait(self) -> None:
        time.sleep(POLL_SECONDS)
        self._check_launcher()

    def _check_launcher(self) -> None:
        if self._launcher not in (None, os.getppid()):
            # The run that is started next would count what an orphan writes as its own.
            raise MuteError("torchrun has died; run the same command again")

    @property
    def _removed(self) -> Path:
        return self.folder.with_name(f".{self.folder.name}.removed")

    def _part(self, number: int) -> Path:
        return self.folder / f"part-{number:08d}"

    def _done(self, rank: int) -> Path:
        return self.folder / f"done-{rank}"

    def _write(self, path: Path, contents: Iterable[bytes]) -> None:
        """Make a file appear whole; its draft is in the folder, so nothing is left beside it."""
        draft = self.folder / f".{path.name}.{os.getpid()}"
        try:
            with draft.open("wb") as file:
                for content in contents:
                    file.write(content)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)

    def _refusals_told(self) -> AbstractContextManager[None]:
        return refusals_told(
            f"{self.folder}: cannot be written",
            "what is finished stays there: mend that and run the same command again",
        )
