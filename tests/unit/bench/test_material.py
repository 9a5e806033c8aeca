import pytest
import torch

from mute.bench.material import (
    MEAN_LENGTH,
    Material,
    RandomPairs,
    equal_lengths,
    natural_lengths,
    open_material,
    random_material,
)
from mute.config import Config, TrainConfig
from mute.data.vocabulary import BOS, EOS, PAD
from mute.errors import MuteError

CPU = torch.device("cpu")


def material(budget: int = 500, sizes: tuple[int, int] | None = None) -> Material:
    return open_material(Config(), TrainConfig(run="x", batch_tokens=budget), CPU, sizes)


def test_random_pairs_have_the_lengths_and_words_that_are_asked_for() -> None:
    pairs = RandomPairs((40, 90), natural_lengths(longest=60, seed=3), seed=3)
    for number, size in enumerate((40, 90)):
        lengths = pairs.lengths[number]
        assert abs(lengths.mean() - MEAN_LENGTH) < 2
        assert (lengths.min(), lengths.max()) == (1, 60)
        words = [word for index in range(300) for word in pairs[index][number]]
        assert len(pairs[7][number]) == lengths[7]
        assert (min(words), max(words)) == (4, size - 1)


def test_random_pairs_are_the_same_every_time() -> None:
    first, again, other = (
        RandomPairs((40, 40), natural_lengths(60, seed), seed)[5] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_sentences_of_one_length_fill_the_budget_without_padding() -> None:
    training = TrainConfig(run="x", batch_tokens=100)
    found = random_material(equal_lengths(9), training, CPU, (40, 90))
    assert found.mean_lengths == (9, 9)
    ((batch,),) = (found.batches(plan) for plan in found.first_steps(1, accumulate=1))
    assert batch.source.shape == batch.target_input.shape == (10, 10)  # each with its end
    assert batch.padding == 0


def test_a_sentence_longer_than_a_batch_is_refused() -> None:
    with pytest.raises(MuteError, match=r"train\.batch_tokens \(9\) is less than the longest"):
        random_material(equal_lengths(9), TrainConfig(run="x", batch_tokens=9), CPU, (40, 40))


def test_without_prepared_data_a_vocabulary_of_32000_is_assumed() -> None:
    found = material()
    assert not found.prepared
    assert found.sizes == (32_000, 32_000)


def test_steps_are_made_of_as_many_batches_as_a_run_would_take_each_in_the_budget() -> None:
    found = material(budget=300)
    plans = found.first_steps(3, accumulate=2)
    assert [len(plan) for plan in plans] == [2, 2, 2]
    for batch in (batch for plan in plans for batch in found.batches(plan)):
        assert max(batch.source.numel(), batch.target_input.numel()) <= 300


def test_the_longest_sentence_fits_into_a_small_budget() -> None:
    assert material(budget=20).longest <= 20


def test_a_full_batch_has_no_padding() -> None:
    batch = material(sizes=(30, 20)).full_batch(4, 9)
    assert batch.source.shape == batch.target_input.shape == batch.target_output.shape == (4, 9)
    assert batch.padding == 0
    assert batch.target_tokens == 36
    assert (batch.target_input[:, 0] == BOS).all()
    assert (batch.target_input[:, 1:] == batch.target_output[:, :-1]).all()
    assert (batch.source[:, -1] == EOS).all()
    assert (batch.target_output[:, -1] == EOS).all()
    assert batch.target_output.max() < 20
    assert PAD not in batch.source


def test_a_vocabulary_without_words_is_refused() -> None:
    with pytest.raises(MuteError, match="--vocab-size 4: leaves no word beside the 4 special"):
        material(sizes=(100, 4))
