"""Adam, and its moments by the names of the parameters, as a checkpoint keeps them."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from mute.config import TrainConfig

_KINDS = ("step", "exp_avg", "exp_avg_sq")


def make_optimizer(parameters: Iterable[Tensor], config: TrainConfig) -> torch.optim.Adam:
    """The paper's optimizer; the learning rate is set step by step."""
    betas = (config.betas[0], config.betas[1])
    return torch.optim.Adam(parameters, betas=betas, eps=1e-9, fused=True)


def moments(optimizer: torch.optim.Adam, model: nn.Module) -> dict[str, Tensor]:
    """{'output.weight.exp_avg': …}, of the parameters that had a step."""
    names = _learned(model)
    return {
        f"{names[index]}.{kind}": value
        for index, kinds in optimizer.state_dict()["state"].items()
        for kind, value in kinds.items()
    }


def load_moments(optimizer: torch.optim.Adam, model: nn.Module, kept: dict[str, Tensor]) -> None:
    """Go on with the moments of a checkpoint."""
    settings = optimizer.state_dict()
    settings["state"] = {
        index: {kind: kept[f"{name}.{kind}"] for kind in _KINDS}
        for index, name in enumerate(_learned(model))
        if f"{name}.step" in kept
    }
    optimizer.load_state_dict(settings)


def _learned(model: nn.Module) -> list[str]:
    return [name for name, value in model.named_parameters() if value.requires_grad]
