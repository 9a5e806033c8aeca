"""What a study scores beside a run's best model: others that the same training gives for nothing.

What was found stays in the run folder, since a study that goes on asks again.
"""

from pathlib import Path
from typing import Any

from mute.config import DataConfig, TrainConfig
from mute.data.prepared import load_prepared
from mute.model.folder import load_model, save_model
from mute.result import HYPOTHESES, references_of, score_tests, translate_and_score
from mute.studies.results import read_known, write_json
from mute.train.average import average_checkpoints
from mute.train.checkpoint import checkpoints
from mute.translate.loading import load
from mute.translate.translator import Translator

LAST = 5
"""Checkpoints that are averaged, as in the paper."""
LENGTH_PENALTIES = (0.6, 1.0, 1.5, 2.0)
"""That are tried; 0.6 is the paper's, the others lengthen translations."""


def of_last_checkpoints(run: Path, data: DataConfig, training: TrainConfig) -> dict[str, Any]:
    """The scores of the last checkpoints' average, which becomes a model folder beside the best."""
    folder, record = run / f"average-{LAST}", run / f"average-{LAST}.json"
    saved = checkpoints(run / "checkpoints")[-LAST:]
    known = read_known(record)
    if known.get("last") != saved[-1].name:
        best, weights = load_model(run), average_checkpoints(run, len(saved))
        save_model(folder, best.network.config, weights, best.tokenizer, best.max_length)
        known = {"checkpoints": len(saved), "last": saved[-1].name}
    if known.get("of") != _tests(data):
        found = scores(load(folder), data, training, folder / HYPOTHESES)
        known = {**known, **found, "of": _tests(data)}
        write_json(known, record)
    return _without_of(known)


def with_tuned_length(
    run: Path, data: DataConfig, training: TrainConfig, best_step: int
) -> dict[str, Any]:
    """The scores of the best model with the length penalty that is best on the development set."""
    record = run / "tuned.json"
    known, of = read_known(record), {"step": best_step, "tests": _tests(data)}
    if known.get("of") != of:
        translator = load(run)
        penalties = sorted({training.length_penalty, *LENGTH_PENALTIES})
        ways = {each: training.model_copy(update={"length_penalty": each}) for each in penalties}
        on_dev = {each: dev_bleu(translator, data, way) for each, way in ways.items()}
        best = max(on_dev, key=on_dev.__getitem__)
        known = {
            "length_penalty": best,
            "dev_bleu": on_dev[best],
            "tests": score_tests(translator, data, ways[best], run / "tuned"),
            "of": of,
        }
        write_json(known, record)
    return _without_of(known)


def scores(
    translator: Translator, data: DataConfig, training: TrainConfig, folder: Path
) -> dict[str, Any]:
    """BLEU on the development set and the test sets, whose translations go to `folder`."""
    return {
        "dev_bleu": dev_bleu(translator, data, training),
        "tests": score_tests(translator, data, training, folder),
    }


def dev_bleu(translator: Translator, data: DataConfig, training: TrainConfig) -> float:
    """BLEU on the development set, as validation computes it."""
    prepared = load_prepared(data)
    source, references = prepared.dev_source, prepared.dev_references
    _, score = translate_and_score(translator, source, references, data, training)
    return score.value


def _tests(data: DataConfig) -> Any:
    """The test sets of a config, which may change when training is done, as may their text."""
    return [data.model_dump(mode="json")["test"], references_of(data)]


def _without_of(known: dict[str, Any]) -> dict[str, Any]:
    """What goes into the result: not what the record is a record of."""
    return {key: value for key, value in known.items() if key != "of"}
