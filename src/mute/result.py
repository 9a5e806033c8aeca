"""What a finished run leaves for tables and figures: a small JSON, `result.json`."""

import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from mute import __version__
from mute.config import DataConfig, Experiment, ParallelText, TrainConfig
from mute.data.prepared import write_sentences
from mute.data.scored import read_scored
from mute.data.words import words_of
from mute.evaluate.score import Score, bleu, tokenization_for
from mute.files import write_whole
from mute.model.fusion import Fusion, SequentialFusion
from mute.model.layer import multi_unit_layers
from mute.model.transformer import Transformer
from mute.runtime import source_commit
from mute.train.checkpoint import TrainState
from mute.train.log import read_log
from mute.translate.loading import load
from mute.translate.render import as_text
from mute.translate.translator import Translator

T = TypeVar("T")
RESULT, HYPOTHESES = "result.json", "hypotheses"
"""The folder in a run folder with the best model's translations of the test sets."""


def write_result(config: Experiment, digest: str, state: TrainState) -> None:
    """Score the best model on the config's test sets, and write down all that is known of it.

    Args:
        config: of the run
        digest: of the prepared data that it was trained on
        state: at its end
    """
    run = Path(config.train.run)
    translator = load(run)
    weights = translator.models[0].parameters()
    result = {
        "config": config.model_dump(mode="json"),
        "text": digest,
        "version": __version__,
        "commit": source_commit(),
        "parameters": sum(each.numel() for each in weights if each.requires_grad),
        "steps": state.step,
        "refused_steps": state.bad_steps,
        "batches_per_step": state.batches_per_step,
        "best": {"step": state.best_step, "dev_bleu": state.best_score},
        "tests": score_tests(translator, config.data, config.train, run / HYPOTHESES),
        "units": _units(translator.models[0]),
        "curve": curve_of(run),
    }
    write_whole(json.dumps(result, indent=1) + "\n", run / RESULT)


def score_tests(
    translator: Translator, data: DataConfig, training: TrainConfig, folder: Path
) -> dict[str, dict[str, Any]]:
    """Translate every test set into a file of `folder`, and score it."""
    folder.mkdir(parents=True, exist_ok=True)
    return {
        name: _score(translator, text, data, training, hypotheses_file(folder, name))
        for name, text in data.test.items()
    }


def are_scored(tests: Mapping[str, Mapping[str, Any]], data: DataConfig, folder: Path) -> bool:
    """Whether scores are of the translations in `folder` and of the references as they are now."""
    scored = {name: score.get("references") for name, score in tests.items()}
    there = all(hypotheses_file(folder, name).is_file() for name in data.test)
    return there and scored == references_of(data)


def references_of(data: DataConfig) -> dict[str, str]:
    """A digest of every test set's references, which somebody may correct."""
    return {name: _digest(*read_scored(text).references) for name, text in data.test.items()}


def hypotheses_file(folder: Path, test: str) -> Path:
    """Where the translations of a test set are, a line each."""
    return folder / f"{test.replace('/', '-')}.txt"


def by_bleu(
    measure: Callable[..., T],
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    data: DataConfig,
) -> T:
    """What `bleu`, or another that is called as it is, says of text in the form that is scored.

    Args:
        measure: called with translations, references, and how sacrebleu is to take them
        hypotheses: the translations, line by line
        references: a list of as many sentences for each reference
        data: how words are cut, and whether case counts
    """
    tokens = data.scored_as == "tokens"
    return measure(
        _as_scored(hypotheses, data),
        [_as_scored(reference, data) for reference in references],
        tokenize="none" if tokens else tokenization_for(data.tokenizer, data.target),
        lowercase=data.tokenizer.lowercase,
    )


def _as_scored(lines: Sequence[str], data: DataConfig) -> list[str]:
    """Translations or references as BLEU is to see them: as they are, or their tokens."""
    if data.scored_as == "text":
        return list(lines)
    words = words_of(data.target, data.tokenizer)
    return [" ".join(words.split(line)) for line in lines]


def translate_and_score(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[Sequence[str]],
    data: DataConfig,
    training: TrainConfig,
) -> tuple[list[str], Score]:
    """Translate as the config says, and score as a user sees it.

    Args:
        translator: of the model
        sources: sentences
        references: a list of as many sentences for each reference
        data: how words are cut, and whether case counts
        training: how the search goes

    Returns:
        the translations, and their BLEU
    """
    translations = translator.translate(sources, training.beam, training.length_penalty)
    hypotheses = [as_text(translation) for translation in translations]
    score = by_bleu(bleu, hypotheses, references, data)
    if data.scored_as == "tokens":  # that are ours, which sacrebleu cannot know
        score = replace(score, signature=score.signature.replace("tok:none", "tok:moses"))
    return hypotheses, score


def _score(
    translator: Translator, text: ParallelText, data: DataConfig, training: TrainConfig, file: Path
) -> dict[str, Any]:
    pairs, references = read_scored(text)
    sources = [pair.source for pair in pairs]
    hypotheses, score = translate_and_score(translator, sources, references, data, training)
    write_sentences(hypotheses, file)
    return {
        "bleu": score.value,
        "signature": score.signature,
        "hypotheses": _digest(hypotheses),
        "references": _digest(*references),
    }


def _digest(*texts: Sequence[str]) -> str:
    lines = (line for text in texts for line in text)
    return blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


def _units(model: Transformer) -> dict[str, list[dict[str, Any]]]:
    """How the layers of each stack weigh and order their units, where there are several."""
    stacks = {"encoder": model.encoder.layers, "decoder": model.decoder.layers}
    fusions = {
        name: [layer.fusion for layer in multi_unit_layers(layers)]
        for name, layers in stacks.items()
    }
    several = {name: each for name, each in fusions.items() if len(each[0].alpha) > 1}
    return {name: [_fusion(fusion) for fusion in each] for name, each in several.items()}


def _fusion(fusion: Fusion) -> dict[str, Any]:
    facts: dict[str, Any] = {"alpha": fusion.alpha.tolist(), "coefficients": fusion().tolist()}
    if isinstance(fusion, SequentialFusion):
        facts |= {"matrix": fusion.matrix.tolist(), "order": fusion.order()}
    return facts


def curve_of(run: Path) -> list[dict[str, Any]]:
    """The validations of a run, in order, with the mean loss of training since the one before.

    The latter is of the steps that the log tells of, through dropout and the units' noise, but for
    those that were refused because it was not finite.
    """
    curve, losses = [], []
    for record in read_log(run):
        if record["kind"] == "train":
            losses += [] if record["loss"] is None else [record["loss"]]
        elif record["kind"] == "validation":
            point = {key: record[key] for key in ("step", "loss", "bleu")}
            curve.append({**point, "train_loss": statistics.mean(losses) if losses else None})
            losses = []
    return curve
