"""What a run will take, told before it starts."""

import time
from dataclasses import dataclass

from torch import Tensor

from mute.bench.material import Material, prepared_material
from mute.bench.memory import check_the_model_fits, forget_peak, memory_room, peak_memory
from mute.bench.training import TimedTrainer
from mute.config import Experiment, TrainConfig
from mute.model.parameters import parameter_count
from mute.runtime import choose_device, keep_freed_memory

_SHARES = (16, 8, 4, 2)  # of the largest batch: small ones go first
_PATIENCE = 30.0  # seconds of typical steps after which no further one is begun


@dataclass(frozen=True)
class Estimate:
    """Of one process; times are of training without validations, None if memory is too little."""

    parameters: int
    steps: int
    batches_per_epoch: int
    steps_per_epoch: float
    seconds_per_step: float | None
    seconds_per_epoch: float | None
    seconds_of_run: float | None
    peak_memory: int
    """Bytes, with the largest batch that the budget allows."""
    memory_room: int | None
    """Bytes that there are; None if the system does not tell."""
    checkpoint: int
    """Bytes of one."""
    disk: int
    """Bytes at the most: of the checkpoints that are kept, one that a validation or a stop made
    between them, and one that is being written; and of the model twice, while a better one
    replaces it."""
    warnings: list[str]


def estimate_run(config: Experiment, steps: int) -> Estimate:
    """Run a few steps: on the largest batch there can be, then on what the run begins with.

    Args:
        config: of the run
        steps: typical ones to measure, if they do not take too long

    Raises:
        MuteError: the config's data is not prepared, or the model alone is too large for this
            machine.
    """
    keep_freed_memory()
    training = config.train
    device = choose_device()
    material = prepared_material(config.data, training, device)
    room = memory_room(device)
    parameters = parameter_count(config.model, material.sizes)
    check_the_model_fits(parameters, training, room)
    forget_peak(device)
    trainer = TimedTrainer(config.model, training, material)
    need = _need_of_largest_batch(trainer, material, room)
    fits = room is None or need <= room
    of_step = _seconds_per_step(trainer, material, steps) if fits else None
    batches = material.stream.batches_per_epoch()
    per_epoch = batches / training.accumulate
    checkpoint = _size_of_checkpoint(trainer)
    return Estimate(
        parameters=parameters,
        steps=training.steps,
        batches_per_epoch=batches,
        steps_per_epoch=per_epoch,
        seconds_per_step=of_step,
        seconds_per_epoch=of_step and of_step * per_epoch,
        seconds_of_run=of_step and of_step * training.steps,
        peak_memory=need,
        memory_room=room,
        checkpoint=checkpoint,
        disk=checkpoint * (training.keep + 2) + 2 * 4 * parameters,
        warnings=[] if fits or room is None else [_warning(need, room, training)],
    )


def _need_of_largest_batch(trainer: TimedTrainer, material: Material, room: int | None) -> int:
    """The peak of memory: measured, or worked out from the largest share of it that surely fits."""
    length = material.longest
    sentences = -(-trainer.config.batch_tokens // length)  # shorter ones may fill what is left
    # The first step also makes the moments. Its gradients are gone in the next one's forward pass,
    # which has their memory for itself.
    gradients = sum(value.nbytes for value in trainer.parameters)
    still = _peak_after(trainer, material, 1, 2) - gradients
    for share in _SHARES:
        few = -(-sentences // share)
        of_batch = _peak_after(trainer, material, few, length) - still
        if room is not None and still + 2 * of_batch > room:  # the next is at most twice as large
            return still + of_batch * sentences // few
    return _peak_after(trainer, material, sentences, length)


def _peak_after(trainer: TimedTrainer, material: Material, sentences: int, length: int) -> int:
    # From the second batch on, the gradients of those before it are there too.
    batches = min(2, trainer.config.accumulate)
    trainer.step([material.full_batch(sentences, length)] * batches)
    return peak_memory(material.device)


def _seconds_per_step(trainer: TimedTrainer, material: Material, steps: int) -> float:
    plans = material.first_steps(steps, trainer.config.accumulate)
    started, done = time.perf_counter(), 0
    trainer.watch.restart()
    for plan in plans:
        trainer.step(material.batches(plan))
        done += 1
        if time.perf_counter() - started > _PATIENCE:
            break
    return sum(trainer.watch.read().values()) / done


def _size_of_checkpoint(trainer: TimedTrainer) -> int:
    """The bytes of all numbers that `Trainer.save` writes."""
    tensors: list[Tensor] = list(trainer.model.parameters())
    for moments in trainer.optimizer.state_dict()["state"].values():
        tensors += moments.values()
    if trainer.average:
        tensors += trainer.average.weights.values()
    return sum(tensor.nbytes for tensor in tensors)


def _warning(need: int, room: int, training: TrainConfig) -> str:
    return (
        f"training needs about {need / 1e9:.1f} GB, but there are {room / 1e9:.1f} GB: lower "
        f"train.batch_tokens ({training.batch_tokens}), and raise train.accumulate by the same "
        f"factor to keep the size of a step"
    )
