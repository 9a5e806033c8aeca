"""The section `train`: how the model learns."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from mute.config.strict import Folder, Probability, Strict


class TrainConfig(Strict):
    """How the model learns.

    The defaults are the paper's; where it does not say (schedule, warm-up, validations), those of
    its authors' configs; the penalty's weight is theirs, 1, divided by a batch's 4,096 tokens,
    since they sum the loss over a batch and we average it. The number of steps and the average of
    the weights are ours.
    """

    run: Folder
    """The run folder: config, log, checkpoints and, from the first validation on, the model."""
    start_from: Folder | None = None
    """A trained single-unit model that all units start from: proximal initialisation."""
    seed: int = Field(1, ge=0, lt=2**63)
    """Of all that is random: the first weights, the order of the data, dropout and noise."""
    steps: int = Field(100_000, ge=1)
    """Updates of the weights until the run is done."""
    batch_tokens: int = Field(4096, ge=1)
    """The budget of one process's batch, padding included, on the longer side."""
    accumulate: int = Field(1, ge=1)
    """Batches per step, in every process. A batch has sentences of about one length; several small
    ones mix lengths, which may help with a small text."""
    schedule: Literal["noam", "inverse-sqrt"] = "noam"
    """The learning rate grows in the warm-up, then falls with the root of the step. Noam also
    divides it by the root of d_model times warmup."""
    learning_rate: float = Field(1.0, gt=0)
    """Noam's factor, or what inverse-sqrt reaches at the end of the warm-up."""
    warmup: int = Field(16_000, ge=1)
    """Steps in which the learning rate grows."""
    betas: Annotated[
        Sequence[Probability], AfterValidator(tuple), Field(min_length=2, max_length=2)
    ] = (0.9, 0.998)
    """Adam's two decay rates."""
    clip: float = Field(0.0, ge=0)
    """The largest norm of a gradient; 0 for no clipping."""
    label_smoothing: Probability = 0.1
    """The share of probability that is taken from the right word and spread over all."""
    r_drop: float = Field(0.0, ge=0)
    """R-Drop's alpha: every batch passes twice, through other dropout and other positions of the
    noise, and what the two passes predict is drawn together. Whether noise acts and which units are
    dropped is the same for both. Twice the time of a step; 0 for one pass."""
    penalty_weight: float = Field(2.5e-4, ge=0)
    """The paper's lambda, against the mean cross-entropy; about 1 / (tokens per batch)."""
    average_decay: Probability = 0.998
    """Of the exponential average of the weights, which is what gets validated; 0 for none."""
    validate_every: int = Field(5_000, ge=1)
    """Steps between two validations. There is no model before the first; one is at the end."""
    patience: int = Field(0, ge=0)
    """Stop after so many validations without a better BLEU; 0 for never."""
    keep: int = Field(5, ge=1)
    """How many of the last checkpoints of `save_every` stay. Those that were written at a
    validation or a stop do not count, and go when the next is written."""
    save_every: int = Field(1_000, ge=1)
    """Steps between two checkpoints; a run that was stopped goes on from the last."""
    beam: int = Field(4, ge=1, le=1000)
    """The width of the beam search, in validation and for the test sets."""
    length_penalty: float = Field(0.6, ge=0, le=10)
    """GNMT's exponent in the same searches; 0 for none."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Of the arithmetic; bfloat16 is mixed precision, for GPUs."""
    max_bad_steps: int = Field(10, ge=1)
    """Steps in a row with a non-finite loss or gradient after which the run stops."""

    @model_validator(mode="after")
    def _learning_rate_is_of_the_schedule(self) -> Self:
        if self.schedule == "inverse-sqrt" and "learning_rate" not in self.model_fields_set:
            raise ValueError(
                "schedule: inverse-sqrt needs a learning_rate, the highest that is reached, such "
                "as 3e-3; the default is a factor for noam"
            )
        return self
