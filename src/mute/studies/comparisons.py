"""Every run against its baseline's of the same seed: paired bootstrap on each test set.

A result has the counts of its translations, sentence by sentence, so nothing but the results' files
is needed: not the runs, which may be on another machine or gone.
"""

from typing import Any

from mute.evaluate.counts import unpack
from mute.evaluate.significance import compare_counts
from mute.studies.definitions import Study
from mute.studies.results import paired, read_known, results_folder, write_json

FILE = "comparisons.json"


def compare_runs(study: Study, task: str) -> None:
    """Compare what is there; of pairs without counts, what was known before stays."""
    file = results_folder(study.name, task) / FILE
    known = read_known(file)
    found: dict[str, dict[str, Any]] = {}
    for system, baseline, result in paired(study, task):
        name = f"{system}-seed{result['seed']}"
        found[name] = {
            test: _comparison(test, baseline, result, known.get(name, {}).get(test))
            for test in result["tests"]
            if test in baseline["tests"]
        }
    if found or known:  # what has lost its baseline is not compared with it any more
        write_json(found, file)


def _comparison(
    test: str, baseline: dict[str, Any], result: dict[str, Any], known: dict[str, Any] | None
) -> dict[str, Any] | None:
    of = [each["tests"][test]["hypotheses"] for each in (baseline, result)]
    both = [each.get("counts", {}).get(test) for each in (baseline, result)]
    if None in both:  # of an earlier version
        return known if known and known["of"] == of else None
    first, second = map(unpack, both)
    scores = [each["tests"][test] for each in (baseline, result)]
    if len(first) != len(second) or not _alike(*scores):  # the test set has changed in between
        return None
    found = compare_counts(first, second, result["tests"][test]["signature"])
    return {
        "of": of,
        "difference": found.difference,
        "interval": [found.low, found.high],
        "p": found.p,
        "signature": found.signature,
    }


def _alike(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two scores are of the same references, where both tell, and counted alike."""
    references = {score["references"] for score in (first, second) if "references" in score}
    return len(references) < 2 and first["signature"] == second["signature"]
