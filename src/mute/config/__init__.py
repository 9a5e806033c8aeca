"""What a user may set: frozen, strict models with the paper's words as names.

Defaults of the model and the optimizer are the paper's settings. The files are the business of
`mute.configfile`, which also turns a failed check into a sentence with file and line.
"""

from pathlib import Path
from typing import Self

from pydantic import model_validator

from mute.config.data import DataConfig, ParallelText, TokenizerConfig
from mute.config.model import BIASES, PRESETS, BiasKind, ModelConfig, Preset, UnitsConfig
from mute.config.strict import Strict
from mute.config.training import TrainConfig

__all__ = [
    "BIASES",
    "PRESETS",
    "BiasKind",
    "Config",
    "DataConfig",
    "Experiment",
    "ModelConfig",
    "ParallelText",
    "Preset",
    "TokenizerConfig",
    "TrainConfig",
    "UnitsConfig",
]


class Config(Strict):
    """One experiment, as a YAML file holds it; a command asks for the sections it needs."""

    model: ModelConfig = ModelConfig()
    """What is trained."""
    data: DataConfig | None = None
    """The text; `mute prepare` and `mute train` need it."""
    train: TrainConfig | None = None
    """How it is trained; `mute train` needs it."""

    @model_validator(mode="after")
    def _sections_agree(self) -> Self:
        if self.model.share_embeddings and self.data and not self.data.tokenizer.joint:
            raise ValueError(
                "model.share_embeddings needs one vocabulary for both languages, but "
                "data.tokenizer.joint is false"
            )
        if self.data and self.train:
            prepared, run = (Path(each).resolve() for each in (self.data.prepared, self.train.run))
            if prepared.is_relative_to(run) or run.is_relative_to(prepared):
                raise ValueError(
                    f"train.run ({self.train.run}) and data.prepared ({self.data.prepared}) are "
                    f"one folder, or one is in the other: to prepare anew would delete the run"
                )
        return self


class Experiment(Config):
    """A config that can be trained."""

    data: DataConfig
    """The text."""
    train: TrainConfig
    """How it is trained."""
