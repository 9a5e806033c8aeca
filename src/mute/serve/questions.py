"""What the API is asked and what it answers, as its OpenAPI document shows it."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from mute.serve.texts import Format

MOST_ALTERNATIVES = 16
BEAM, WIDEST_BEAM = 4, 32


def _unicode(text: str) -> str:
    """JSON can write down half of a surrogate pair, which is no character."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"not Unicode at character {error.start}") from None
    return text


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL character, which no text has")
    return text


def _one_line(text: str) -> str:
    if "\n" in text.strip():
        raise ValueError("should be one line")
    return text.strip()


Name = Annotated[str, AfterValidator(_unicode)]
PlainText = Annotated[Name, AfterValidator(_without_nul)]
Line = Annotated[PlainText, AfterValidator(_one_line)]
ApiKey = Annotated[str | None, Field(description="If the server wants one.")]
ModelName = Annotated[Name | None, Field(description="One of /v1/models.")]
Beam = Annotated[int, Field(ge=1, le=WIDEST_BEAM)]
MutedUnits = Annotated[
    dict[int, list[int]], Field(description="Muted units by encoder layer, both from 0.")
]


class TranslateQuestion(BaseModel):
    """LibreTranslate's, and ours from `model` on; other fields are ignored, as it does."""

    q: PlainText | list[PlainText] = Field(description="A text, or several.")
    source: Name = Field(description="A code of /languages, or auto.")
    target: Name
    format: Annotated[Format, BeforeValidator(lambda given: given or "text")] = "text"
    alternatives: int = Field(0, ge=0, le=MOST_ALTERNATIVES)
    api_key: ApiKey = None
    model: ModelName = None
    beam: Beam = BEAM
    muted: MutedUnits = {}
    warnings: bool = Field(False, description="Whether to answer with those of each text, too.")


class DetectQuestion(BaseModel):
    """LibreTranslate's."""

    q: PlainText
    api_key: ApiKey = None


class InspectQuestion(BaseModel):
    """A line to look into."""

    model_config = ConfigDict(extra="forbid")

    q: Line
    model: ModelName = None
    beam: Beam = BEAM
    nbest: int = Field(3, ge=1, le=MOST_ALTERNATIVES)
    muted: MutedUnits = {}
    api_key: ApiKey = None


class Problem(BaseModel):
    """What went wrong, in a sentence."""

    error: str


class Detection(BaseModel):
    """A language a text may be in; the confidence goes up to 100."""

    language: str
    confidence: float


class TranslateAnswer(BaseModel):
    """One of everything for a single text, a list for several."""

    translatedText: str | list[str]  # noqa: N815 (LibreTranslate's names)
    alternatives: list[str] | list[list[str]] | None = None
    detectedLanguage: Detection | list[Detection] | None = None  # noqa: N815
    warnings: list[str] | list[list[str]] | None = None


class Language(BaseModel):
    """A source language and what it can be translated into."""

    code: str
    name: str
    targets: list[str]


class ModelAnswer(BaseModel):
    """A model, and the shape of its encoder."""

    name: str
    source: str
    target: str
    layers: int
    units: int
    bias: list[str] = Field(description="Of the units, in their order; others see clean input.")
    takes: str = Field(description="What has to be done to a text first; '' if nothing has.")
    examples: list[str] = Field(description="Sentences in words that the model knows.")


class Alternative(BaseModel):
    """Another translation."""

    text: str
    score: float


class LayerAnswer(BaseModel):
    """An encoder layer."""

    weights: list[float] = Field(description="How much each unit counts; 0 if muted.")
    order: list[int] | None = Field(description="The learned order of the units, if any.")
    settled: bool | None = Field(
        description="Whether M is a permutation; if not, `order` is that of the nearest one."
    )
    attention: list[list[list[float]]] = Field(
        description="For each unit, source × source, the mean of its heads; empty without any."
    )


class InspectAnswer(BaseModel):
    """A translation and what the units did."""

    text: str
    score: float
    tokens: list[str]
    source_tokens: list[str]
    attention: list[list[float]] = Field(description="Target (and its end) × source.")
    alternatives: list[Alternative]
    warnings: list[str]
    layers: list[LayerAnswer]


class Health(BaseModel):
    """Whether the server works."""

    status: str
    models: list[str]


def body_of(question: type[BaseModel], *media_types: str) -> dict[str, Any]:
    """The part of the OpenAPI document that tells of a request's body."""
    schema = question.model_json_schema()
    content = {each: {"schema": schema} for each in media_types}
    return {"requestBody": {"required": True, "content": content}}
