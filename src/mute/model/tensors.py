"""Writing tensors to the disk, which may be full."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor


def save_tensors(
    tensors: Mapping[str, Tensor], path: Path, metadata: dict[str, str] | None = None
) -> None:
    """Write a safetensors file, with the rights that other files get.

    Raises:
        OSError: the disk is full or refuses.
    """
    try:
        save_file({name: value.contiguous() for name, value in tensors.items()}, path, metadata)
    except SafetensorError as error:  # what safetensors makes of an OSError
        raise OSError(errno.EIO, str(error), str(path)) from None
    # safetensors writes for the owner alone, whatever the umask says; a model is for its users.
    path.chmod(0o666 & ~_umask())


def _umask() -> int:
    """What new files may not allow; to look is to set it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
