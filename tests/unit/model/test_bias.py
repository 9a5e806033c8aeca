"""The three noises, on real sentences with padding behind them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from mute.config import BiasKind
from mute.model.bias import Bias
from mute.model.context import Context

D = 4
LENGTHS = st.lists(st.integers(0, 12), min_size=1, max_size=6)
SEEDS = st.integers(0, 2**32)


def seen_by(
    kinds: list[BiasKind], lengths: list[int], seed: int, sample_rate: float = 1.0, units: int = 0
) -> tuple[Tensor, Tensor, Bias]:
    """The input, where every position of every sentence is unlike all others, and the views."""
    width = max(*lengths, 1)
    bias = Bias(kinds, units or len(kinds), D, sample_rate)
    x = torch.arange(len(lengths) * width * D, dtype=torch.float64).view(len(lengths), width, D)
    real = torch.arange(width) < torch.tensor(lengths)[:, None]
    context = Context(real, real[:, None, None], torch.Generator().manual_seed(seed))
    return x, bias.double()(x, context), bias


def differing(x: Tensor, view: Tensor) -> list[int]:
    """The positions of one sentence whose vectors changed."""
    return (x != view).any(-1).nonzero().flatten().tolist()


def as_multiset(x: Tensor) -> list[list[float]]:
    return sorted(x.tolist())


@given(LENGTHS, SEEDS)
def test_swap_exchanges_two_positions_at_most_three_apart(lengths: list[int], seed: int) -> None:
    x, views, _ = seen_by(["swap"], lengths, seed)
    for sentence, view, length in zip(x, views[0], lengths, strict=True):
        changed = differing(sentence, view)
        assert as_multiset(view) == as_multiset(sentence)
        if length < 2:
            assert changed == []
            continue
        first, second = changed
        assert second < length
        assert second - first <= 3
        assert torch.equal(view[first], sentence[second])
        assert torch.equal(view[second], sentence[first])


@given(LENGTHS, SEEDS)
def test_disorder_permutes_one_window_of_three(lengths: list[int], seed: int) -> None:
    x, views, _ = seen_by(["disorder"], lengths, seed)
    for sentence, view, length in zip(x, views[0], lengths, strict=True):
        changed = differing(sentence, view)
        assert as_multiset(view) == as_multiset(sentence)
        if length < 3:
            assert changed == []
        if changed:
            assert changed[-1] - changed[0] < 3
            assert changed[-1] < length


@given(LENGTHS, SEEDS)
def test_mask_replaces_exactly_one_position(lengths: list[int], seed: int) -> None:
    x, views, bias = seen_by(["mask"], lengths, seed)
    assert bias.mask is not None
    for sentence, view, length in zip(x, views[0], lengths, strict=True):
        changed = differing(sentence, view)
        assert len(changed) == min(length, 1)
        for position in changed:
            assert position < length
            assert torch.equal(view[position], bias.mask[0])


def test_every_masking_unit_has_a_vector_of_its_own() -> None:
    x, views, bias = seen_by(["mask", "identity", "mask"], [5, 3], seed=1)
    assert bias.mask is not None
    assert not torch.equal(bias.mask[0], bias.mask[1])
    for vector, unit in enumerate((0, 2)):
        for sentence, view in zip(x, views[unit], strict=True):
            (position,) = differing(sentence, view)
            assert torch.equal(view[position], bias.mask[vector])


@given(LENGTHS, SEEDS, st.permutations(["identity", "swap", "disorder", "mask", "mask", "swap"]))
def test_padding_and_identity_units_are_never_touched(
    lengths: list[int], seed: int, kinds: list[BiasKind]
) -> None:
    x, views, _ = seen_by(kinds, lengths, seed)
    assert views.shape == (6, *x.shape)
    for index, length in enumerate(lengths):
        assert torch.equal(views[:, index, length:], x[index, length:].expand(6, -1, -1))
    assert torch.equal(views[kinds.index("identity")], x)


def test_every_outcome_occurs_about_equally_often() -> None:
    sentences = 6000
    x, views, _ = seen_by(["swap", "disorder", "mask"], [5] * sentences, seed=3)
    swaps, orders, masks = torch.zeros(5, 5), set(), torch.zeros(5)
    for i in range(sentences):
        first, second = differing(x[i], views[0, i])
        swaps[first, second] += 1
        orders.add(tuple(((views[1, i, :, 0] - x[i, 0, 0]) / D).tolist()))
        masks[differing(x[i], views[2, i])] += 1
    by_distance = torch.stack([swaps.diagonal(distance).sum() for distance in (1, 2, 3)])
    assert by_distance.sub(sentences / 3).abs().max() < 5 * (sentences * 2 / 9) ** 0.5
    assert swaps.diagonal(4).sum() == 0
    assert masks.sub(sentences / 5).abs().max() < 5 * (sentences * 4 / 25) ** 0.5
    # Three windows of 3! orders each, which share the identity and two exchanges of neighbours.
    assert len(orders) == 3 * 6 - 2 - 2


def test_the_bias_acts_in_training_only() -> None:
    bias = Bias(["swap", "mask"], 2, D, sample_rate=1.0)
    x = torch.randn(2, 5, D)
    real = torch.ones(2, 5, dtype=torch.bool)
    context = Context(real, real[:, None, None])
    assert bias.train()(x, context).size(0) == 2
    assert torch.equal(bias.eval()(x, context), x[None])


def test_one_draw_for_all_units_at_the_sample_rate() -> None:
    generator = torch.Generator().manual_seed(7)
    bias = Bias(["swap", "mask", "swap"], 4, D, sample_rate=0.85)
    x = torch.randn(3, 6, D)
    real = torch.ones(3, 6, dtype=torch.bool)
    context = Context(real, real[:, None, None], generator)
    acted = 0
    for _ in range(2000):
        views = bias(x, context)
        if len(views) == 1:
            continue
        acted += 1
        assert all((views[unit] != x).any() for unit in (0, 1, 2))
        assert torch.equal(views[3], x)  # a unit the list does not name sees the input clean
    assert abs(acted / 2000 - 0.85) < 0.035  # four standard deviations


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_sample_rates_at_the_ends_mean_never_and_always(rate: float) -> None:
    for seed in range(50):
        _, views, _ = seen_by(["mask", "identity"], [4], seed, sample_rate=rate)
        assert len(views) == (2 if rate else 1)


def test_the_same_generator_gives_the_same_noise_and_the_global_one_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    kinds: list[BiasKind] = ["swap", "disorder", "identity"]
    _, first, _ = seen_by(kinds, [9, 4, 7], seed=5)
    _, again, _ = seen_by(kinds, [9, 4, 7], seed=5)
    _, other, _ = seen_by(kinds, [9, 4, 7], seed=6)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_mask_vector_starts_with_length_about_one() -> None:
    bias = Bias(["mask"] * 50, 50, 256, sample_rate=1.0)
    assert bias.mask is not None
    assert abs(bias.mask.std() * 16 - 1) < 0.05
