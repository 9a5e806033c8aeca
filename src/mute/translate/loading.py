"""A translator from what training left on the disk."""

from pathlib import Path

import torch

from mute.data.tokenizer import same_vocabulary
from mute.errors import MuteError
from mute.model.folder import load_model
from mute.model.muting import Kept, keep_units
from mute.runtime import choose_device, keep_freed_memory
from mute.translate.engine import Compute
from mute.translate.shortlist import load_shortlist
from mute.translate.translator import Translator


def load(
    *models: Path | str,
    units: Kept | None = None,
    compute: Compute = "float32",
    shortlist: bool = False,
) -> Translator:
    """Open a model folder or a run folder; several are an ensemble.

    Args:
        models: at least one folder
        units: of the encoder's, those to translate with, from 0, the others muted: in every
            layer, or a mapping from layers to units
        compute: int8 is faster and nearly as good
        shortlist: choose words from those that `mute shortlist` found likely; faster still

    Raises:
        MuteError: there is no whole model, ensembled models have different vocabularies, or
            what was asked for cannot be had.
    """
    if not models:
        raise MuteError("no model to load: give a run folder or a model folder")
    keep_freed_memory()
    loaded = [load_model(model) for model in models]
    tokenizer = loaded[0].tokenizer
    for name, other in zip(models, (each.tokenizer for each in loaded), strict=True):
        if not same_vocabulary(tokenizer, other):
            raise MuteError(f"{name} has another vocabulary than {models[0]}: no ensemble")
        if tokenizer.languages != other.languages:
            raise MuteError(
                f"{name} translates {' to '.join(other.languages)}, but {models[0]} "
                f"{' to '.join(tokenizer.languages)}: no ensemble"
            )
    device = torch.device("cpu") if compute == "int8" else choose_device()
    networks = [each.network.to(device) for each in loaded]
    for network in networks:
        if units is not None:
            keep_units(network, units)
    likely = None
    if shortlist:
        sizes = tokenizer.source_size, tokenizer.target_size
        likely = load_shortlist(models[0], *sizes)
    longest = min(each.max_length for each in loaded)
    return Translator(networks, tokenizer, longest, compute, likely)
