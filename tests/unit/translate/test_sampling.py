from itertools import pairwise

import pytest
import torch

from mute.data.vocabulary import EOS
from mute.errors import MuteError
from mute.model.transformer import Transformer
from mute.translate import sampling
from mute.translate.engine import Engine
from mute.translate.sampling import Sampling, draw
from mute.translate.search import Hypothesis, SearchOptions
from tests.unit.model.oracle import double, small
from tests.unit.translate.test_search import log_probability

SOURCE = torch.tensor([[5, 6, 7, 8, 9, 3], [4, 10, 3, 0, 0, 0]])
LOGITS = torch.tensor([4.0, 3.0, 2.0, 1.0, 0.0, -torch.inf]).repeat(1, 1, 1)


@torch.inference_mode()
def sample(
    model: Transformer, how: Sampling, options: SearchOptions, prefixes: torch.Tensor | None = None
) -> list[list[Hypothesis]]:
    decoding = Engine(model).start(SOURCE, options.nbest)
    return sampling.sample(decoding, SOURCE, options, how, prefixes)


def shares(how: Sampling, draws: int = 4000) -> list[float]:
    generator = torch.Generator().manual_seed(1)
    drawn = draw(LOGITS.repeat(draws, 1, 1), how, generator)
    return (drawn.flatten().bincount(minlength=6) / draws).tolist()


def test_words_are_drawn_as_often_as_they_are_probable() -> None:
    assert shares(Sampling()) == pytest.approx(LOGITS.softmax(-1).flatten().tolist(), abs=0.03)


def test_temperature_flattens() -> None:
    expected = (LOGITS / 2).softmax(-1).flatten().tolist()
    assert shares(Sampling(temperature=2)) == pytest.approx(expected, abs=0.03)


def test_top_k_leaves_the_k_best() -> None:
    assert [share > 0 for share in shares(Sampling(top_k=2))] == [True, True] + 4 * [False]


def test_top_p_leaves_the_fewest_words_with_that_share() -> None:
    # The two best have 0.64 + 0.23 of the probability.
    assert [share > 0 for share in shares(Sampling(top_p=0.8))] == [True, True] + 4 * [False]
    assert [share > 0 for share in shares(Sampling(top_p=0.01))] == [True] + 5 * [False]


def test_a_sample_has_the_score_forced_decoding_gives_it() -> None:
    model = double(small()).eval()
    for how in (Sampling(), Sampling(temperature=0.5, top_k=3)):
        options = SearchOptions(nbest=3, length_penalty=0)
        for source, found in zip(SOURCE, sample(model, how, options), strict=True):
            assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
            for hypothesis in found:
                assert EOS not in hypothesis.ids
                expected = log_probability(model, source, hypothesis.ids)
                # A limit that was reached ends a sentence whether that is probable or not.
                assert hypothesis.score == pytest.approx(expected)


def test_a_samples_length_penalty_counts_its_end() -> None:
    model, options = double(small()).eval(), SearchOptions(nbest=3)
    for source, found in zip(SOURCE, sample(model, Sampling(), options), strict=True):
        for hypothesis in found:
            penalty = ((5 + len(hypothesis.ids) + 1) / 6) ** 0.6
            expected = log_probability(model, source, hypothesis.ids) / penalty
            assert hypothesis.score == pytest.approx(expected)


def test_the_seed_decides() -> None:
    model, options = double(small()).eval(), SearchOptions(nbest=2)
    assert sample(model, Sampling(seed=3), options) == sample(model, Sampling(seed=3), options)
    assert sample(model, Sampling(seed=3), options) != sample(model, Sampling(seed=4), options)


def test_rules_and_prefixes_hold() -> None:
    model = double(small()).eval()
    options = SearchOptions(nbest=3, min_length=3, max_length=5)
    found = sample(model, Sampling(), options, torch.tensor([[9, 9], [0, 0]]))
    assert all(h.ids[:2] == [9, 9] for h in found[0])
    assert all(3 <= len(h.ids) <= 5 for each in found for h in each)


def test_a_finished_translation_waits_for_longer_ones_under_a_rule_against_repetition() -> None:
    model = double(small()).eval()
    options = SearchOptions(nbest=3, no_repeat=2, length_penalty=0)
    for seed in range(5):
        for source, found in zip(SOURCE, sample(model, Sampling(seed=seed), options), strict=True):
            for hypothesis in found:
                two = list(pairwise(hypothesis.ids))
                assert len(two) == len(set(two))
                expected = log_probability(model, source, hypothesis.ids)
                assert hypothesis.score == pytest.approx(expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": 0.0}, "a temperature from 0.01 to 100"),
        ({"temperature": 1e-40}, "a temperature from 0.01 to 100"),
        ({"temperature": float("inf")}, "a temperature from 0.01 to 100"),
        ({"temperature": float("nan")}, "a temperature from 0.01 to 100"),
        ({"top_k": -1}, "a top_k of 0 or more"),
        ({"top_p": 0.0}, "a top_p above 0, at most 1"),
        ({"top_p": 1.5}, "a top_p above 0, at most 1"),
    ],
)
def test_what_cannot_be_drawn_from_is_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(MuteError, match=message):
        Sampling(**settings)  # type: ignore[arg-type]
