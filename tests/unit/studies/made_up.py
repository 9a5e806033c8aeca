"""Results of runs that never were."""

from collections.abc import Mapping, Sequence
from typing import Any

from mute.config import Experiment
from mute.studies.results import results_folder, write_json

SIGNATURE = "nrefs:1|tok:none"
TRAINING = {"batch_tokens": 2048, "accumulate": 1, "save_every": 200}


def experiment(run: str = "r", **training: Any) -> Experiment:
    """What a run of no study is made by."""
    text = {"source": "a.en", "target": "a.de"}
    data = {"source": "en", "target": "de", "prepared": "x", "train": [text], "dev": text}
    return Experiment.model_validate({"data": data, "train": {"run": run, **training}})


def result(
    study: str, system: str, seed: int, dev: float, tests: Mapping[str, float], **more: Any
) -> dict[str, Any]:
    """Write the file of a run, as a study's worker does."""
    scores = {
        name: {"bleu": value, "signature": SIGNATURE, "hypotheses": f"{system}{seed}"}
        for name, value in tests.items()
    }
    content = {
        "study": study,
        "task": "toy",
        "system": system,
        "seed": seed,
        "config": {"model": {"units": 4, "sample_rate": 0.85}, "train": TRAINING},
        "commit": "abc1234",
        "parameters": 4_207_936,
        "steps": 2000,
        "best": {"step": 1000, "dev_bleu": dev},
        "tests": scores,
        "curve": [{"step": 1000, "loss": 2.0, "bleu": dev}],
        "average": {"checkpoints": 5, "dev_bleu": dev + 0.1, "tests": scores},
        "tuned": {"length_penalty": 1.0 + seed, "dev_bleu": dev + 0.2, "tests": scores},
        "seconds": 1800.0,
        **more,
    }
    write_json(content, results_folder(study, "toy") / f"{system}-seed{seed}.json")
    return content


def comparison(study: str, run: str, test: str, difference: float, p: Sequence[float]) -> None:
    """Write what the bootstrap found for the runs of a system, seed by seed."""
    found = {
        f"{run}-seed{seed}": {test: {"of": [], "difference": difference, "p": value}}
        for seed, value in enumerate(p, 1)
    }
    write_json(found, results_folder(study, "toy") / "comparisons.json")


def fingerprint(system: str, seed: int, dev: float, tests: int = 1) -> dict[str, list[object]]:
    """What measures.json says that it was measured of."""
    return {f"{system}-seed{seed}": [1000, dev, *[f"{system}{seed}"] * tests]}
