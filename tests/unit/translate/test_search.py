import itertools
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from mute.data.vocabulary import BOS, EOS, PAD
from mute.errors import NotFiniteError
from mute.model.kernels import widths
from mute.model.transformer import Transformer
from mute.translate import search
from mute.translate.engine import Engine
from mute.translate.search import Hypothesis, SearchOptions, best_words, length_penalty
from tests.unit.model.oracle import double, small

SOURCE = torch.tensor([[5, 6, 7, 8, 9, 3], [4, 10, 3, 0, 0, 0], [11, 12, 4, 3, 0, 0]])
LIMITS = [21, 15, 17]  # words of a translation: the end is the 22nd of 2 * 6 + 10, and so on


def model(**settings: object) -> Transformer:
    return double(small(**settings)).eval()


@torch.inference_mode()
def beam_search(
    model: Transformer,
    source: Tensor,
    options: SearchOptions,
    prefixes: Tensor | None = None,
) -> list[list[Hypothesis]]:
    decoding = Engine(model).start(source, options.beam)
    return search.beam_search(decoding, source, options, prefixes)


def log_probability(model: Transformer, source: Tensor, ids: list[int]) -> float:
    """By forced decoding."""
    target = torch.tensor([[BOS, *ids]])
    with torch.inference_mode():
        log_p = model(source[None, source != PAD], target).log_softmax(-1)[0]
    labels = torch.tensor([*ids, EOS])
    return float(log_p.gather(1, labels[:, None]).sum())


def test_the_length_penalty_is_gnmts() -> None:
    assert float(length_penalty(1, 0.6)) == pytest.approx(1)
    assert float(length_penalty(7, 0.6)) == pytest.approx(2**0.6)
    assert length_penalty(torch.tensor([7, 13]), 1.0).tolist() == pytest.approx([2, 3])


@pytest.mark.parametrize("beam", [1, 2, 4])
@pytest.mark.parametrize("settings", [{}, {"units": 3, "decoder": {"unit": "convolution"}}])
def test_a_hypothesis_has_the_score_forced_decoding_gives_it(
    beam: int, settings: dict[str, object]
) -> None:
    translator = model(**settings)
    options = SearchOptions(beam, nbest=beam)
    for source, found in zip(SOURCE, beam_search(translator, SOURCE, options), strict=True):
        assert found
        for hypothesis in found:
            expected = log_probability(translator, source, hypothesis.ids)
            penalty = ((5 + len(hypothesis.ids) + 1) / 6) ** 0.6
            assert hypothesis.score == pytest.approx(expected / penalty)
        assert found == sorted(found, key=lambda h: -h.score)


def test_beam_one_is_greedy() -> None:
    translator = model()
    greedy = beam_search(translator, SOURCE, SearchOptions(beam=1))
    for source, limit, found in zip(SOURCE, LIMITS, greedy, strict=True):
        words = [BOS]
        while words[-1] != EOS and len(words) - 1 < limit:
            logits = translator(source[None, source != PAD], torch.tensor([words]))[0, -1]
            logits[[0, 1, 2]] = -torch.inf
            words.append(int(logits.argmax()))
        assert found[0].ids == [word for word in words[1:] if word != EOS]


class CloseCall:
    """A decoding that might end after a word as well as after five, and is sure of the rest."""

    def __init__(self) -> None:
        self.length = 0

    def step(self, words: Tensor) -> Tensor:
        probabilities = torch.full((*words.shape, 13), 1e-9)
        ends = {1: 0.52, 5: 1.0}.get(self.length, 1e-9)
        probabilities[..., EOS], probabilities[..., 5] = ends, 1 - ends
        self.length += 1
        return probabilities.clamp(min=1e-9).log()

    def select(self, parents: Tensor) -> None:
        """All translations are alike."""

    def keep(self, sentences: Tensor) -> None:
        """All sentences are alike."""


def test_beam_one_takes_the_end_when_it_is_best() -> None:
    options = SearchOptions(beam=1, length_penalty=0.6)
    ((found,),) = search.beam_search(CloseCall(), SOURCE[1:2, :3], options)
    assert found.ids == [5]
    wider = SearchOptions(beam=2, length_penalty=0.6)
    ((found,),) = search.beam_search(CloseCall(), SOURCE[1:2, :3], wider)
    assert found.ids == [5] * 5  # whose score is better, and was looked for


@pytest.mark.parametrize("beam", [1, 4])
def test_batched_equals_one_by_one(beam: int) -> None:
    translator = model(units=2)
    options = SearchOptions(beam, nbest=beam)
    together = beam_search(translator, SOURCE, options)
    for source, found in zip(SOURCE, together, strict=True):
        alone = beam_search(translator, source[None, source != PAD], options)[0]
        assert [h.ids for h in found] == [h.ids for h in alone]
        assert [h.score for h in found] == pytest.approx([h.score for h in alone])


def test_a_beam_as_wide_as_everything_finds_the_best_of_all() -> None:
    translator = double(small(), vocab_size=8).eval()
    source = torch.tensor([5, 6, 3])
    words = range(4, 8)
    everything = [
        list(ids) for length in range(3) for ids in itertools.product(words, repeat=length)
    ]

    def score(ids: list[int]) -> float:
        penalty: float = ((5 + len(ids) + 1) / 6) ** 0.6
        return log_probability(translator, source, ids) / penalty

    best = max(everything, key=score)
    (found,) = beam_search(translator, source[None], SearchOptions(beam=30, max_length=2))
    assert found[0].ids == best
    assert found[0].score == pytest.approx(score(best))


def test_every_translation_ends_within_its_limit() -> None:
    translator = model()
    with torch.no_grad():
        translator.output.bias[EOS] = -1e6  # never, of its own accord
    found = beam_search(translator, SOURCE, SearchOptions())
    assert [len(each[0].ids) for each in found] == LIMITS


@pytest.mark.parametrize("nbest", [1, 2])
def test_a_search_stops_when_nothing_can_beat_what_it_has_found(
    nbest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = model()
    with torch.no_grad():
        translator.output.bias[EOS] = 1e3  # ends at once: every further word costs as much again
    with torch.inference_mode():
        decoding = Engine(translator).start(SOURCE, 4)
    step, steps = decoding.step, []

    def counted(words: Tensor) -> Tensor:
        steps.append(len(words))
        return step(words)

    monkeypatch.setattr(decoding, "step", counted)
    found = search.beam_search(decoding, SOURCE, SearchOptions(4, 0.0, nbest))
    assert [len(each) for each in found] == 3 * [nbest]
    assert steps == nbest * [3]


def test_nothing_that_is_no_word_is_ever_chosen() -> None:
    translator = model()
    with torch.no_grad():
        translator.output.bias[:3] = 1e3
    found = beam_search(translator, SOURCE, SearchOptions(beam=3, nbest=3))
    assert not {0, 1, 2, 3} & {word for each in found for h in each for word in h.ids}


def test_hypotheses_of_one_sentence_differ() -> None:
    for found in beam_search(model(), SOURCE, SearchOptions(beam=4, nbest=4)):
        assert len({tuple(h.ids) for h in found}) == len(found)
        assert all(isinstance(h, Hypothesis) for h in found)


def test_a_stronger_length_penalty_makes_longer_translations() -> None:
    translator = model()

    def total(exponent: float) -> int:
        found = beam_search(translator, SOURCE, SearchOptions(4, exponent))
        return sum(len(each[0].ids) for each in found)

    assert total(0.0) <= total(0.6) <= total(3.0)
    assert total(0.0) < total(3.0)


def test_a_translation_has_as_many_words_as_asked_for() -> None:
    options = SearchOptions(4, nbest=4, min_length=5, max_length=7)
    lengths = {len(h.ids) for found in beam_search(model(), SOURCE, options) for h in found}
    assert lengths
    assert lengths <= {5, 6, 7}


def test_a_minimum_beyond_the_usual_limit_is_reached_with_room_to_end() -> None:
    translator = model()
    with torch.no_grad():
        translator.output.bias[EOS] = -20  # long translations
    for found in beam_search(translator, SOURCE, SearchOptions(min_length=40)):
        assert len(found[0].ids) == 49


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_sequence_occurs_twice(n: int) -> None:
    translator = model()
    with torch.no_grad():
        translator.output.bias[EOS] = -20  # long translations
        translator.output.bias[5:7] = 5  # of few words

    def repeats(no_repeat: int) -> bool:
        options = SearchOptions(4, nbest=2, max_length=12, no_repeat=no_repeat)
        ids = [h.ids for found in beam_search(translator, SOURCE, options) for h in found]
        sequences = [[tuple(each[i : i + n]) for i in range(len(each) - n + 1)] for each in ids]
        return any(len(each) != len(set(each)) for each in sequences)

    assert repeats(0)
    assert not repeats(n)


def test_a_translation_begins_with_its_prefix_and_is_scored_with_it() -> None:
    translator = model()
    prefixes = torch.tensor([[9, 9, 4], [7, 0, 0], [0, 0, 0]])
    options = SearchOptions(3, nbest=3, no_repeat=1)  # a prefix stands above the rules
    found = beam_search(translator, SOURCE, options, prefixes)
    free = beam_search(translator, SOURCE, options)
    assert all(h.ids[:3] == [9, 9, 4] for h in found[0])
    assert all(h.ids[:1] == [7] for h in found[1])
    assert found[2] == free[2]
    for source, hypotheses in zip(SOURCE, found, strict=True):
        for hypothesis in hypotheses:
            penalty = ((5 + len(hypothesis.ids) + 1) / 6) ** options.length_penalty
            expected = log_probability(translator, source, hypothesis.ids) / penalty
            assert hypothesis.score == pytest.approx(expected)


def test_a_prefix_counts_against_the_limit_and_is_never_cut() -> None:
    prefixes = torch.tensor([[9, 9, 4], [7, 0, 0], [0, 0, 0]])
    options = SearchOptions(2, min_length=2, max_length=2)
    found = beam_search(model(), SOURCE, options, prefixes)
    assert [len(hypotheses[0].ids) for hypotheses in found] == [3, 2, 2]


@pytest.mark.parametrize("size", [5, 64, 100, 640, 1000, 6400])
@pytest.mark.parametrize("count", [1, 8])
def test_the_best_words_by_blocks_are_the_best_of_all(size: int, count: int) -> None:
    logits = torch.randn(3, 2, size, generator=torch.Generator().manual_seed(size))
    logits[0, 0, ::2] = -torch.inf
    expected = logits.topk(min(count, size), dim=-1)
    best, words = best_words(logits, count)
    assert torch.equal(best, expected.values)
    assert torch.equal(logits.gather(-1, words), best)


normalisers = pytest.mark.parametrize("lanes", [0, *widths()])


@normalisers
@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("offset", [-1e4, 0, 79, 200, 1e4])
def test_the_normaliser_is_right_however_large_the_logits(
    offset: float, size: int, lanes: int, use_lanes: Callable[[int], None]
) -> None:
    use_lanes(lanes)
    logits = torch.randn(2, 3, size, generator=torch.Generator().manual_seed(1)) + offset
    logits[0, 0, :-1] = -torch.inf
    expected = logits.double().logsumexp(-1, keepdim=True).float()
    torch.testing.assert_close(search.log_sum_exp(logits), expected)


@normalisers
@pytest.mark.parametrize("place", [0, 9, -1])
@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_what_is_no_number_is_told(
    value: float, place: int, lanes: int, use_lanes: Callable[[int], None]
) -> None:
    use_lanes(lanes)
    logits = torch.zeros(2, 3, 100)
    logits[1, 2, place] = value
    with pytest.raises(NotFiniteError):
        search.log_sum_exp(logits)
