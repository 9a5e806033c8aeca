"""One experiment: a config, its prepared data and its run folder, to a trained model."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mute.config import DataConfig, Experiment, TrainConfig
from mute.data.batching import BatchStream, make_batch
from mute.data.prepared import Prepared, load_prepared
from mute.data.report import LONGEST_IN_LOSS
from mute.data.sampling import SampledPairs
from mute.data.scored import read_scored
from mute.data.shards import Pairs
from mute.data.tokenizer import Tokenizer, same_vocabulary
from mute.errors import MuteError, Stopped
from mute.model.folder import load_model, save_model
from mute.model.parameters import parameter_count
from mute.model.proximal import start_from_single_unit
from mute.model.transformer import Transformer, build
from mute.result import translate_and_score, write_result
from mute.runtime import keep_freed_memory
from mute.train.checkpoint import TrainState, checkpoints
from mute.train.folder import alone_in, check_run_folder, claim_run_folder
from mute.train.group import Group, join_group, leave_group
from mute.train.interruption import telling_of_memory
from mute.train.objective import Objective
from mute.train.trainer import Trainer, Validator
from mute.translate.translator import Translator


def train(config: Experiment) -> TrainState:
    """Train the config's model, or go on where the run folder's last checkpoint stands.

    Raises:
        MuteError: the config's data is not prepared, a test set cannot be read, or the run folder
            is of another experiment or of other data, or another process is at it.
        Stopped: SIGTERM or Ctrl-C asked for it; what was trained is saved.
    """
    keep_freed_memory()
    group = join_group()
    try:
        prepared = group.together(lambda: load_prepared(config.data))
        with ExitStack() as stack:
            group.lead(lambda: check_tests(config.data))
            group.lead(lambda: stack.enter_context(alone_in(Path(config.train.run))))
            return _train(config, prepared, group)
    finally:
        leave_group()


def _train(config: Experiment, prepared: Prepared, group: Group) -> TrainState:
    data, training = config.data, config.train
    run, tokenizer = Path(training.run), prepared.tokenizer
    model = group.together(lambda: _new_model(config, tokenizer, group.device))
    stream = group.together(lambda: batch_stream(prepared, data, training))
    measure = group.together(lambda: validator(prepared, data, training))
    trainer = Trainer(model, training, group, stream, line_namer(prepared.train))
    group.lead(lambda: check_run_folder(run, config, prepared.digest))
    complaints = trainer.resume()
    lost = group.lead(lambda: trainer.state.best_step > 0 and not _has_model(run))
    if group.follow(float(bool(lost))):
        trainer.forget_best()
        complaints.append(
            f"{run / 'model'}: the best model so far is gone or damaged; the next validation "
            f"leaves another"
        )
    # Only now: a config that could not start, or go on, may be mended.
    group.lead(lambda: claim_run_folder(run, config, prepared.digest))

    def keep_best(best: Mapping[str, Tensor]) -> None:
        save_model(run / "model", config.model, best, tokenizer, prepared.longest_source)

    state = trainer.fit(measure, keep_best, complaints)
    if trainer.stopping:
        raise Stopped
    if group.leads:
        write_result(config, prepared.digest, state)
    return state


def _has_model(run: Path) -> bool:
    """Whether the best model of a run can be read."""
    try:
        load_model(run / "model")
    except MuteError:
        return False
    return True


def _new_model(config: Experiment, tokenizer: Tokenizer, device: torch.device) -> Transformer:
    """The model with the weights that its training starts from."""
    training = config.train
    torch.manual_seed(training.seed)  # before it is built: its start is part of a run
    sizes = tokenizer.source_size, tokenizer.target_size
    parameters = parameter_count(config.model, sizes)
    with telling_of_memory(f"out of memory for a model of {parameters:,} parameters; shrink it"):
        model = build(config.model, sizes)
        if training.start_from and not checkpoints(Path(training.run) / "checkpoints"):
            start_from(model, tokenizer, training.start_from)
        return model.to(device)


def check_tests(data: DataConfig) -> None:
    """Read the test sets: what is wrong with them had better be told before days of training.

    Raises:
        MuteError: a file is missing, or a line of it cannot be scored.
    """
    for text in data.test.values():
        read_scored(text)


def start_from(model: Transformer, tokenizer: Tokenizer, folder: str) -> None:
    """Start all units of a model from a trained single-unit one.

    Raises:
        MuteError: the two differ in more than their units, or in their vocabularies.
    """
    single = load_model(folder)
    if not same_vocabulary(single.tokenizer, tokenizer):
        raise MuteError(f"train.start_from: {folder} has another vocabulary")
    try:
        start_from_single_unit(model, single.network)
    except MuteError as error:
        raise MuteError(f"train.start_from: {folder}: {error}") from None


def frequencies(
    data: DataConfig, corpus: Pairs
) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """How often each pair is seen in an epoch; None if all are seen once."""
    if all(text.weight == 1 for text in data.train):
        return None
    return np.concatenate(
        [
            np.full(len(pairs), text.weight)
            for text, pairs in zip(data.train, corpus.corpora, strict=True)
        ]
    )


def batch_stream(prepared: Prepared, data: DataConfig, training: TrainConfig) -> BatchStream:
    """The batches of the training pairs: as they are, or cut into other pieces in every epoch."""
    pairs, seed = prepared.train, training.seed

    def sample(epoch: int) -> SampledPairs:
        return SampledPairs(pairs, prepared.tokenizer, data.sampling, seed, epoch)

    sampled = sample if data.sampling else None
    return BatchStream(pairs, training.batch_tokens, seed, frequencies(data, pairs), sampled)


def line_namer(corpus: Pairs) -> Callable[[int], str]:
    """A function that says where a pair comes from: 'train.en:17'."""

    def name(index: int) -> str:
        file, line = corpus.line(index)
        return f"{file}:{line}"

    return name


def validator(prepared: Prepared, data: DataConfig, training: TrainConfig) -> Validator:
    """What measures a model on the development set: its loss, and its BLEU as a user sees it.

    BLEU counts all references, the loss the first, and no pair that is longer than any memory; of
    those `mute prepare` has told.

    Raises:
        MuteError: all pairs are.
    """
    corpus = prepared.dev
    lengths = np.maximum(*corpus.lengths)
    short = lengths <= LONGEST_IN_LOSS
    if not short.any():
        raise MuteError(
            f"data.dev: every pair has more than {LONGEST_IN_LOSS:,} pieces; cut it into sentences"
        )
    # The longest has to fit; one that is left out must not make the batches of all others larger.
    budget = max(training.batch_tokens, int(lengths[short].max()) + 1)
    once = None if short.all() else short.astype(np.float64)
    batches = list(BatchStream(corpus, budget, seed=0, weights=once).epoch(0))
    source, references = prepared.dev_source, prepared.dev_references

    @torch.inference_mode()
    def validate(model: Transformer) -> dict[str, float]:
        objective = Objective(model).eval()
        device = next(model.parameters()).device
        loss, tokens = 0.0, 0
        for indices in batches:
            batch = make_batch(corpus, indices)
            loss += float(objective(batch.to(device)).likelihood)
            tokens += batch.target_tokens
        translator = Translator(model, prepared.tokenizer, prepared.longest_source)
        _, score = translate_and_score(translator, source, references, data, training)
        return {"loss": loss / tokens, "bleu": score.value}

    return validate
