"""The order that the units of a sequential model have found or were given, and the way to it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch

from mute.model.fusion import LearnedOrder, SequentialFusion, permutation_matrix
from mute.model.layer import MultiUnitLayer
from mute.train.log import LOG, best_step, read_log

NEAR = 0.05
"""M passes for a permutation if none of its entries is further away from one."""


@dataclass(frozen=True)
class Order:
    """The order of one layer's units."""

    matrix: list[list[float]]
    """M: a row for each unit, a column for each place."""
    units: list[int]
    """The unit at each place, in the permutation nearest to M."""
    penalty: float
    """What training adds to the loss: 0 for a permutation, and for nothing else."""
    deviation: float
    """The largest difference of an entry of M from the nearest permutation's."""
    learned: bool = True
    """Whether training found it; else the units stand as they are listed, and M is the identity."""

    @property
    def is_permutation(self) -> bool:
        """Whether M is one, for all that matters."""
        return self.deviation <= NEAR


@dataclass(frozen=True)
class Course:
    """How weights and orders changed in training; every list has an entry for each step."""

    steps: list[int]
    alpha: list[list[list[float]]]
    """By step, layer and unit, or place."""
    effective: list[list[list[float]]]
    penalty: list[list[float]]
    """By step and layer."""
    best: int = 0
    """The step of the model that was kept, whose weights and orders are shown."""


def find_orders(layers: Iterable[MultiUnitLayer]) -> list[Order]:
    """The order of each layer's units; none of layers that have no order."""
    fusions = [layer.fusion for layer in layers]
    return [_order(fusion) for fusion in fusions if isinstance(fusion, SequentialFusion)]


@torch.no_grad()
def _order(fusion: SequentialFusion) -> Order:
    units = fusion.order()
    nearest = permutation_matrix(units).to(fusion.matrix)
    return Order(
        fusion.matrix.tolist(),
        units,
        float(fusion.penalty()),
        float((fusion.matrix - nearest).abs().max()),
        isinstance(fusion, LearnedOrder),
    )


def read_course(run: Path, layers: slice) -> Course | None:
    """What the log of a run says of some of its layers, the encoder's before the decoder's.

    Returns:
        None if there is no log, as in a model folder, or if it says nothing of units

    Raises:
        MuteError: the log is damaged.
    """
    if not (run / LOG).is_file():
        return None
    records = read_log(run)
    course = Course([], [], [], [], best_step(records))
    for record in records:
        if record["kind"] == "units":
            course.steps.append(record["step"])
            course.alpha.append(record["alpha"][layers])
            course.effective.append(record["coefficients"][layers])
            course.penalty.append(record["penalty"][layers])
    return course if course.steps else None
