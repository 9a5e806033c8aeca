"""What finished runs leave among the results, and the files that are made from it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mute.config import Config
from mute.errors import MuteError
from mute.files import write_whole
from mute.studies.definitions import Study

RESULTS = Path("results")


def results_folder(study: str, task: str) -> Path:
    """Where the results, tables and figures of a study go."""
    return RESULTS / study / task


def read_results(study: Study, task: str) -> dict[str, list[dict[str, Any]]]:
    """The results of all finished runs, by system, in order of the seeds."""
    folder = results_folder(study.name, task)
    return {
        system.name: sorted(
            map(read_json, folder.glob(f"{system.name}-seed*.json")),
            key=lambda result: int(result["seed"]),
        )
        for system in study.systems_for(task)
    }


def read_json(file: Path) -> dict[str, Any]:
    """A JSON file of ours.

    Raises:
        MuteError: it cannot be read.
    """
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MuteError(f"{file}: cannot be read ({error}); delete it to make it anew") from None
    return content


def read_known(file: Path) -> dict[str, Any]:
    """A JSON file of ours; {} if it is not there yet.

    Raises:
        MuteError: it cannot be read.
    """
    return read_json(file) if file.is_file() else {}


def write_json(content: object, file: Path) -> None:
    """Write a JSON file whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(json.dumps(content, indent=1, ensure_ascii=False) + "\n", file)


def paired(study: Study, task: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Every system's result with its baseline's of the same seed."""
    results = read_results(study, task)
    for system in study.systems_for(task):
        baseline = study.baseline_of(system)
        of_baseline = {result["seed"]: result for result in results[baseline]}
        for result in results[system.name]:
            if system.name != baseline and result["seed"] in of_baseline:
                yield system.name, of_baseline[result["seed"]], result


def batches_per_step(result: dict[str, Any]) -> int:
    """Of all processes together; early results do not tell, and are of one."""
    return int(result.get("batches_per_step") or result["config"]["train"].get("accumulate", 1))


def as_today(config: dict[str, Any]) -> dict[str, Any]:
    """The settings of a result with those that are new since; as they are if they are not ours."""
    try:
        return Config.model_validate(config).model_dump(mode="json")
    except ValidationError:
        return config
