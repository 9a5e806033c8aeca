import itertools

import pytest
import torch
from torch import Tensor

from mute.data.vocabulary import BOS, EOS, PAD
from mute.model.transformer import Transformer
from mute.translate.search import (
    Hypothesis,
    SearchOptions,
    beam_search,
    length_penalty,
    longest_translation,
)
from tests.unit.model.oracle import double, small

SOURCE = torch.tensor([[5, 6, 7, 8, 9, 3], [4, 10, 3, 0, 0, 0], [11, 12, 4, 3, 0, 0]])


def model(**settings: object) -> Transformer:
    return double(small(**settings)).eval()


def log_probability(model: Transformer, source: Tensor, ids: list[int]) -> float:
    """By forced decoding."""
    target = torch.tensor([[BOS, *ids]])
    with torch.inference_mode():
        log_p = model(source[None, source != PAD], target).log_softmax(-1)[0]
    labels = torch.tensor([*ids, EOS])
    return float(log_p.gather(1, labels[:, None]).sum())


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
            assert hypothesis.log_probability == pytest.approx(expected)
            penalty = float(length_penalty(len(hypothesis.ids) + 1, 0.6))
            assert hypothesis.score == pytest.approx(expected / penalty)
        assert found == sorted(found, key=lambda h: -h.score)


def test_beam_one_is_greedy() -> None:
    translator = model()
    for source, found in zip(
        SOURCE, beam_search(translator, SOURCE, SearchOptions(beam=1)), strict=True
    ):
        words = [BOS]
        limit = int(longest_translation((source != PAD).sum()))
        while words[-1] != EOS and len(words) < limit:
            logits = translator(source[None, source != PAD], torch.tensor([words]))[0, -1]
            logits[[0, 1, 2]] = -torch.inf
            words.append(int(logits.argmax()))
        assert found[0].ids == [word for word in words[1:] if word != EOS]


@pytest.mark.parametrize("beam", [1, 4])
def test_batched_equals_one_by_one(beam: int) -> None:
    translator = model(units=2)
    options = SearchOptions(beam, nbest=beam)
    together = beam_search(translator, SOURCE, options)
    for source, found in zip(SOURCE, together, strict=True):
        alone = beam_search(translator, source[None, source != PAD], options)[0]
        assert [h.ids for h in found] == [h.ids for h in alone]
        assert [h.score for h in found] == pytest.approx([h.score for h in alone])


def test_a_beam_as_wide_as_everything_finds_the_best_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit = "mute.translate.search.longest_translation"
    monkeypatch.setattr(limit, lambda lengths: lengths * 0 + 3)
    translator = double(small(), vocab_size=8).eval()
    source = torch.tensor([5, 6, 3])
    words = range(4, 8)
    everything = [
        list(ids) for length in range(3) for ids in itertools.product(words, repeat=length)
    ]

    def score(ids: list[int]) -> float:
        penalty = float(length_penalty(len(ids) + 1, 0.6))
        return log_probability(translator, source, ids) / penalty

    best = max(everything, key=score)
    (found,) = beam_search(translator, source[None], SearchOptions(beam=30))
    assert found[0].ids == best
    assert found[0].score == pytest.approx(score(best))


def test_every_translation_ends_within_its_limit() -> None:
    translator = model()
    with torch.no_grad():
        translator.output.bias[EOS] = -1e6  # never, of its own accord
    for source, found in zip(SOURCE, beam_search(translator, SOURCE, SearchOptions()), strict=True):
        assert len(found[0].ids) + 1 == int(longest_translation((source != PAD).sum()))


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
