"""A run folder: which experiment it is of, and who is at it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from mute.config import Config
from mute.configdiff import differences, told
from mute.configfile import dump_config, load_config
from mute.errors import MuteError, refusals_told
from mute.files import try_to_lock, write_whole
from mute.train.checkpoint import checkpoints

CONFIG, DATA, LOCK = "config.yaml", "data.digest", ".lock"
# What may differ between a run and its resumption: how long it goes on, what it keeps, where the
# prepared text lies (its digest has to be the same), what the finished model is tested on, and how
# a step's batches are shared between processes and time, since the trainer makes sure that there
# are as many.
FREE_TO_CHANGE = {
    "data.prepared",
    "data.test",
    "train.run",
    "train.steps",
    "train.accumulate",
    "train.validate_every",
    "train.save_every",
    "train.patience",
    "train.keep",
    "train.max_bad_steps",
}


# The runs this process is alone in: to lock a file again, through another handle, would fail.
_ours: set[Path] = set()


@contextmanager
def alone_in(run: Path) -> Iterator[None]:
    """Make sure that no other process is at this run; a dead one holds no lock.

    A process that is alone in it already may ask again.

    Raises:
        MuteError: another one is, or there can be no such folder.
    """
    place = run.resolve()
    if place in _ours:
        yield
        return
    with _opened(run / LOCK) as lock:
        if not try_to_lock(lock):
            raise MuteError(
                f"{run}: another process is at this run; wait for it, or choose another train.run"
            )
        _ours.add(place)
        try:
            yield
        finally:
            _ours.remove(place)


def _opened(path: Path) -> IO[str]:
    with refusals_told(f"{path.parent}: cannot be written to", "choose another train.run"):
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("w")


def prepared_anew(run: Path, digest: str) -> bool:
    """Whether a run began with other prepared data than that of this digest."""
    return (run / DATA).is_file() and (run / DATA).read_text().strip() != digest


def check_run_folder(run: Path, config: Config, digest: str) -> None:
    """Make sure that a run that is there may go on with this config and this data.

    Args:
        run: the folder, which this process is alone in
        config: of the experiment
        digest: of its prepared data, which must be the same too: the ids of another vocabulary
            mean other words

    Raises:
        MuteError: the run folder was made with other settings, of which each is named, or with
            other data, or it does not tell.
    """
    before, now = _config_of(run), config.model_dump(mode="json")
    if before is None and checkpoints(run / "checkpoints"):
        raise MuteError(
            f"{run}: has checkpoints but no {CONFIG}, so nothing tells with which settings it was "
            f"trained; put it back, choose another train.run, or delete the folder to begin anew"
        )
    if before and (changed := differences(before, now, FREE_TO_CHANGE)):
        raise MuteError(
            f"{run}: this run was started with other settings: {told(changed)}. "
            f"Change them back, choose another train.run, or delete the folder to begin anew"
        )
    if prepared_anew(run, digest):
        raise MuteError(
            f"{run}: the text was prepared anew since this run began; choose another train.run, or "
            f"delete the folder to begin anew"
        )


def claim_run_folder(run: Path, config: Config, digest: str) -> None:
    """Leave the config and the digest of its data in a run that nothing keeps from going on.

    A config file that says the same already stays as it is: it may be the user's own.
    """
    if _config_of(run) != config.model_dump(mode="json"):
        write_whole(dump_config(config), run / CONFIG)
    write_whole(f"{digest}\n", run / DATA)


def _config_of(run: Path) -> dict[str, Any] | None:
    file = run / CONFIG
    return load_config(file).model_dump(mode="json") if file.is_file() else None
