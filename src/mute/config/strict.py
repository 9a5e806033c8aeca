"""What all sections of a config have in common."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Probability = Annotated[float, Field(ge=0, lt=1)]


def _place(name: str) -> str:
    if "\0" in name:
        raise ValueError("no folder has such a name")
    place = os.path.expanduser(name)  # noqa: PTH111 (a config holds text)
    if place.startswith("~"):
        raise ValueError("there is no home of that name; ./~name is a folder called so")
    try:
        Path(place).resolve()
    except RuntimeError as error:  # a link that leads to itself
        raise ValueError(str(error)) from None
    return place


Folder = Annotated[str, Field(min_length=1), AfterValidator(_place)]
"""A folder's name; ~ is the home, as for files."""


class Strict(BaseModel):
    """A section of the config: unknown keys, wrong types, NaN and later changes are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
