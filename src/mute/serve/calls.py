"""The calls of the API."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from mute.errors import MuteError
from mute.serve import questions as ask
from mute.serve.batcher import Batcher
from mute.serve.bodies import FORM, JSON, MULTIPART, RefusalError, read_fields, validated
from mute.serve.inspection import Inspect
from mute.serve.keys import ApiKeys
from mute.serve.languages import Guess
from mute.serve.limits import Limits
from mute.serve.metrics import Metrics
from mute.serve.served import AUTO, Gallery, Served, UnknownModelError, guess_source
from mute.serve.texts import parse
from mute.serve.variants import Muted, Variants, muted_units
from mute.serve.work import Assignment, Translate, aside, assign, do, in_time

Question = TypeVar("Question", bound=BaseModel)

routes = APIRouter()


class Server:
    """What the calls share; its thread runs until the batcher is closed."""

    def __init__(self, gallery: Gallery, limits: Limits | None = None, keys: ApiKeys | None = None):
        self.gallery, self.limits, self.keys = gallery, limits or Limits(), keys or ApiKeys()
        self.metrics = Metrics()
        self.batcher = Batcher(self.limits.queue, observe=self.metrics.batch)
        self.metrics.watch_queue(lambda: self.batcher.waiting)
        self.variants = Variants()

    async def read(self, request: Request, kind: type[Question], status: int) -> Question:
        """Read and check a request.

        Raises:
            RefusalError: the key is wrong, or with the given status if something else is.
        """
        fields = await read_fields(request, self.limits)
        if not self.keys.admit(fields.get("api_key")):
            raise RefusalError(403, "api_key: missing or wrong; ask who runs this server for one")
        return validated(kind, fields, status)


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


def _problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The part of the OpenAPI document that tells which errors a call answers with."""
    reasons = {
        400: "A field is wrong, or the body is not what it says.",
        403: "The API key is missing or wrong.",
        408: "The request took too long to arrive.",
        413: "The request or its text is too large.",
        415: "The body is neither JSON nor a form.",
        422: "A field is wrong.",
        500: "An error in the server.",
        503: "Too many requests are waiting; Retry-After says when to try again.",
        504: "The translation took too long.",
    }
    return {each: {"model": ask.Problem, "description": reasons[each]} for each in statuses}


class _Plan(NamedTuple):
    """Who translates what."""

    assignments: list[Assignment]
    guesses: list[Guess]
    """The language of each text, if it was to be found out."""


@routes.post(
    "/translate",
    response_model=ask.TranslateAnswer,
    responses=_problems(400, 403, 408, 413, 415, 500, 503, 504),
    openapi_extra=ask.body_of(ask.TranslateQuestion, JSON, FORM, MULTIPART),
)
async def translate(request: Request) -> JSONResponse:
    """Translate a text or several."""
    server = _server(request)
    question = await server.read(request, ask.TranslateQuestion, 400)
    texts = [question.q] if isinstance(question.q, str) else question.q
    _check_size(texts, server.limits)
    async with in_time(server.limits):
        plan = await aside(_plan, server, question, texts)
        by_model: dict[Served, list[Assignment]] = {}
        for assignment in plan.assignments:
            by_model.setdefault(assignment.served, []).append(assignment)
        tasks = [
            (_task(server, question, served), [line for a in group for line in a.lines])
            for served, group in by_model.items()
        ]
        done = await do(request, server.batcher, tasks)
    results = {served: iter(found) for served, found in zip(by_model, done, strict=True)}
    finished = [
        a.finish([next(results[a.served]) for _ in a.lines], question.alternatives)
        for a in plan.assignments
    ]
    answer: dict[str, Any] = {"translatedText": [each.text for each in finished]}
    if question.alternatives:
        answer["alternatives"] = [each.alternatives for each in finished]
    if question.warnings:
        answer["warnings"] = [each.warnings for each in finished]
    if question.source == AUTO:
        answer["detectedLanguage"] = [_detection(guess) for guess in plan.guesses]
    if isinstance(question.q, str):
        answer = {name: each[0] for name, each in answer.items()}
    return JSONResponse(answer)


def _task(server: Server, question: ask.TranslateQuestion, served: Served) -> Translate:
    try:
        muted = muted_units(served, question.muted)
    except MuteError as error:
        raise RefusalError(400, str(error)) from None
    nbest = 1 + question.alternatives
    return Translate(server.variants, served, muted, question.beam, nbest)


def _check_size(texts: Sequence[str], limits: Limits) -> None:
    if len(texts) > limits.texts:  # of a form, which may have as many fields of other names
        raise RefusalError(413, f"q: {len(texts):,} texts, but at most {limits.texts:,} at once")
    characters = sum(map(len, texts))
    if characters > limits.characters:
        raise RefusalError(
            413, f"q: {characters:,} characters, but at most {limits.characters:,} at once"
        )


def _plan(server: Server, question: ask.TranslateQuestion, texts: Sequence[str]) -> _Plan:
    plan = _Plan([], [])
    try:
        models = server.gallery.candidates(question.source, question.target, question.model)
    except UnknownModelError as error:
        raise RefusalError(400, str(error)) from None
    for text in texts:
        served, parsed = models[0], parse(text, question.format)
        if question.source == AUTO:  # by what is to be translated, which markup is not
            guess = guess_source("\n".join(parsed.lines), models)[0]
            served = next(each for each in models if each.source == guess.code)
            plan.guesses.append(guess)
        plan.assignments.append(assign(parsed, served))
    lines = sum(len(assignment.lines) for assignment in plan.assignments)
    if lines > server.limits.queue:
        raise RefusalError(
            413,
            f"q: {lines:,} lines, or parts of long ones, but at most {server.limits.queue:,} at "
            f"once",
        )
    return plan


def _detection(guess: Guess) -> dict[str, Any]:
    return {"language": guess.code, "confidence": guess.confidence}


@routes.head("/languages", include_in_schema=False)
@routes.get("/languages")
async def languages(request: Request) -> list[ask.Language]:
    """The languages that texts can be in, and what they can be translated into."""
    return _server(request).gallery.languages()


@routes.post(
    "/detect",
    response_model=list[ask.Detection],
    responses=_problems(400, 403, 408, 413, 415, 500, 504),
    openapi_extra=ask.body_of(ask.DetectQuestion, JSON, FORM, MULTIPART),
)
async def detect(request: Request) -> JSONResponse:
    """Guess the language of a text among those that are served, the likeliest first."""
    server = _server(request)
    question = await server.read(request, ask.DetectQuestion, 400)
    _check_size([question.q], server.limits)
    async with in_time(server.limits):
        guesses = await aside(guess_source, question.q, server.gallery.models)
    return JSONResponse([_detection(guess) for guess in guesses])


@routes.head("/health", include_in_schema=False)
@routes.get("/health", response_model=ask.Health, responses=_problems(503))
async def health(request: Request) -> JSONResponse:
    """Whether the server takes requests."""
    server = _server(request)
    if not server.batcher.alive:
        raise RefusalError(503, "the server does not translate any longer")
    return JSONResponse({"status": "ok", "models": [each.name for each in server.gallery.models]})


@routes.head("/metrics", include_in_schema=False)
@routes.get("/metrics", responses={200: {"content": {"text/plain": {}}}}, response_class=Response)
async def metrics(request: Request) -> Response:
    """Counts and times, for Prometheus."""
    return Response(_server(request).metrics.text(), media_type=CONTENT_TYPE_LATEST)


@routes.head("/v1/models", include_in_schema=False)
@routes.get("/v1/models")
async def models(request: Request) -> list[ask.ModelAnswer]:
    """The models that are served."""
    return [
        ask.ModelAnswer(
            name=each.name,
            source=each.source,
            target=each.target,
            layers=each.config.encoder_layers,
            units=each.config.units,
            bias=list(each.config.bias),
            takes=each.takes,
            examples=list(each.examples),
        )
        for each in _server(request).gallery.models
    ]


@routes.post(
    "/v1/inspect",
    response_model=ask.InspectAnswer,
    responses=_problems(400, 403, 408, 413, 415, 422, 500, 503, 504),
    openapi_extra=ask.body_of(ask.InspectQuestion, JSON),
)
async def inspect(request: Request) -> JSONResponse:
    """Translate a line and look at what every unit of the encoder does, some of them muted."""
    server = _server(request)
    question = await server.read(request, ask.InspectQuestion, 422)
    _check_size([question.q], server.limits)
    async with in_time(server.limits):
        served, muted = await aside(_to_inspect, server, question)
        task = Inspect(server.variants, served, muted, question.beam, question.nbest)
        ((answer,),) = await do(request, server.batcher, [(task, [question.q])])
    return JSONResponse(answer)


def _to_inspect(server: Server, question: ask.InspectQuestion) -> tuple[Served, Muted]:
    try:
        served = server.gallery.named(question.model)
        muted = muted_units(served, question.muted)
    except (UnknownModelError, MuteError) as error:
        raise RefusalError(422, str(error)) from None
    pieces = len(served.translator.tokenizer.encode(question.q, "source"))
    most = min(server.limits.pieces, served.translator.max_length)
    if pieces > most:
        raise RefusalError(413, f"q: {pieces:,} pieces, but at most {most:,} can be looked into")
    return served, muted
