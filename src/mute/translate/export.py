"""A model for another engine: CTranslate2, which runs plain Transformers without PyTorch.

A model whose layers have a single unit is such a Transformer, and has the same translations and
scores there. The exported folder holds the tokenizer too:

    tokenizer = mute.data.tokenizer.load_tokenizer("exported/tokenizer")
    engine = ctranslate2.Translator("exported")
    tokens = tokenizer.pieces(tokenizer.encode("A dog runs.", "source"), "source")
    (found,) = engine.translate_batch([tokens], beam_size=4, length_penalty=0)
    pieces = tokenizer.pieces(range(tokenizer.target_size), "target")
    tokenizer.decode([pieces.index(token) for token in found.hypotheses[0]], "target")

CTranslate2 itself puts the end behind the source. It has a search of its own, which differs:

- its length penalty is length ^ x, ours GNMT's ((5 + length) / 6) ^ x; so the two searches and
  their scores agree just for x = 0;
- it may choose <unk>, <pad> and <s>, as ours never does and a trained model hardly would, and
  wants at least one piece, unless `min_decoding_length` is 0;
- it cuts sources at 1,024 pieces and translations at 256, unless `max_input_length` and
  `max_decoding_length` say otherwise, and fails beyond LONGEST if positions are absolute.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mute.config import ModelConfig
from mute.data.tokenizer import Side, Tokenizer
from mute.data.vocabulary import BOS, EOS, SPECIALS, UNK
from mute.errors import MuteError, install, refusals_told
from mute.model.attention import SelfAttention
from mute.model.bank import BankLinear, BankNorm
from mute.model.decoder import Decoder
from mute.model.embedding import sinusoids
from mute.model.encoder import Encoder
from mute.model.folder import TOKENIZER
from mute.model.layer import MultiUnitLayer
from mute.model.transformer import Transformer
from mute.model.units import Units

LONGEST = 2048
"""Positions in the table of sinusoids: CTranslate2's own formula for them is another one."""
_NARROW = 8
"""The width of what a layer without effect computes; what fast kernels like is a multiple of 8."""


def export_ctranslate2(
    model: Transformer, tokenizer: Tokenizer, folder: Path, quantization: str = "float32"
) -> None:
    """Write a folder that CTranslate2 opens; one that cannot be finished is not left behind.

    Args:
        model: with one attention unit in every layer
        tokenizer: what it reads and writes with
        folder: new, or empty
        quantization: of the weights, by CTranslate2's name: float32, int8, …

    Raises:
        MuteError: the model cannot be expressed there, the folder is in use or cannot be
            written, the quantization is unknown, or CTranslate2 is not installed.
    """
    _check_units(model)
    with refusals_told(f"{folder}: cannot be written", "mend that and run the same command again"):
        _check_folder(folder)
        _write(_model_spec(model, tokenizer, quantization), tokenizer, folder.resolve())


def _check_folder(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if folder.exists():
        raise MuteError(f"{folder}: is there already; name a new or an empty folder")


def _write(spec: Any, tokenizer: Tokenizer, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as around:
        draft = Path(around) / folder.name  # the one around it is closed to other users
        tokenizer.save(draft / TOKENIZER)
        spec.save(str(draft))
        draft.rename(folder)


def _check_units(model: Transformer) -> None:
    """Refuse what is no plain Transformer."""
    instead = "use `mute translate --compute int8` instead"
    for name, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        config = model.config if name == "encoder" else model.config.decoder
        if config.units > 1:
            raise MuteError(
                f"CTranslate2 has one attention and one feed-forward network per layer, and the "
                f"{config.units} units of this model's {name} layers cannot be merged into one, "
                f"since each has a softmax and a nonlinearity of its own; {instead}"
            )
        if any(type(layer.units) is not Units for layer in stack.layers):
            raise MuteError(
                f"CTranslate2 has only layers with attention, and this model's {name} is made of "
                f"'{config.unit}' units; {instead}"
            )


def _model_spec(model: Transformer, tokenizer: Tokenizer, quantization: str) -> Any:
    """The model in CTranslate2's terms."""
    try:
        from ctranslate2.specs import model_spec, transformer_spec
    except ImportError as error:
        raise MuteError(
            f"exporting needs the package ctranslate2 ({error}): {install('export')}"
        ) from None
    known = model_spec.ACCEPTED_MODEL_TYPES
    if quantization not in known:
        raise MuteError(f"quantization {quantization}: should be one of {', '.join(known)}")

    spec = transformer_spec.TransformerSpec.from_config((0, 0), model.config.heads)
    spec.register_source_vocabulary(_names(tokenizer, "source"))
    spec.register_target_vocabulary(_names(tokenizer, "target"))
    spec.config.unk_token, spec.config.bos_token = SPECIALS[UNK], SPECIALS[BOS]
    spec.config.eos_token, spec.config.decoder_start_token = SPECIALS[EOS], SPECIALS[BOS]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = model.encoder.norm.eps
    spec.encoder.embeddings[0].weight = _array(model.encoder.embedding.tokens.weight)
    spec.decoder.embeddings.weight = _array(model.decoder.embedding.tokens.weight)
    make_encoder_layer = transformer_spec.TransformerEncoderLayerSpec
    make_decoder_layer = transformer_spec.TransformerDecoderLayerSpec
    _fill_stack(spec.encoder, model.encoder, model.config, make_encoder_layer)
    _fill_stack(spec.decoder, model.decoder, model.config, make_decoder_layer)
    _fill_linear(spec.decoder.projection, model.output)
    spec.validate()
    spec.optimize(quantization=quantization)  # also stores weights that are tied only once
    return spec


def _names(tokenizer: Tokenizer, side: Side) -> list[str]:
    """The pieces by id; CTranslate2 knows ids by them alone."""
    size = tokenizer.source_size if side == "source" else tokenizer.target_size
    names = tokenizer.pieces(range(size), side)
    if names[: len(SPECIALS)] != list(SPECIALS):
        raise MuteError(
            f"the {side} vocabulary starts with {names[: len(SPECIALS)]}, not with "
            f"{list(SPECIALS)}; the tokenizer is damaged"
        )
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise MuteError(
            f"the {side} vocabulary has '{repeated[0]}' more than once, and CTranslate2 could not "
            f"tell its ids apart; the tokenizer is damaged"
        )
    return names


def _fill_stack(
    spec: Any, stack: Encoder | Decoder, config: ModelConfig, make_layer: Callable[..., Any]
) -> None:
    """Encoder or decoder, without its words.

    CTranslate2 adds absolute positions just when its first layer has no relative ones. So a model
    with both gets a first layer that changes nothing, and one with neither gets relative positions
    that add nothing.
    """
    absolute, relative = config.sinusoidal_positions, config.relative_positions > 0
    spec.layer = [make_layer(relative_position=relative or not absolute) for _ in stack.layers]
    for layer_spec, layer in zip(spec.layer, stack.layers, strict=True):
        assert isinstance(layer, MultiUnitLayer)
        _fill_layer(layer_spec, layer)
    if absolute:
        spec.position_encodings.encodings = _array(sinusoids(0, LONGEST, stack.norm.weight))
    if absolute and relative:
        spec.layer.insert(0, make_layer(head_dim=_NARROW))
        _fill_without_effect(spec.layer[0], config)
    _fill_norm(spec.layer_norm, stack.norm)


def _fill_layer(spec: Any, layer: MultiUnitLayer) -> None:
    units, attention = layer.units, layer.units.mixer
    assert isinstance(attention, SelfAttention), "other mixers have been refused"
    assert layer.fusion().tolist() == [1], "a single unit counts fully"
    _fill_norm(spec.self_attention.layer_norm, layer.norm)
    _fill_linear(spec.self_attention.linear[0], attention.input)
    _fill_linear(spec.self_attention.linear[1], attention.output)
    if hasattr(spec.self_attention, "relative_position_keys"):
        nothing = torch.zeros(1, 1, layer.norm.weight.numel() // attention.heads)
        tables = attention.relative
        keys, values = (tables.keys, tables.values) if tables else (nothing, nothing)
        spec.self_attention.relative_position_keys = _array(keys[0])
        spec.self_attention.relative_position_values = _array(values[0])
    if units.cross is not None and units.cross_norm is not None:
        _fill_norm(spec.attention.layer_norm, units.cross_norm)
        _fill_linear(spec.attention.linear[0], units.cross.query)
        _fill_linear(spec.attention.linear[1], units.cross.memory)
        _fill_linear(spec.attention.linear[2], units.cross.output)
    _fill_norm(spec.ffn.layer_norm, units.feedforward.norm)
    _fill_linear(spec.ffn.linear_0, units.feedforward.expand)
    _fill_linear(spec.ffn.linear_1, units.feedforward.contract)


def _fill_without_effect(spec: Any, config: ModelConfig) -> None:
    """A layer whose every part adds 0 to what it was given, and is too narrow to cost much.

    Its norms give 0, and so does all that follows them. No matrix is 0 as a whole, since
    CTranslate2 divides by the largest weight when it quantizes.
    """
    d, inner = config.d_model, config.heads * _NARROW
    parts = [
        (spec.self_attention, spec.self_attention.linear, [(3 * inner, d), (d, inner)]),
        (spec.ffn, [spec.ffn.linear_0, spec.ffn.linear_1], [(_NARROW, d), (d, _NARROW)]),
    ]
    if hasattr(spec, "attention"):
        cross = spec.attention
        parts.append((cross, cross.linear, [(inner, d), (2 * inner, d), (d, inner)]))
    for part, linears, sizes in parts:
        part.layer_norm.gamma = part.layer_norm.beta = np.zeros(d, np.float32)
        for linear, size in zip(linears, sizes, strict=True):
            linear.weight, linear.bias = np.ones(size, np.float32), np.zeros(size[0], np.float32)
    if hasattr(spec, "attention"):
        spec.attention.linear[1].weight[inner:] = 0  # the memory's values, behind its keys


def _fill_linear(spec: Any, layer: nn.Linear | BankLinear) -> None:
    """A linear layer, or a bank with a single member."""
    spec.weight = _array(layer.weight.flatten(0, -2))
    spec.bias = _array(layer.bias.flatten())


def _fill_norm(spec: Any, norm: nn.LayerNorm | BankNorm) -> None:
    spec.gamma = _array(norm.weight.flatten())
    spec.beta = _array(norm.bias.flatten())


def _array(tensor: Tensor) -> NDArray[np.float32]:
    # A copy: CTranslate2 quantizes in place, and the model must stay as it is.
    return np.array(tensor.detach().float().cpu().numpy())
