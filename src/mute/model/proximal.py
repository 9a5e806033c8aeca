"""Proximal initialisation (Fan et al. 2020): all units start from a trained single-unit model."""

from typing import Any

import torch
from torch import Tensor

from mute.config import ModelConfig, UnitsConfig
from mute.configdiff import differences, told
from mute.errors import MuteError
from mute.model.transformer import Transformer

_MASK = "bias.mask"


@torch.no_grad()
def start_from_single_unit(model: Transformer, single: Transformer) -> None:
    """Give every unit of `model` the weights of `single`'s only unit.

    Unit weights become equal shares of the single unit's, so the model computes exactly what
    `single` does, until training (the bias first of all) tells its units apart. What a single
    unit has no counterpart for, mask vectors and permutation matrices, keeps its fresh start; a
    mask vector that only the single one has is left behind.

    Raises:
        MuteError: the two models differ in more than their units, or the one to start from has
            several of them.
    """
    if single.config.units > 1 or single.config.decoder.units > 1:
        raise MuteError("the model to start from has several units in a layer itself")
    its, ours = ({"model": _shared_settings(each.config)} for each in (single, model))
    if differing := differences(its, ours, apart_from=()):
        raise MuteError(f"the models differ in more than their units: {told(differing)}")
    own = model.state_dict()
    for name, trained in single.state_dict().items():
        if name.endswith(_MASK) and name not in own:
            continue
        if name not in own or not _expands(trained, own[name]):
            raise MuteError(f"the models differ in more than their units: see '{name}'")
        share = own[name].size(0) if name.endswith("fusion.alpha") else 1
        own[name].copy_(trained.expand_as(own[name]) / share)
    extra = set(own) - set(single.state_dict())
    unexpected = [name for name in sorted(extra) if not name.endswith((_MASK, "matrix"))]
    if unexpected:
        raise MuteError(f"the models differ in more than their units: see '{unexpected[0]}'")


def _shared_settings(config: ModelConfig) -> dict[str, Any]:
    """What decides what a model computes, apart from how many units it has and how they mix."""
    free = {*UnitsConfig.model_fields, "decoder", "preset"} - {"unit"}
    settings = {
        key: value
        for key, value in config.model_dump(mode="json", exclude=free).items()
        if not key.endswith("dropout")
    }
    return {**settings, "decoder.unit": config.decoder.unit}


def _expands(trained: Tensor, own: Tensor) -> bool:
    """Whether one unit's parameter can be handed to all units, or a common one is the same."""
    same = trained.shape == own.shape
    return same or (trained.shape[:1] == (1,) and trained.shape[1:] == own.shape[1:])
