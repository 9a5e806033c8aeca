"""One experiment: a config, its prepared data and its run folder, to a trained model."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch
import yaml
from torch import Tensor

from mute.config import Config, DataConfig, TrainConfig
from mute.configfile import load_config
from mute.data.batching import BatchStream, Corpus, make_batch
from mute.data.prepared import Prepared, load_prepared
from mute.data.sampling import SampledPairs
from mute.data.shards import Pairs
from mute.data.tokenizer import Tokenizer, same_vocabulary
from mute.errors import MuteError
from mute.evaluate.score import bleu
from mute.model.folder import load_model, save_model
from mute.model.proximal import start_from_single_unit
from mute.model.transformer import Transformer, build
from mute.result import tokenization_of, write_result
from mute.runtime import keep_freed_memory
from mute.train.checkpoint import TrainState
from mute.train.group import join_group, leave_group
from mute.train.objective import Objective
from mute.train.trainer import Trainer, Validator
from mute.translate.translator import Translator

# What may differ between a run and its resumption: how long it goes on and what it keeps.
FREE_TO_CHANGE = {
    "run",
    "steps",
    "validate_every",
    "save_every",
    "patience",
    "keep",
    "max_bad_steps",
}


def train(config: Config) -> TrainState:
    """Train the config's model, or go on where the run folder's last checkpoint stands.

    Raises:
        MuteError: the config lacks a section, its data is not prepared, or the run folder is of
            another experiment.
    """
    data, training = sections(config)
    keep_freed_memory()
    group = join_group()
    try:
        prepared = load_prepared(data)
        if group.leads:
            claim_run_folder(config, Path(training.run))
        torch.manual_seed(training.seed)  # before the model is built: its start is part of a run
        tokenizer = prepared.tokenizer
        model = build(config.model, (tokenizer.source_size, tokenizer.target_size))
        if training.start_from:
            start_from(model, tokenizer, training.start_from)
        corpus = prepared.train
        trainer = Trainer(
            model.to(group.device),
            training,
            group,
            reader(prepared, data.sampling, training.seed),
            BatchStream(corpus, training.batch_tokens, training.seed, weights(data, corpus)),
            line_namer(corpus),
        )

        def keep_best(best: Mapping[str, Tensor]) -> None:
            # What is longer than anything it was trained on is better translated in parts.
            longest = int(corpus.lengths[0].max())
            save_model(Path(training.run) / "model", config.model, best, tokenizer, longest)

        state = trainer.fit(validator(prepared, data, training), keep_best)
        if group.leads and not trainer.stopping:
            write_result(config, data, Path(training.run), state)
        return state
    finally:
        leave_group()


def sections(config: Config) -> tuple[DataConfig, TrainConfig]:
    """The two sections that training needs.

    Raises:
        MuteError: one is missing.
    """
    if config.data is None or config.train is None:
        missing = "data" if config.data is None else "train"
        raise MuteError(f"the config has no '{missing}:' section, which training needs")
    return config.data, config.train


def claim_run_folder(config: Config, run: Path) -> None:
    """Leave the config in a new run folder; in one that is there, make sure it is the same.

    Raises:
        MuteError: the run folder was made with other settings, each difference is named; or it
            cannot be made.
    """
    path = run / "config.yaml"
    if path.is_file():
        differences = _differences(_flat(load_config(path)), _flat(config))
        if differences:
            raise MuteError(
                f"{run}: this run was started with other settings: {'; '.join(differences)}. "
                f"Change them back, or choose another train.run"
            )
    draft = path.with_suffix(".writing")
    try:
        run.mkdir(parents=True, exist_ok=True)
        draft.write_text(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
        draft.replace(path)
    except OSError as error:
        raise MuteError(
            f"{run}: cannot be written to ({error.strerror}); choose another train.run"
        ) from None


def _flat(config: Config) -> dict[str, object]:
    """{'model.units': 4, …}, without what is free to change."""
    settings = {}
    for section, values in config.model_dump(mode="json").items():
        for key, value in (values or {}).items():
            if section != "train" or key not in FREE_TO_CHANGE:
                settings[f"{section}.{key}"] = value
    return settings


def _differences(old: dict[str, object], new: dict[str, object]) -> list[str]:
    keys = dict.fromkeys((*old, *new))
    return [
        f"{key} was {old.get(key)}, is {new.get(key)}"
        for key in keys
        if old.get(key) != new.get(key)
    ]


def start_from(model: Transformer, tokenizer: Tokenizer, folder: str) -> None:
    """Start all units of a model from a trained single-unit one.

    Raises:
        MuteError: the two differ in more than their units, or in their vocabularies.
    """
    single, its_tokenizer = load_model(folder)
    if not same_vocabulary(its_tokenizer, tokenizer):
        raise MuteError(f"train.start_from: {folder} has another vocabulary")
    start_from_single_unit(model, single)


def weights(data: DataConfig, corpus: Pairs) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """How often each pair is seen in an epoch; None if all are seen once."""
    if all(text.weight == 1 for text in data.train):
        return None
    return np.concatenate(
        [
            np.full(len(pairs), text.weight)
            for text, pairs in zip(data.train, corpus.corpora, strict=True)
        ]
    )


def reader(prepared: Prepared, sampling: float, seed: int) -> Callable[[int], Corpus]:
    """The training pairs of an epoch: as they are, or cut into other pieces each time."""

    def read(epoch: int) -> Corpus:
        if not sampling:
            return prepared.train
        return SampledPairs(prepared.train, prepared.tokenizer, sampling, seed, epoch)

    return read


def line_namer(corpus: Pairs) -> Callable[[int], str]:
    """A function that says where a pair comes from: 'train.en:17'."""

    def name(index: int) -> str:
        file, line = corpus.line(index)
        return f"{file}:{line}"

    return name


def validator(prepared: Prepared, data: DataConfig, training: TrainConfig) -> Validator:
    """What measures a model on the development set: its loss, and its BLEU as a user sees it.

    BLEU counts all references, the loss the first.
    """
    corpus = prepared.dev
    budget = max(training.batch_tokens, int(max(each.max() for each in corpus.lengths)) + 1)
    batches = list(BatchStream(corpus, budget, seed=0).epoch(0))
    tokenization = tokenization_of(data)
    source, references = prepared.dev_text["source"], prepared.dev_references

    @torch.inference_mode()
    def validate(model: Transformer) -> dict[str, float]:
        objective = Objective(model).eval()
        device = next(model.parameters()).device
        loss, tokens = 0.0, 0
        for indices in batches:
            batch = make_batch(corpus, indices)
            loss += float(objective(batch.to(device)).likelihood)
            tokens += batch.target_tokens
        translator = Translator(model, prepared.tokenizer)
        translations = translator.translate(source, training.beam, training.length_penalty)
        score = bleu(
            [translation.text for translation in translations],
            references,
            tokenize=tokenization,
            lowercase=data.tokenizer.lowercase,
        )
        return {"loss": loss / tokens, "bleu": score.value}

    return validate
