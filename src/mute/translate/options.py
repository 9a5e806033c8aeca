"""What `mute translate` can be asked for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from mute.errors import MuteError
from mute.model.muting import Kept
from mute.translate.engine import Compute

_ONLY_WITH = {
    "--temperature": "--sample",
    "--top-k": "--sample",
    "--top-p": "--sample",
    "--seed": "--sample",
    "--attention": "--json",
}
_SEARCH = (
    *("--prefix", "--beam", "--nbest", "--min-length", "--max-length", "--no-repeat"),
    *("--sample", "--attention", "--strict"),
)
# Given translations are scored exactly: in float32, over the whole vocabulary.
_NOT_WITH = {"--sample": ("--beam",), "--forced": (*_SEARCH, "--compute", "--shortlist")}


@dataclass(frozen=True)
class Options:
    """All but the files."""

    beam: int
    length_penalty: float
    nbest: int
    min_length: int
    max_length: int | None
    no_repeat: int
    sample: bool
    temperature: float
    top_k: int
    top_p: float
    seed: int
    units: Kept | None
    compute: Compute
    shortlist: bool
    strict: bool
    attention: bool
    as_json: bool
    beside: Literal["prefix", "forced"] | None
    """What the file beside the text is for, if there is one."""

    def __post_init__(self) -> None:
        if self.max_length is not None and self.min_length > self.max_length:
            raise MuteError(
                f"--min-length {self.min_length}: is more than --max-length {self.max_length}"
            )


def check_combination(given: Collection[str]) -> None:
    """Refuse options that do nothing beside each other.

    Args:
        given: those on the command line, by their long names

    Raises:
        MuteError: two do not go together, or one lacks another.
    """
    for option, needed in _ONLY_WITH.items():
        if option in given and needed not in given:
            raise MuteError(
                f"{option}: only means something with {needed}; add that, or leave this out"
            )
    for option, others in _NOT_WITH.items():
        for other in others:
            if option in given and other in given:
                raise MuteError(f"{other}: means nothing with {option}; leave one of them out")


def parse_units(words: Sequence[str]) -> Kept | None:
    """['0,2'] → [0, 2], for every layer; ['1:0,2', '3:1'] → {1: [0, 2], 3: [1]}; [] → None.

    Raises:
        MuteError: they are written in another way.
    """
    if not words:
        return None
    layers: dict[int | None, list[int]] = {}
    for word in words:
        head, colon, units = word.rpartition(":")
        try:
            layer = int(head) if colon else None
            chosen = [int(unit) for unit in units.split(",")]
        except ValueError:
            raise MuteError(
                f"--units {word}: should be units with commas between them, 0,2, or those of one "
                f"layer, 1:0,2"
            ) from None
        if layer in layers or (layers and None in (layer, *layers)):
            raise MuteError(
                f"--units {word}: give it once for all layers, or once for each with its number"
            )
        layers[layer] = chosen
    everywhere = layers.get(None)
    return everywhere or {layer: units for layer, units in layers.items() if layer is not None}
