"""The models of a server, and which one a request means."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mute.config import ModelConfig
from mute.serve.examples import examples_for
from mute.serve.languages import Guess, detect, name_of
from mute.serve.questions import Language
from mute.translate.engine import Compute
from mute.translate.loading import load
from mute.translate.translator import Translator

AUTO = "auto"


class UnknownModelError(Exception):
    """No served model is what a request asks for; says which field is to blame."""


@dataclass(frozen=True, eq=False)
class Served:
    """A model that is served: itself, and no other, is equal to it."""

    name: str
    translator: Translator

    @property
    def source(self) -> str:
        """The code of the language it reads."""
        return self.translator.tokenizer.languages[0]

    @property
    def target(self) -> str:
        """The code of the language it writes."""
        return self.translator.tokenizer.languages[1]

    @property
    def config(self) -> ModelConfig:
        """What the model is like."""
        return self.translator.models[0].config

    @property
    def takes(self) -> str:
        """What has to be done to a text before it is sent; '' if nothing has."""
        return self.translator.tokenizer.takes

    @cached_property
    def examples(self) -> Sequence[str]:
        """Sentences to try it with."""
        return examples_for(self.translator.tokenizer)


class Gallery:
    """All models of a server, the first for a pair of languages being the one to take."""

    def __init__(self, translators: Iterable[Translator]) -> None:
        self.models: list[Served] = []
        for translator in translators:
            pair = "-".join(translator.tokenizer.languages)
            alike = sum(
                (each.source, each.target) == translator.tokenizer.languages for each in self.models
            )
            self.models.append(Served(f"{pair}-{alike + 1}" if alike else pair, translator))

    def named(self, name: str | None) -> Served:
        """The model of that name; the first if none is given.

        Raises:
            UnknownModelError: there is none.
        """
        for each in self.models:
            if name in (None, each.name):
                return each
        names = ", ".join(each.name for each in self.models)
        raise UnknownModelError(f"model: there is no {name}; there is {names}")

    def candidates(self, source: str, target: str, name: str | None = None) -> list[Served]:
        """The models that fit a request; with a source of "auto", those of all sources.

        Raises:
            UnknownModelError: there is none.
        """
        chosen = self.models if name is None else [self.named(name)]
        if source not in (AUTO, *(each.source for each in chosen)):
            raise UnknownModelError(f"source: {source} is not supported")
        if target not in (each.target for each in chosen):
            raise UnknownModelError(f"target: {target} is not supported")
        fitting = [
            each for each in chosen if source in (AUTO, each.source) and each.target == target
        ]
        if not fitting:
            raise UnknownModelError(f"target: {target} is not available from {source}")
        return fitting

    def languages(self) -> list[Language]:
        """All of them, the sources first, with the targets of each."""
        sources = [each.source for each in self.models]
        targets = [each.target for each in self.models]
        return [
            Language(
                code=code,
                name=name_of(code),
                targets=list(
                    dict.fromkeys(each.target for each in self.models if each.source == code)
                ),
            )
            for code in dict.fromkeys([*sources, *targets])
        ]


def guess_source(text: str, models: Sequence[Served]) -> list[Guess]:
    """The source languages of some models, the one that a text fits best first."""
    return detect(text, [(each.source, each.translator.tokenizer) for each in models])


def load_gallery(models: Sequence[Path], compute: Compute) -> Gallery:
    """Open model or run folders.

    Raises:
        MuteError: one is not a whole model.
    """
    return Gallery(load(model, compute=compute) for model in models)
