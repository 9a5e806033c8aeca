"""The section `data`: which text, and how it becomes pieces."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from mute.config.strict import Folder, Probability, Strict
from mute.languages import is_chinese, writes_spaces


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
    weight: float = Field(1.0, gt=0, le=10_000)
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
    size: int = Field(32000, ge=1, le=10_000_000)
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
    """By their names, but for those that are null: taken back from the file that is extended."""
    if not isinstance(texts, Mapping):
        return {} if texts is None else texts
    if any(isinstance(text, str) for text in texts.values()):
        raise ValueError("give every test set a name: {mine: {source: FILE, target: FILE}}")
    return {name: text for name, text in texts.items() if text is not None}


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
    scored_as: Literal["text", "tokens"] = "text"
    """What BLEU is counted on, of translations and references alike: text as a reader sees it,
    which sacrebleu cuts into words; or its tokens with normalised punctuation, as in the paper's
    scores by multi-bleu.perl (moses-bpe on raw text)."""
    max_length: int = Field(256, ge=1)
    """Longer training sentences, in pieces, are dropped and counted. What is longer than the
    longest that is left is translated in parts."""
    max_ratio: float = Field(9.0, ge=1)
    """Training pairs with one side so many times longer than the other are dropped and counted."""
    drop_duplicates: bool = True
    """Keep the first of equal training pairs."""
    sampling: Probability = 0.0
    """Subword regularisation of both sides: the rate of BPE-dropout, or, with sentencepiece's
    unigrams, each word's chance of another split. A word of up to 8 pieces has 64
    ways to be cut, drawn once."""

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
    def _tokens_are_there_to_be_scored(self) -> Self:
        if self.scored_as == "tokens" and (
            self.tokenizer.kind != "moses-bpe" or self.tokenizer.pretokenized
        ):
            raise ValueError("scored_as: tokens goes with tokenizer.kind: moses-bpe on raw text")
        return self

    @model_validator(mode="after")
    def _words_can_be_found(self) -> Self:
        if self.tokenizer.kind != "moses-bpe" or self.tokenizer.pretokenized:
            return self
        for code in (self.source, self.target):
            if not (writes_spaces(code) or is_chinese(code)):
                raise ValueError(
                    f"tokenizer.kind: moses-bpe finds no words in {code}, which has no spaces "
                    f"between them; use kind: sentencepiece"
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
