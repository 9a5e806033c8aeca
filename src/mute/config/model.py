"""The section `model`: what is trained."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from mute.config.strict import Probability, Strict

BiasKind = Literal["identity", "swap", "disorder", "mask"]
BIASES: tuple[BiasKind, ...] = get_args(BiasKind)
Preset = Literal["tiny", "small", "base", "big"]

# The numbers behind a preset's name; "base" and "big" are the paper's.
PRESETS: Mapping[str, Mapping[str, int]] = {
    "tiny": {"encoder_layers": 4, "decoder_layers": 4, "d_model": 128, "d_ffn": 256, "heads": 4},
    "small": {"encoder_layers": 6, "decoder_layers": 6, "d_model": 256, "d_ffn": 1024, "heads": 4},
    "base": {"encoder_layers": 6, "decoder_layers": 6, "d_model": 512, "d_ffn": 2048, "heads": 8},
    "big": {"encoder_layers": 6, "decoder_layers": 6, "d_model": 1024, "d_ffn": 4096, "heads": 16},
}


class UnitsConfig(Strict):
    """The units of every layer of one stack."""

    units: int = Field(1, ge=1, le=1000)
    """How many units run in parallel; one unit is the plain Transformer."""
    unit: str = "attention"
    """The kind of unit: attention, convolution, or a name registered in `mute.model.units`."""
    shared: Literal["none", "attention", "ffn"] = "none"
    """What the units of a layer have in common; each owns the rest."""
    # A list is welcome from Python and YAML alike; what is kept is a tuple, so a config is a value.
    bias: Annotated[Sequence[BiasKind], AfterValidator(tuple)] = ()
    """The noise each unit sees its input through in training; units not named see it clean."""
    sample_rate: float = Field(0.85, ge=0, le=1)
    """How often the bias acts: one draw for every layer and batch, common to its units."""
    sequential: bool = False
    """Put the units into an order and accumulate their outputs."""
    order: Literal["learned", "fixed"] = "learned"
    """The order: found by a learned permutation, as in the paper, or the one they are listed in."""
    drop_branch: Probability = 0.0
    """How often a unit is left out of a batch in training, its residual path kept."""

    @model_validator(mode="after")
    def _units_fit_together(self) -> Self:
        if len(self.bias) > self.units:
            raise ValueError(
                f"bias names {len(self.bias)} units, but there are only {self.units}; "
                f"shorten the list or raise units"
            )
        if self.units == 1 and self.sequential:
            raise ValueError("sequential needs at least two units to put into an order")
        if self.order != "learned" and not self.sequential:
            raise ValueError(f"order: {self.order} needs sequential: true; else nothing is ordered")
        if self.units == 1 and self.shared != "none":
            raise ValueError(f"shared: {self.shared} needs at least two units that could share it")
        return self


class ModelConfig(UnitsConfig):
    """The whole model. The unit settings at this level are the encoder's, as in the paper."""

    preset: Preset = "base"
    """The shape to start from; any of the five numbers below, given explicitly, wins."""
    encoder_layers: int = Field(6, ge=1, le=1000)
    """Layers that read the source."""
    decoder_layers: int = Field(6, ge=1, le=1000)
    """Layers that write the target."""
    d_model: int = Field(512, ge=1, le=65536)
    """The width: numbers per word between the layers. A multiple of heads."""
    d_ffn: int = Field(2048, ge=1, le=262144)
    """The inner width of a feed-forward network."""
    heads: int = Field(8, ge=1)
    """Heads of every attention."""
    dropout: Probability = 0.1
    """On the embeddings and on every sub-layer's output."""
    attention_dropout: Probability = 0.0
    """On the weights of attention; convolution units have it in cross-attention alone."""
    activation_dropout: Probability = 0.0
    """Between the two halves of a feed-forward network."""
    sinusoidal_positions: bool = True
    """Add sines and cosines of the position to the embeddings."""
    relative_positions: int = Field(16, ge=0, le=10_000)
    """The distance at which relative positions on keys and values of attention are clipped; 0 for
    none."""
    share_embeddings: bool = False
    """One table for source and target; needs a joint vocabulary."""
    tie_output: bool = True
    """The output layer reuses the target embedding."""
    decoder: UnitsConfig = UnitsConfig()
    """The same settings for the decoder's units; one plain unit in the paper."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in_the_preset(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return {**PRESETS.get(str(values.get("preset", "base")), {}), **values}

    @model_validator(mode="after")
    def _shape_is_possible(self) -> Self:
        if self.d_model % self.heads:
            raise ValueError(f"d_model ({self.d_model}) is not divisible by heads ({self.heads})")
        if self.sinusoidal_positions and self.d_model % 2:
            raise ValueError(f"sinusoidal_positions need an even d_model, not {self.d_model}")
        leaking = sorted({"swap", "disorder"} & set(self.decoder.bias))
        if leaking:
            raise ValueError(
                f"decoder.bias cannot be {' or '.join(leaking)}: moving a word to the left shows "
                f"the decoder the future; identity and mask are possible"
            )
        return self
