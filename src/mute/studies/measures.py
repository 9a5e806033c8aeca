"""What is measured in trained models, when the runs of a study are finished.

A measure adds columns to the rows of the study's table (a value for each system), or further rows
(scores of models that were made from trained ones). It needs the run folders; what it finds goes
to `measures.json` among the results, and the tables are made from that.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mute.config import DataConfig, Experiment, TrainConfig
from mute.data.prepared import load_prepared
from mute.errors import install
from mute.model.folder import load_model, model_folder, save_model
from mute.model.fusion import LearnedOrder
from mute.model.layer import multi_unit_layers
from mute.model.transformer import Transformer
from mute.result import RESULT
from mute.runtime import choose_device
from mute.studies.definitions import SEQ, Study
from mute.studies.grid import RUNS
from mute.studies.results import read_json, results_folder, write_json
from mute.studies.runner import Tell
from mute.studies.variants import dev_bleu, scores
from mute.translate.loading import load
from mute.translate.translator import Translator

FILE = "measures.json"
_ROUNDS = 3
_BATCH, _BATCHES = 30, 10
_FEW_UNITS = 4  # whose orders, 24 at the most, are all tried

Results = dict[str, list[dict[str, Any]]]
"""By system, in order of the seeds."""


@dataclass
class Measured:
    """What goes into the table."""

    columns: dict[str, dict[str, float]] = field(default_factory=dict)
    """By system, then by heading."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """Each with a label and, for every seed, scores: dev_bleu and tests."""

    def add(self, system: str, values: Mapping[str, float]) -> None:
        """Put further columns into a system's row."""
        self.columns.setdefault(system, {}).update(values)


@dataclass(frozen=True)
class Trained:
    """The models of a study on a task."""

    study: Study
    task: str
    results: Results

    def label(self, system: str) -> str:
        """What tables call it."""
        return next(each.label for each in self.study.systems if each.name == system)

    @property
    def folder(self) -> Path:
        """For models that are made from trained ones, and their translations."""
        return RUNS / "study" / self.study.name / self.task

    def firsts(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every system with its first result."""
        return ((system, each[0]) for system, each in self.results.items() if each)


def measure(trained: Trained, tell: Tell) -> None:
    """Measure what the study asks for, unless the same models were measured before.

    Results may come from several machines; where some of their models are not here, that is told
    and nothing is measured.
    """
    file = results_folder(trained.study.name, trained.task) / FILE
    of = _fingerprints(trained.results)
    if not trained.study.measures or (file.is_file() and read_json(file)["of"] == of):
        return
    if missing := _without_models(trained.results):
        what = " and ".join(name.replace("_", " ") for name in trained.study.measures)
        tell(
            f"not measured: {what}, which needs models that are not here, or are of another run "
            f"now: {', '.join(missing)}"
        )
        return
    from mute.studies.figures import can_draw  # which reads what is measured here

    if "attention" in trained.study.measures and not can_draw():
        tell(f"not drawn: attention, which needs matplotlib; {install('plots')} gets it")
        return
    found = Measured()
    for name in trained.study.measures:
        MEASURES[name](trained, found)
    write_json({"of": of, **asdict(found)}, file)


def up_to_date(measured: dict[str, Any], results: Results) -> dict[str, Any]:
    """Of what was measured, that which is still of the runs that there are now.

    A column is of a system's first run, a further row of all runs that were there when it was made.
    """
    now, then = _fingerprints(results), measured.get("of", {})
    firsts = {system: f"{system}-seed{each[0]['seed']}" for system, each in results.items() if each}
    columns = {
        system: values
        for system, values in measured.get("columns", {}).items()
        if system in firsts and then.get(firsts[system]) == now[firsts[system]]
    }
    same = all(now.get(run) == fingerprint for run, fingerprint in then.items())
    return {"columns": columns, "rows": measured.get("rows", []) if same else []}


def _fingerprints(results: Results) -> dict[str, list[Any]]:
    """What tells a run's model from any other, and what it was scored on, by the run."""
    return {
        f"{system}-seed{result['seed']}": [
            *(result["best"]["step"], result["best"]["dev_bleu"]),
            *(test["hypotheses"] for test in result["tests"].values()),
            *(test["references"] for test in result["tests"].values() if "references" in test),
        ]
        for system, each in results.items()
        for result in each
    }


def _without_models(results: Results) -> list[str]:
    """The folders of runs whose results are here and whose models are not."""
    runs = [(_run(result)[0], result) for each in results.values() for result in each]
    return [str(folder) for folder, result in runs if not _is_of(folder, result)]


def _is_of(folder: Path, result: dict[str, Any]) -> bool:
    """Whether a folder has the model of a result, and not that of a run made anew since."""
    own = folder / RESULT
    if model_folder(folder) == folder or not own.is_file():
        return False
    left = read_json(own)
    both = left["tests"].keys() & result["tests"].keys()  # test sets may be added, or taken back
    return bool(left["best"] == result["best"]) and all(
        left["tests"][test]["hypotheses"] == result["tests"][test]["hypotheses"] for test in both
    )


def _run(result: dict[str, Any]) -> tuple[Path, DataConfig, TrainConfig]:
    config = Experiment.model_validate(result["config"])
    return Path(config.train.run), config.data, config.train


def across_seeds(trained: Trained, found: Measured) -> None:
    """Average the weights of all seeds, as Table 5 does, and their predictions: an ensemble."""
    for system, results in trained.results.items():
        if len(results) < 2:
            continue
        runs = [_run(result)[0] for result in results]
        _, data, training = _run(results[0])
        folder = trained.folder / f"{system}-across-seeds"
        models = [load_model(run) for run in runs]
        first, weights = models[0], _mean_weights([model.network for model in models])
        save_model(folder, first.network.config, weights, first.tokenizer, first.max_length)
        ways = {"average": load(folder), "ensemble": load(*runs)}
        for way, translator in ways.items():
            found.rows.append(
                {
                    "label": f"{trained.label(system)}, {way} of {len(runs)} seeds",
                    "scores": [scores(translator, data, training, folder / way)],
                }
            )


def _mean_weights(models: Sequence[Transformer]) -> dict[str, Tensor]:
    by_name = [dict(model.named_parameters()) for model in models]
    return {
        name: torch.stack([each[name].detach() for each in by_name]).mean(0) for name in by_name[0]
    }


def diversity(trained: Trained, found: Measured) -> None:
    """How differently the units of a layer work on the development set's sentences."""
    from mute.analysis.diversity import PARTS, measure_diversity
    from mute.analysis.sentences import batches, encode_sentences

    for system, result in trained.firsts():
        run, data, _ = _run(result)
        model, tokenizer, max_length = load_model(run)
        lines = load_prepared(data).dev_source
        sentences, _ = encode_sentences(tokenizer, lines, max_length)
        measured = measure_diversity(model, batches(sentences, torch.device("cpu")))
        overall = measured.overall if measured else {}
        found.add(
            system, {heading: overall[part] for part, heading in PARTS.items() if part in overall}
        )


def speed(trained: Trained, found: Measured) -> None:
    """Target tokens per second, with the paper's beam of 4, asked for 30 sentences at a time.

    The models take turns, so that a machine that is slow for a while is so for all of them.
    """
    models = {system: load(_run(result)[0]) for system, result in trained.firsts()}
    _, data, _ = _run(next(trained.firsts())[1])
    lines = load_prepared(data).dev_source[: _BATCH * _BATCHES]
    speeds: dict[str, list[float]] = {system: [] for system in models}
    for number in range(1 + _ROUNDS):
        for system, translator in models.items():
            tokens_per_second = _speed(translator, lines)
            if number:  # the first round is to warm up
                speeds[system].append(tokens_per_second)
    for system, measured in speeds.items():
        found.add(system, {"tokens/s": statistics.median(measured)})


def _speed(translator: Translator, lines: Sequence[str]) -> float:
    started, tokens = time.perf_counter(), 0
    for start in range(0, len(lines), _BATCH):
        translations = translator.translate(lines[start : start + _BATCH], beam=4)
        tokens += sum(len(translation.tokens) for translation in translations)
    return tokens / (time.perf_counter() - started)


def orders(trained: Trained, found: Measured) -> None:
    """The learned order made a true one, and, for few units, every order of all layers.

    Orders are tried on the trained model: M is replaced, and nothing is trained again.
    """
    rounded, best, rest = [], [], []
    for result in trained.results[SEQ.name]:
        run, data, training = _run(result)
        rounded.append(scores(_rounded(run), data, training, run / "rounded"))
        units = result["config"]["model"]["units"]
        if units > _FEW_UNITS:
            continue
        by_order = {
            order: dev_bleu(_ordered(run, order), data, training)
            for order in permutations(range(units))
        }
        chosen = max(by_order, key=by_order.__getitem__)
        best.append(scores(_ordered(run, chosen), data, training, run / "reordered"))
        rest.append({"dev_bleu": statistics.mean(by_order.values()), "tests": {}})
    label = trained.label(SEQ.name)
    if rounded:
        found.rows.append({"label": f"{label}, rounded at the end", "scores": rounded})
    if best:
        same = f"{label}, then one order in all layers"
        found.rows.append({"label": f"{same}: the best on dev", "scores": best})
        found.rows.append({"label": f"{same}: mean of all", "scores": rest})


def _rounded(run: Path) -> Translator:
    model, tokenizer, max_length = load_model(run)
    model.round_()
    return Translator(model.to(choose_device()), tokenizer, max_length)


def _ordered(run: Path, order: tuple[int, ...]) -> Translator:
    """A trained model with the units of every encoder layer in a given order."""
    model, tokenizer, max_length = load_model(run)
    for layer in multi_unit_layers(model.encoder.layers):
        if isinstance(layer.fusion, LearnedOrder):
            layer.fusion.set_order_(order)
    return Translator(model.to(choose_device()), tokenizer, max_length)


def attention(trained: Trained, found: Measured) -> None:  # noqa: ARG001 (no number to add)
    """Draw each unit's attention to the first sentence that is easily read, beside the runs.

    Results hold no sentences of a corpus, so these figures are not among them.
    """
    from mute.analysis.maps import attention_maps, choose_lines
    from mute.studies.figures import attention_figures

    maps = {}
    for system, result in trained.firsts():
        run, data, _ = _run(result)
        model, tokenizer, max_length = load_model(run)
        lines = load_prepared(data).dev_source
        chosen = choose_lines("", lines, tokenizer, max_length)[:1]
        for each in attention_maps(model, tokenizer, lines, chosen):
            maps[system] = (each.tokens, each.weights)
    attention_figures(maps, trained.folder)


MEASURES: dict[str, Callable[[Trained, Measured], None]] = {
    "across_seeds": across_seeds,
    "attention": attention,
    "diversity": diversity,
    "orders": orders,
    "speed": speed,
}
