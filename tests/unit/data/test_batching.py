import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mute.data import batching
from mute.data.batching import (
    BatchStream,
    Indices,
    Lengths,
    Position,
    make_batch,
    pad,
)
from mute.errors import MuteError


class Sentences:
    """A corpus in memory whose pairs have the given lengths."""

    def __init__(self, lengths: list[tuple[int, int]]) -> None:
        self._lengths = np.array(lengths, dtype=np.int32).reshape(-1, 2)

    def __len__(self) -> int:
        return len(self._lengths)

    def __getitem__(self, index: int) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        source, target = self._lengths[index]
        return np.arange(4, 4 + source), np.arange(10, 10 + target)

    @property
    def lengths(self) -> Lengths:
        return self._lengths[:, 0], self._lengths[:, 1]

    def lengths_of(self, indices: Indices) -> Lengths:
        return self._lengths[indices, 0], self._lengths[indices, 1]


def padding(corpus: Sentences, batches: list[Indices]) -> float:
    """Its share, in the mean of some batches."""
    return float(np.mean([make_batch(corpus, each).padding for each in batches]))


LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=200)


@given(LENGTHS, st.integers(31, 400), st.integers(0, 5))
def test_an_epoch_sees_every_pair_once_within_the_budget(
    lengths: list[tuple[int, int]], budget: int, epoch: int
) -> None:
    corpus = Sentences(lengths)
    batches = list(BatchStream(corpus, budget, seed=1).epoch(epoch))
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(corpus)))
    for indices in batches:
        batch = make_batch(corpus, indices)
        longer = max(batch.source.size(1), batch.target_input.size(1))
        assert longer * len(indices) <= budget


def test_sampled_pairs_are_batched_by_the_lengths_they_have_in_that_epoch() -> None:
    usual = Sentences([(4, 4)] * 100)
    random = np.random.default_rng(1)
    epochs = [Sentences([(n, n) for n in random.integers(4, 20, 100).tolist()]) for _ in range(2)]
    stream = BatchStream(usual, 60, seed=1, sample=lambda epoch: epochs[epoch])
    for number, sampled in enumerate(epochs):
        batches = list(stream.epoch(number))
        assert sorted(np.concatenate(batches).tolist()) == list(range(100))
        assert padding(sampled, batches) < 0.1
        for indices in batches:
            batch = stream.load(indices, number)
            assert batch.source.numel() <= 60
            assert batch.source.size(1) == max(sampled.lengths[0][indices]) + 1


def test_a_sample_that_is_longer_than_the_budget_has_a_batch_of_its_own() -> None:
    sampled = Sentences([(3, 3), (50, 3), (3, 3)])
    batches = BatchStream(Sentences([(3, 3)] * 3), 20, seed=1, sample=lambda _: sampled).epoch(0)
    assert sorted(sorted(batch.tolist()) for batch in batches) == [[0, 2], [1]]


def test_the_order_is_decided_by_seed_and_epoch() -> None:
    corpus = Sentences([(length % 9 + 1, length % 7 + 1) for length in range(300)])

    def order(seed: int, epoch: int) -> list[list[int]]:
        return [batch.tolist() for batch in BatchStream(corpus, 40, seed).epoch(epoch)]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)


def test_short_and_long_batches_come_in_any_order() -> None:
    corpus = Sentences([(length % 9 + 1, length % 7 + 1) for length in range(300)])
    for epoch in range(3):
        batches = BatchStream(corpus, 40, seed=1).epoch(epoch)
        longest = [max(max(corpus.lengths[side][batch]) for side in (0, 1)) for batch in batches]
        assert longest != sorted(longest)
        assert longest != sorted(longest, reverse=True)


def test_a_pair_shares_its_batch_with_others_in_every_epoch() -> None:
    corpus = Sentences([(length % 9 + 1, length % 7 + 1) for length in range(300)])

    def shared(epoch: int) -> set[frozenset[int]]:
        batches = BatchStream(corpus, 40, seed=1).epoch(epoch)
        return {frozenset(batch.tolist()) for batch in batches if len(batch) > 1}

    first, second = shared(0), shared(1)
    assert len(first & second) < len(first) / 2


@pytest.mark.parametrize("pool", [batching.POOL, 30])
@pytest.mark.parametrize("steps", [0, 1, 7, 30])
def test_a_stream_goes_on_from_any_position(
    steps: int, pool: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "POOL", pool)
    corpus = Sentences([(length % 9 + 1, length % 7 + 1) for length in range(100)])
    stream = BatchStream(corpus, 40, seed=1)
    whole = stream.after(Position())
    position = Position()
    for _ in range(steps):
        _, position = next(whole)
    resumed = stream.after(position)
    for _ in range(40):
        expected, resumed_batch = next(whole), next(resumed)
        assert expected[0].tolist() == resumed_batch[0].tolist()
        assert expected[1] == resumed_batch[1]


def test_pools_that_lie_behind_are_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "SAMPLED_POOL", 30)
    corpus, drawn = Sentences([(3, 3)] * 100), list[int]()

    class Counting(Sentences):
        def lengths_of(self, indices: Indices) -> Lengths:
            drawn.append(len(indices))
            return super().lengths_of(indices)

    sampled = Counting([(7, 7)] * 100)
    stream = BatchStream(corpus, 40, seed=1, sample=lambda _: sampled)
    assert stream.batches_per_epoch() == 20
    assert len(list(stream.epoch(0))) == 20
    drawn.clear()
    next(stream.after(Position(0, 1, 3)))
    assert drawn == [10]


def test_weights_that_leave_nothing_are_refused() -> None:
    corpus = Sentences([(3, 3)] * 2000)
    with pytest.raises(MuteError, match=r"see 0\.002 pairs on average, of 2000; raise them"):
        BatchStream(corpus, 100, seed=1, weights=np.full(2000, 1e-6))


def test_weights_say_how_often_a_pair_is_seen() -> None:
    corpus = Sentences([(3, 3)] * 2000)
    weights = np.array([2.0] * 500 + [0.25] * 1500)
    stream = BatchStream(corpus, 100, seed=1, weights=weights)
    epochs = [np.concatenate(list(stream.epoch(epoch))) for epoch in (0, 1)]
    for seen in epochs:
        counts = np.bincount(seen, minlength=2000)
        assert (counts[:500] == 2).all()
        assert abs(counts[500:].mean() - 0.25) < 0.06
    assert set(epochs[0].tolist()) != set(epochs[1].tolist())


def test_sorting_by_length_leaves_little_padding() -> None:
    random = np.random.default_rng(1)
    source = random.integers(3, 40, 5000)
    target = np.clip(source + random.integers(-3, 4, 5000), 1, None)
    corpus = Sentences(list(zip(source.tolist(), target.tolist(), strict=True)))
    batches = list(BatchStream(corpus, 2000, seed=1).epoch(0))
    assert padding(corpus, batches) < 0.12
    unsorted = np.array_split(random.permutation(np.arange(5000, dtype=np.int32)), len(batches))
    assert padding(corpus, unsorted) > 0.3


def test_a_batch_has_its_ends_and_its_padding() -> None:
    batch = make_batch(Sentences([(2, 1), (1, 3)]), np.array([1, 0], dtype=np.int32))
    assert batch.source.tolist() == [[4, 3, 0], [4, 5, 3]]
    assert batch.target_input.tolist() == [[2, 10, 11, 12], [2, 10, 0, 0]]
    assert batch.target_output.tolist() == [[10, 11, 12, 3], [10, 3, 0, 0]]
    assert batch.target_tokens == 6
    assert batch.padding == pytest.approx(3 / 14)


def test_padding_goes_behind() -> None:
    assert torch.equal(pad([[5], [6, 7]]), torch.tensor([[5, 0], [6, 7]]))


def test_what_cannot_be_batched_is_told() -> None:
    with pytest.raises(MuteError, match="no pair to train on"):
        BatchStream(Sentences([]), 100, seed=1)
    with pytest.raises(MuteError, match=r"batch_tokens \(20\) is less than .* \(31 pieces"):
        BatchStream(Sentences([(30, 2)]), 20, seed=1)


def test_a_pair_that_is_never_seen_need_not_fit() -> None:
    corpus = Sentences([(3, 3)] * 3 + [(300, 3)])
    stream = BatchStream(corpus, 40, seed=1, weights=np.array([1.0, 1.0, 1.0, 0.0]))
    assert sorted(np.concatenate(list(stream.epoch(0))).tolist()) == [0, 1, 2]
