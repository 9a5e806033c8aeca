"""Text in one language → text in another."""

import copy
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from mute.data.batching import pad
from mute.data.tokenizer import Tokenizer
from mute.data.vocabulary import BOS, EOS, SPECIALS, UNK
from mute.errors import MuteError
from mute.languages import writes_spaces
from mute.model.muting import Kept, keep_units
from mute.model.transformer import Transformer, shared_copy
from mute.runtime import seed_of
from mute.translate.arguments import check_at_least, check_many
from mute.translate.copying import place_copies
from mute.translate.decoding import Decoding, NarrowDecoding
from mute.translate.engine import Compute, Engine
from mute.translate.ensemble import EnsembleDecoding
from mute.translate.forced import can_show_attention, cross_attention, log_probabilities
from mute.translate.lines import Part, batches
from mute.translate.sampling import Sampling, sample
from mute.translate.search import Hypothesis, SearchOptions, beam_search, penalised
from mute.translate.shortlist import Shortlist
from mute.translate.splitting import split_line
from mute.translate.translation import LineError, Translation, joined

MOST_GIVEN = 2048
"""Pieces of what is scored, or of a prefix: memory grows with their square, and a search's time."""


class Translator:
    """One model, or several that translate together, with their tokenizer.

    It is made of the weights as they are now: after training on, make a new one. A model that is
    being trained stays in training mode, since what translates is a copy that shares its weights.
    """

    def __init__(
        self,
        models: Transformer | Sequence[Transformer],
        tokenizer: Tokenizer,
        max_length: int = 256,
        compute: Compute = "float32",
        shortlist: Shortlist | None = None,
    ) -> None:
        given = [models] if isinstance(models, Transformer) else models
        self.models = [shared_copy(model).eval() for model in given]
        self.tokenizer, self.max_length, self.shortlist = tokenizer, max_length, shortlist
        self.engines = [Engine(model, compute) for model in self.models]
        self.device = next(self.models[0].parameters()).device

    def translate(
        self,
        lines: Sequence[str],
        beam: int = 4,
        length_penalty: float = 0.6,
        nbest: int = 1,
        *,
        min_length: int = 0,
        max_length: int | None = None,
        no_repeat: int = 0,
        sampling: Sampling | None = None,
        prefixes: Sequence[str] | None = None,
        attention: bool = False,
        strict: bool = False,
    ) -> list[Translation]:
        """Translate lines; there are as many translations, in the same order.

        Args:
            lines: sentences of the source language; an empty one stays empty
            beam: partial translations kept in the search; 1 is greedy and fastest
            length_penalty: the exponent of GNMT's length penalty
            nbest: how many translations of each line, the further ones as alternatives; the beam
                is at least as wide
            min_length: pieces that a translation has at least
            max_length: pieces that it has at most; if None, twice the source's and ten, both
                ends counted
            no_repeat: the length of sequences of pieces that may occur once only; 0 for no rule
            sampling: draw translations instead of searching for the best, as a
                `mute.translate.sampling.Sampling` says
            prefixes: what each translation has to begin with; empty for nothing
            attention: add what each piece looked at
            strict: refuse lines that are too long for the model, instead of splitting them

        Raises:
            LineError: a line is too long and `strict` was set, or no translation keeps the rules.
            MuteError: the options contradict each other, or one is not what it should be.
        """
        check_many(lines=lines, prefixes=prefixes)
        if sampling and not isinstance(sampling, Sampling):
            raise MuteError(
                f"sampling {sampling}: should be None or mute.translate.sampling.Sampling(), as in "
                f"Sampling(temperature=0.8)"
            )
        prefixes = [""] * len(lines) if prefixes is None else prefixes
        if len(prefixes) != len(lines):
            raise MuteError(f"{len(prefixes)} prefixes for {len(lines)} lines")
        asked = SearchOptions(beam, length_penalty, nbest, min_length, max_length, no_repeat)
        options = replace(asked, beam=max(beam, nbest))
        by_line = [
            self._parts(line, text, prefix, strict=strict)
            for line, (text, prefix) in enumerate(zip(lines, prefixes, strict=True))
        ]
        parts = [part for of_line in by_line for part in of_line]
        done = iter(self._translate(parts, options, sampling, attention=attention))
        return [self.join([next(done) for _ in of_line]) for of_line in by_line]

    def with_units(self, kept: Kept) -> "Translator":
        """The same with all other units of the encoder muted; both share their weights.

        Raises:
            MuteError: there is no such layer or unit, or none would be left.
        """
        muted = copy.copy(self)
        muted.models = [shared_copy(model) for model in self.models]
        for model in muted.models:
            keep_units(model, kept)
        muted.engines = [engine.with_units(kept) for engine in self.engines]
        return muted

    def score(
        self, sources: Sequence[str], targets: Sequence[str], length_penalty: float = 0.6
    ) -> list[Translation]:
        """Score translations that are given, as the search would have scored them in float32.

        Args:
            sources: sentences of the source language
            targets: a translation of each
            length_penalty: the exponent of GNMT's length penalty

        Raises:
            LineError: a line or its translation is too long to be scored in one piece.
            MuteError: there are not as many translations as sentences, one string is given, or
                the length penalty is below 0.
        """
        check_many(sources=sources, targets=targets)
        check_at_least(0, length_penalty=length_penalty)
        if len(sources) != len(targets):
            raise MuteError(f"{len(targets)} translations of {len(sources)} lines")
        encode = self.tokenizer.encode
        given = [encode(text, "target") for text in targets]
        parts = [Part(i, text, encode(text, "source"), []) for i, text in enumerate(sources)]
        for part, ids in zip(parts, given, strict=True):
            longest = max(len(part.source), len(ids))
            if longest > MOST_GIVEN:
                reason = f"{longest} pieces; no more than {MOST_GIVEN} are scored, so split it"
                raise LineError(part.line, reason)
        scored: list[Translation] = [Translation("", 0.0)] * len(parts)
        # An empty translation of an empty line is not the model's, in a search as little as here.
        chosen = [i for i, part in enumerate(parts) if part.source or given[i]]
        widest, size = max(map(len, given), default=0) + 1, self.tokenizer.target_size
        for batch in batches(parts, chosen, widest, size):
            source = self._sources([parts[i] for i in batch])
            target = self._padded([[BOS, *given[i], EOS] for i in batch])
            log_p = log_probabilities(self.models, source, target).tolist()
            for i, value in zip(batch, log_p, strict=True):
                score = penalised(value, len(given[i]) + 1, length_penalty)
                pieces = self.tokenizer.pieces(given[i], "target")
                doubts = self._doubts(parts[i], targets[i])
                scored[i] = Translation(targets[i], score, pieces, warnings=doubts)
        return scored

    def _doubts(self, part: Part, target: str) -> list[str]:
        """Warnings of what makes the score of a given translation mean little."""
        unknown = self.tokenizer.unknown(target, "target")
        doubts = [
            f"not in the model's vocabulary, scored as unknown: {word}" for _, word in unknown
        ]
        if len(part.source) > self.max_length:
            too_long = f"longer than the {self.max_length} pieces the model takes"
            doubts.append(f"{too_long}: the score means little")
        return doubts

    def _parts(self, line: int, text: str, prefix: str, *, strict: bool) -> list[Part]:
        """The line as a whole, or split if it is too long."""

        def encode(part: str) -> list[int]:
            return self.tokenizer.encode(part, "source")

        start = self.tokenizer.encode(prefix, "target")
        if UNK in start:
            words = ", ".join(word for _, word in self.tokenizer.unknown(prefix, "target"))
            raise LineError(line, f"the model cannot write what the prefix has: {words}")
        if len(start) > MOST_GIVEN:
            reason = f"its prefix has {len(start)} pieces, but no more than {MOST_GIVEN} are taken"
            raise LineError(line, reason)
        source = encode(text)
        if len(source) <= self.max_length:
            return [Part(line, text, source, start)]
        if strict:
            reason = f"{len(source)} pieces, but the model takes {self.max_length}; split the line"
            raise LineError(line, reason)
        first, *others = split_line(text, self.max_length, lambda part: len(encode(part)))
        return [
            Part(line, first, encode(first), start),
            *(Part(line, other, encode(other), []) for other in others),
        ]

    def join(self, parts: list[Translation]) -> Translation:
        """A line's translation from those of its parts; several are worth a warning."""
        spaced = self.tokenizer.config.pretokenized or writes_spaces(self.tokenizer.languages[1])
        whole = joined(parts, " " if spaced else "")
        if len(parts) == 1:
            return whole
        split = f"longer than the {self.max_length} pieces the model takes: translated in parts"
        return replace(whole, warnings=[f"{split} ({len(parts)})", *whole.warnings])

    def _translate(
        self,
        parts: list[Part],
        options: SearchOptions,
        sampling: Sampling | None,
        *,
        attention: bool,
    ) -> list[Translation]:
        lost = ["the line is empty, so its prefix was not used"]
        translations = [Translation("", 0.0, warnings=lost * bool(part.prefix)) for part in parts]
        width = options.nbest if sampling else options.beam
        written = [i for i, part in enumerate(parts) if part.source]
        for batch in batches(parts, written, width, self.tokenizer.target_size):
            # Another stream of draws for every batch.
            own = sampling and replace(sampling, seed=seed_of(sampling.seed, batch[0]))
            chosen = [parts[i] for i in batch]
            found = self._search(chosen, options, own)
            looks = self._looks(chosen, found, attention=attention)
            for i, hypotheses, looked_at in zip(batch, found, looks, strict=True):
                if not hypotheses:
                    raise LineError(parts[i].line, "no translation keeps to the rules given")
                every = [
                    self._translation(parts[i], *each, attention=attention)
                    for each in zip(hypotheses, looked_at, strict=True)
                ]
                if options.max_length is None:
                    _tell_of_ends(every, hypotheses)
                best, *others = every
                translations[i] = replace(best, alternatives=others)
        return translations

    def _search(
        self, parts: list[Part], options: SearchOptions, sampling: Sampling | None
    ) -> list[list[Hypothesis]]:
        source = self._sources(parts)
        prefixes = self._padded([part.prefix for part in parts])
        width = options.nbest if sampling else options.beam
        allowed = vocabulary = None
        if self.shortlist:
            allowed = self.shortlist.allowed(source).scatter_(1, prefixes, value=True)
            vocabulary = allowed.any(0).nonzero().squeeze(1)
            allowed, prefixes = allowed[:, vocabulary], torch.searchsorted(vocabulary, prefixes)
        decoding = self._start(source, width, vocabulary, allowed)
        if sampling:
            found = sample(decoding, source, options, sampling, prefixes)
        else:
            found = beam_search(decoding, source, options, prefixes)
        if vocabulary is None:
            return found
        return [[h._replace(ids=vocabulary[h.ids].tolist()) for h in each] for each in found]

    @torch.inference_mode()
    def _start(
        self, source: Tensor, width: int, vocabulary: Tensor | None, allowed: Tensor | None
    ) -> Decoding:
        members = [engine.start(source, width, vocabulary) for engine in self.engines]
        if vocabulary is not None and allowed is not None:
            members = [NarrowDecoding(member, vocabulary, allowed) for member in members]
        return members[0] if len(members) == 1 else EnsembleDecoding(members)

    def _looks(
        self, parts: list[Part], found: list[list[Hypothesis]], *, attention: bool
    ) -> list[list[Tensor | None]]:
        """How much each translation looked at its source, (T + 1, S), where it is of use.

        That is if it is asked for, or if there are unknown words to be placed. The best
        translations of all lines pass the models together, then the second best, and so on.
        """
        looks: list[list[Tensor | None]] = [[None] * len(each) for each in found]
        wanted = attention or all(map(can_show_attention, self.models))
        lines = [i for i, part in enumerate(parts) if wanted and (attention or UNK in part.source)]
        for rank in range(max((len(found[i]) for i in lines), default=0)):
            ranked = [i for i in lines if rank < len(found[i])]
            source = self._sources([parts[i] for i in ranked])
            target = self._padded([[BOS, *found[i][rank].ids] for i in ranked])
            for i, weights in zip(
                ranked, cross_attention(self.models, source, target), strict=True
            ):
                looks[i][rank] = weights[: len(found[i][rank].ids) + 1, : len(parts[i].source) + 1]
        return looks

    def _translation(
        self, part: Part, found: Hypothesis, looked_at: Tensor | None, *, attention: bool
    ) -> Translation:
        unknown = self.tokenizer.unknown(part.text, "source") if UNK in part.source else []
        tokens = self.tokenizer.pieces(found.ids, "target")
        if not (attention or unknown):
            return Translation(self.tokenizer.decode(found.ids, "target"), found.score, tokens)
        copies = place_copies(unknown, len(found.ids), looked_at)
        return Translation(
            self.tokenizer.decode(found.ids, "target", copies),
            found.score,
            tokens,
            warnings=[f"not in the model's vocabulary, copied: {word}" for _, word in unknown],
            source_tokens=[*self.tokenizer.pieces(part.source, "source"), SPECIALS[EOS]]
            if attention
            else [],
            attention=looked_at.tolist() if attention and looked_at is not None else None,
        )

    def _sources(self, parts: list[Part]) -> Tensor:
        return self._padded([[*part.source, EOS] for part in parts])

    def _padded(self, ids: list[list[int]]) -> Tensor:
        return pad(ids).to(self.device)


def _tell_of_ends(translations: list[Translation], found: list[Hypothesis]) -> None:
    """Warn of those that were cut off; with the best one, of its alternatives, too."""
    for translation, hypothesis in zip(translations, found, strict=True):
        if hypothesis.cut_off:
            told = f"cut off after {len(hypothesis.ids)} pieces: it found no end"
            translation.warnings.append(told)
    if others := sum(hypothesis.cut_off for hypothesis in found[1:]):
        told = f"{others} of {len(found) - 1} alternatives were cut off: they found no end"
        translations[0].warnings.append(told)
