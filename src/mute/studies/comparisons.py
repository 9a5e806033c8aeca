"""Every run against its baseline's of the same seed: paired bootstrap on each test set."""

from pathlib import Path
from typing import Any

from mute.config import Config
from mute.data.scored import read_scored
from mute.evaluate.segments import read_segments
from mute.evaluate.significance import compare
from mute.experiment import sections
from mute.result import HYPOTHESES, hypotheses_file, tokenization_of
from mute.studies.definitions import Study
from mute.studies.grid import paired, read_json, results_folder, write_json

FILE = "comparisons.json"


def compare_runs(study: Study, task: str) -> None:
    """Compare what is there; a pair that was compared before, or whose text is gone, is left."""
    file = results_folder(study.name, task) / FILE
    known = read_json(file) if file.is_file() else {}
    found: dict[str, dict[str, Any]] = {}
    for system, baseline, result in paired(study, task):
        name = f"{system}-seed{result['seed']}"
        found[name] = {
            test: _comparison(test, baseline, result, known.get(name, {}).get(test))
            for test in result["tests"]
            if test in baseline["tests"]
        }
    if found:
        write_json(found, file)


def _comparison(
    test: str, baseline: dict[str, Any], result: dict[str, Any], known: dict[str, Any] | None
) -> dict[str, Any] | None:
    of = [each["tests"][test]["hypotheses"] for each in (baseline, result)]
    if known and known["of"] == of:
        return known
    texts = [_hypotheses(test, each) for each in (baseline, result)]
    if texts[0] is None or texts[1] is None:
        return None
    data, _ = sections(Config.model_validate(result["config"]))
    found = compare(
        texts[0],
        texts[1],
        read_scored(data.test[test]).references,
        tokenize=tokenization_of(data),
        lowercase=data.tokenizer.lowercase,
    )
    return {
        "of": of,
        "difference": found.difference,
        "interval": [found.low, found.high],
        "p": found.p,
        "signature": found.signature,
    }


def _hypotheses(test: str, result: dict[str, Any]) -> list[str] | None:
    """The translations of a test set, if the run folder is there."""
    _, training = sections(Config.model_validate(result["config"]))
    file = hypotheses_file(Path(training.run) / HYPOTHESES, test)
    return read_segments(file) if file.is_file() else None
