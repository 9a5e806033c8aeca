"""Everything that `mute bench` measures, in one run."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from mute.bench.material import open_material
from mute.bench.memory import check_the_model_fits, forget_peak, memory_room
from mute.bench.peak import measure_peak
from mute.bench.training import TimedTrainer, TrainingSpeed, measure_training
from mute.bench.translating import TranslationSpeed, measure_translation
from mute.config import Config, TrainConfig
from mute.model.kernels import missed
from mute.model.parameters import parameter_count
from mute.runtime import choose_device, keep_freed_memory


@dataclass(frozen=True)
class Machine:
    """Where it was measured."""

    device: str
    threads: int
    torch: str
    peak_gflops: float
    """Of large float32 matrix products."""


@dataclass(frozen=True)
class Subject:
    """What was measured."""

    parameters: int
    vocabulary: tuple[int, int]
    prepared: bool
    """Whether on the config's own data; else on random sentences."""


@dataclass(frozen=True)
class Measurement:
    """The speed of a config on a machine."""

    machine: Machine
    model: Subject
    training: TrainingSpeed
    translation: list[TranslationSpeed]
    complaints: list[str]
    """What could not be measured here, and why; what would be faster."""


def measure(
    config: Config,
    steps: int,
    sizes: tuple[int, int] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Measurement:
    """Measure peak, training and translation.

    Args:
        config: its model and, if it has them, its settings for training and its data
        steps: of training
        sizes: of the vocabularies of random sentences; None for the prepared data, if any
        tell: hears what is being done

    Raises:
        MuteError: the data was prepared with other settings, or there is too little memory.
    """
    keep_freed_memory()
    device = choose_device()
    training = config.train or TrainConfig(run="none")  # nothing is written there
    material = open_material(config, training, device, sizes)
    parameters = parameter_count(config.model, material.sizes)
    check_the_model_fits(parameters, training, memory_room(device))
    tell("measuring the machine's peak")
    peak = measure_peak(device)
    forget_peak(device)
    tell(f"training {steps} steps")
    trainer = TimedTrainer(config.model, training, material)
    trained = measure_training(trainer, material, steps, peak)
    tell("translating")
    translated, complaints = measure_translation(trainer.model, material, peak)
    return Measurement(
        Machine(_name(device), torch.get_num_threads(), torch.__version__, peak),
        Subject(parameters, material.sizes, material.prepared),
        trained,
        translated,
        [*missed(device), *complaints],
    )


def _name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU with {torch.backends.cpu.get_cpu_capability()}"
