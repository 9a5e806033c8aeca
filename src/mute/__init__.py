"""Multi-Unit Transformers for machine translation."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mute.mkl import use_wide_registers

if TYPE_CHECKING:
    from mute.config import Config, ModelConfig, UnitsConfig
    from mute.configfile import load_config
    from mute.errors import MuteError
    from mute.model.parameters import parameter_count
    from mute.model.transformer import build
    from mute.translate.loading import load

__version__ = "0.1.0.dev0"

use_wide_registers()  # here, since nothing of mute can import torch before

# Loaded when first used: `import mute` and `mute --help` must not wait for torch.
_HOMES = {
    "Config": "mute.config",
    "ModelConfig": "mute.config",
    "UnitsConfig": "mute.config",
    "load_config": "mute.configfile",
    "MuteError": "mute.errors",
    "build": "mute.model.transformer",
    "load": "mute.translate.loading",
    "parameter_count": "mute.model.parameters",
}

__all__ = [
    "Config",
    "ModelConfig",
    "MuteError",
    "UnitsConfig",
    "__version__",
    "build",
    "load",
    "load_config",
    "parameter_count",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mute' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
