"""What a user may set: frozen, strict models with the paper's words as names.

Defaults of the model and the optimizer are the paper's settings. The files are the business of
`mute.configfile`, which also turns a failed check into a sentence with file and line.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    model_validator,
)

from mute.languages import is_chinese

BiasKind = Literal["identity", "swap", "disorder", "mask"]
BIASES: tuple[BiasKind, ...] = get_args(BiasKind)
Preset = Literal["tiny", "small", "base", "big"]
Probability = Annotated[float, Field(ge=0, lt=1)]

# The numbers behind a preset's name; "base" and "big" are the paper's.
PRESETS: Mapping[str, Mapping[str, int]] = {
    "tiny": {"encoder_layers": 4, "decoder_layers": 4, "d_model": 128, "d_ffn": 256, "heads": 4},
    "small": {"encoder_layers": 6, "decoder_layers": 6, "d_model": 256, "d_ffn": 1024, "heads": 4},
    "base": {"encoder_layers": 6, "decoder_layers": 6, "d_model": 512, "d_ffn": 2048, "heads": 8},
    "big": {"encoder_layers": 6, "decoder_layers": 6, "d_model": 1024, "d_ffn": 4096, "heads": 16},
}


def _place(name: str) -> str:
    if "\0" in name:
        raise ValueError("no folder has such a name")
    return os.path.expanduser(name)  # noqa: PTH111 (it is text, and stays as it was written)


Folder = Annotated[str, Field(min_length=1), AfterValidator(_place)]
"""A folder's name; ~ is the home, as for files."""


class Strict(BaseModel):
    """A section of the config: unknown keys, wrong types, NaN and later changes are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


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
    """On the weights of attention; units of another kind have none."""
    activation_dropout: Probability = 0.0
    """Between the two halves of a feed-forward network."""
    sinusoidal_positions: bool = True
    """Add sines and cosines of the position to the embeddings."""
    relative_positions: int = Field(16, ge=0)
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


def _file_or_files(value: Any) -> Any:
    # By hand, since of a union pydantic tells what each member has against the value.
    files = value if isinstance(value, list | tuple) and value else [value]
    if value is not None and not all(isinstance(file, str) for file in files):
        raise ValueError(f"should be a file, or a list with one for each reference, not {value!r}")
    return value if value is None or isinstance(value, str) else tuple(value)


class ParallelText(Strict):
    """Sentence pairs: two files of equal length, or one with a tab between the sides.

    Plain text, .gz or .xz. A relative path is looked up in the working directory, then in the
    data folder (the environment variable MUTE_DATA).
    """

    source: str | None = None
    """A file with one sentence per line."""
    target: Annotated[str | Sequence[str] | None, PlainValidator(_file_or_files)] = None
    """A file; for text that is scored, also a list with one for each reference."""
    tsv: str | None = None
    """One file in place of the two: source, tab, target; further columns are ignored."""
    weight: float = Field(1.0, gt=0)
    """How often each pair of it is seen in an epoch; a fraction is drawn anew in each epoch. For
    training text only."""

    @model_validator(mode="after")
    def _is_two_files_or_one(self) -> Self:
        if (self.tsv is None) == (self.source is None and self.target is None):
            raise ValueError("give either source and target, or tsv")
        if self.tsv is None and (self.source is None or self.target is None):
            raise ValueError("source and target come together")
        return self


def _training_texts(texts: Sequence[ParallelText]) -> tuple[ParallelText, ...]:
    for number, text in enumerate(texts):
        if isinstance(text.target, tuple):
            raise ValueError(f"{number}.target: should be one file; only dev and test have several")
    return tuple(texts)


class TokenizerConfig(Strict):
    """How text becomes pieces and pieces become text."""

    kind: Literal["sentencepiece", "moses-bpe"] = "sentencepiece"
    """SentencePiece on raw text, or the paper's way: Moses tokens, then subword-nmt's BPE."""
    size: int = Field(32000, ge=1)
    """Pieces of a SentencePiece vocabulary, or merges of a BPE."""
    model: Literal["unigram", "bpe"] = "unigram"
    """SentencePiece's algorithm (sentencepiece)."""
    joint: bool = True
    """One vocabulary for both languages."""
    lowercase: bool = False
    """Lower-case all text, so that translations are lower-cased; scores then ignore case."""
    pretokenized: bool = False
    """The text is tokenised already, and stays so on the way out (moses-bpe)."""
    chinese: Literal["characters", "words"] = "words"
    """What Chinese text is split into before BPE: characters, or jieba's words (moses-bpe)."""

    @model_validator(mode="after")
    def _options_belong_to_the_kind(self) -> Self:
        if self.pretokenized and self.kind != "moses-bpe":
            raise ValueError("pretokenized text goes with kind: moses-bpe")
        if self.chinese == "characters" and (self.kind != "moses-bpe" or self.pretokenized):
            raise ValueError("chinese: characters goes with kind: moses-bpe on raw text")
        if self.model == "bpe" and self.kind != "sentencepiece":
            raise ValueError("model: bpe goes with kind: sentencepiece; moses-bpe has its own")
        return self


def _named_texts(texts: Any) -> Any:
    if isinstance(texts, Mapping) and any(isinstance(text, str) for text in texts.values()):
        raise ValueError("give every test set a name: {mine: {source: FILE, target: FILE}}")
    return texts


class DataConfig(Strict):
    """Which text, and how it is cleaned, cut into pieces and put into batches."""

    source: str
    """The language code of the source, such as en."""
    target: str
    """The language code of the target."""
    prepared: Folder
    """The folder `mute prepare` writes and `mute train` reads."""
    train: Annotated[Sequence[ParallelText], AfterValidator(_training_texts), Field(min_length=1)]
    """The text to learn from; several are put together."""
    dev: ParallelText
    """The development set, for validation while training."""
    test: Annotated[Mapping[str, ParallelText], BeforeValidator(_named_texts)] = {}
    """Test sets by name; scored when a run has finished."""
    tokenizer: TokenizerConfig = TokenizerConfig()
    """How text is cut into pieces."""
    max_length: int = Field(256, ge=1)
    """Longer training sentences, in pieces, are dropped and counted."""
    max_ratio: float = Field(9.0, ge=1)
    """Training pairs with one side so many times longer than the other are dropped and counted."""
    drop_duplicates: bool = True
    """Keep the first of equal training pairs."""
    sampling: Probability = 0.0
    """Subword regularisation: BPE-dropout's rate or SentencePiece's chance of a sampled split."""

    @model_validator(mode="after")
    def _chinese_is_there_to_be_split(self) -> Self:
        codes = (self.source, self.target)
        if self.tokenizer.chinese == "characters" and not any(map(is_chinese, codes)):
            raise ValueError(
                f"tokenizer.chinese: characters, but neither {self.source} nor {self.target} is "
                f"Chinese; leave it out"
            )
        return self

    @model_validator(mode="after")
    def _tests_have_files_of_their_own(self) -> Self:
        by_file: dict[str, str] = {}
        for name in self.test:
            other = by_file.setdefault(name.replace("/", "-"), name)
            if other != name:
                raise ValueError(f"test: {other} and {name} would share one file; rename one")
        return self

    @model_validator(mode="after")
    def _scored_text_has_no_weight(self) -> Self:
        scored = {"dev": self.dev, **{f"test.{name}": text for name, text in self.test.items()}}
        for name, text in scored.items():
            if text.weight != 1:
                raise ValueError(f"{name}.weight: only training text has a weight; leave it out")
        return self


class TrainConfig(Strict):
    """How the model learns.

    The defaults are the paper's, but for the number of steps, which it has by task, the penalty's
    weight, which it does not tell, and the average of the weights.
    """

    run: Folder
    """The run folder: config, log, checkpoints and, from the first validation on, the model."""
    start_from: Folder | None = None
    """A trained single-unit model that all units start from: proximal initialisation."""
    seed: int = Field(1, ge=0, lt=2**63)
    """Of all that is random: the first weights, the order of the data, dropout and noise."""
    steps: int = Field(100_000, ge=1)
    """Updates of the weights until the run is done."""
    batch_tokens: int = Field(4096, ge=1)
    """The budget of one process's batch, padding included, on the longer side."""
    accumulate: int = Field(1, ge=1)
    """Batches per step, in every process. A batch has sentences of about one length; several small
    ones mix lengths, which a small text gains from."""
    schedule: Literal["noam", "inverse-sqrt"] = "noam"
    """The learning rate grows in the warm-up, then falls with the root of the step. Noam also
    divides it by the root of d_model times warmup."""
    learning_rate: float = Field(1.0, gt=0)
    """Noam's factor, or what inverse-sqrt reaches at the end of the warm-up."""
    warmup: int = Field(16_000, ge=1)
    """Steps in which the learning rate grows."""
    betas: Annotated[
        Sequence[Probability], AfterValidator(tuple), Field(min_length=2, max_length=2)
    ] = (0.9, 0.998)
    """Adam's two decay rates."""
    clip: float = Field(0.0, ge=0)
    """The largest norm of a gradient; 0 for no clipping."""
    label_smoothing: Probability = 0.1
    """The share of probability that is taken from the right word and spread over all."""
    r_drop: float = Field(0.0, ge=0)
    """R-Drop's alpha: every batch passes twice, through other dropout and other positions of the
    noise, and what the two passes predict is drawn together. Whether noise acts and which units are
    dropped is the same for both. Twice the time of a step; 0 for one pass."""
    penalty_weight: float = Field(2.5e-4, ge=0)
    """The paper's lambda, against the mean cross-entropy; about 1 / (tokens per batch)."""
    average_decay: Probability = 0.998
    """Of the exponential average of the weights, which is what gets validated; 0 for none."""
    validate_every: int = Field(5_000, ge=1)
    """Steps between two validations. There is no model before the first; one is at the end."""
    patience: int = Field(0, ge=0)
    """Stop after so many validations without a better BLEU; 0 for never."""
    keep: int = Field(5, ge=1)
    """How many of the last checkpoints stay."""
    save_every: int = Field(1_000, ge=1)
    """Steps between two checkpoints; a run that was stopped goes on from the last."""
    beam: int = Field(4, ge=1)
    """The width of the beam search, in validation and for the test sets."""
    length_penalty: float = Field(0.6, ge=0)
    """GNMT's exponent in the same searches; 0 for none."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Of the arithmetic; bfloat16 is mixed precision, for GPUs."""
    max_bad_steps: int = Field(10, ge=1)
    """Steps in a row with a non-finite loss or gradient after which the run stops."""


class Config(Strict):
    """One experiment, as a YAML file holds it; a command asks for the sections it needs."""

    model: ModelConfig = ModelConfig()
    """What is trained."""
    data: DataConfig | None = None
    """The text; `mute prepare` and `mute train` need it."""
    train: TrainConfig | None = None
    """How it is trained; `mute train` needs it."""

    @model_validator(mode="after")
    def _sections_agree(self) -> Self:
        if self.model.share_embeddings and self.data and not self.data.tokenizer.joint:
            raise ValueError(
                "model.share_embeddings needs one vocabulary for both languages, but "
                "data.tokenizer.joint is false"
            )
        if self.data and self.train:
            prepared, run = (Path(each).resolve() for each in (self.data.prepared, self.train.run))
            if prepared.is_relative_to(run) or run.is_relative_to(prepared):
                raise ValueError(
                    f"train.run ({self.train.run}) and data.prepared ({self.data.prepared}) are "
                    f"one folder, or one is in the other: to prepare anew would delete the run"
                )
        return self
