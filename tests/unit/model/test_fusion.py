import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mute.model.fusion import FixedOrder, Fusion, LearnedOrder, fuse
from tests.unit.model.oracle import accumulate

UNITS = st.integers(2, 6)
SEEDS = st.integers(0, 2**32)


def random_fusion(units: int, seed: int) -> LearnedOrder:
    torch.manual_seed(seed)
    fusion = LearnedOrder(units).double()
    torch.nn.init.normal_(fusion.alpha)
    torch.nn.init.uniform_(fusion.matrix)
    return fusion


def permutation(order: tuple[int, ...]) -> torch.Tensor:
    """Unit order[i] stands at place i."""
    matrix = torch.zeros(len(order), len(order))
    for place, unit in enumerate(order):
        matrix[unit, place] = 1
    return matrix


def test_mute_sums_its_units_by_alpha_from_equal_shares() -> None:
    fusion = Fusion(4)
    torch.testing.assert_close(fusion(), torch.full((4,), 0.25))
    outputs = torch.randn(4, 2, 3, 5)
    alpha = torch.nn.init.normal_(fusion.alpha)
    expected = sum(alpha[u] * outputs[u] for u in range(4))
    torch.testing.assert_close(fuse(fusion(), outputs), expected)


@given(UNITS, SEEDS)
def test_folded_coefficients_equal_the_explicit_accumulation(units: int, seed: int) -> None:
    fusion = random_fusion(units, seed)
    outputs = torch.randn(units, 2, 3, 5, dtype=torch.float64)
    explicit = accumulate(fusion.alpha, fusion.matrix, list(outputs))
    torch.testing.assert_close(fuse(fusion(), outputs), explicit)


@given(UNITS, SEEDS)
def test_a_fixed_order_is_the_explicit_accumulation_as_listed(units: int, seed: int) -> None:
    torch.manual_seed(seed)
    fusion = FixedOrder(units).double()
    torch.nn.init.normal_(fusion.alpha)
    outputs = torch.randn(units, 2, 3, 5, dtype=torch.float64)
    explicit = accumulate(fusion.alpha, torch.eye(units), list(outputs))
    torch.testing.assert_close(fuse(fusion(), outputs), explicit)


def test_a_fixed_order_learns_alpha_alone_and_stays_as_it_is() -> None:
    fusion = FixedOrder(4)
    assert list(fusion.state_dict()) == [name for name, _ in fusion.named_parameters()] == ["alpha"]
    assert fusion.penalty() == 0
    before = fusion().detach().clone()
    fusion.project_()
    fusion.round_()
    assert torch.equal(fusion(), before)
    assert fusion.order() == [0, 1, 2, 3]
    assert torch.equal(fusion.matrix, torch.eye(4))


def test_with_a_true_permutation_the_units_stand_in_its_order() -> None:
    fusion = LearnedOrder(3)
    fusion.matrix.data = permutation((2, 0, 1))
    fusion.alpha.data = torch.tensor([0.0, 1.0, 0.0])
    # Only the second accumulation counts: the mean of the first two units in the order.
    torch.testing.assert_close(fusion(), torch.tensor([0.5, 0.0, 0.5]))


@pytest.mark.parametrize("units", [2, 3, 4])
def test_penalty_is_zero_on_every_permutation(units: int) -> None:
    fusion = LearnedOrder(units)
    for order in itertools.permutations(range(units)):
        fusion.matrix.data = permutation(order)
        assert fusion.penalty() == 0


@given(UNITS, SEEDS)
def test_penalty_is_positive_elsewhere(units: int, seed: int) -> None:
    fusion = random_fusion(units, seed)
    fusion.project_()
    expected = 0.0
    for line in (*fusion.matrix, *fusion.matrix.T):
        expected += line.abs().sum() - line.pow(2).sum().sqrt()
    torch.testing.assert_close(fusion.penalty(), expected)
    assert fusion.penalty() > 1e-6


@given(UNITS, SEEDS)
def test_projection_keeps_rows_non_negative_and_summing_to_one(units: int, seed: int) -> None:
    fusion = random_fusion(units, seed)
    fusion.matrix.data.normal_()
    expected = fusion.matrix.data.clamp(min=0)
    has_empty_line = (expected.sum(0) == 0).any() or (expected.sum(1) == 0).any()
    fusion.project_()
    assert (fusion.matrix >= 0).all()
    torch.testing.assert_close(fusion.matrix.sum(1), torch.ones(units, dtype=torch.float64))
    if not has_empty_line:  # the paper's two lines, in its order
        expected = expected / expected.sum(0, keepdim=True)
        expected = expected / expected.sum(1, keepdim=True)
        torch.testing.assert_close(fusion.matrix.data, expected)


def test_projection_survives_empty_rows_and_columns() -> None:
    fusion = LearnedOrder(3)
    fusion.matrix.data = -torch.eye(3)
    fusion.project_()
    torch.testing.assert_close(fusion.matrix.data, torch.full((3, 3), 1 / 3))


def test_a_fresh_matrix_is_doubly_stochastic_and_decided_for_no_order() -> None:
    matrix = LearnedOrder(4).matrix
    torch.testing.assert_close(matrix.sum(0), torch.ones(4))
    torch.testing.assert_close(matrix.sum(1), torch.ones(4))
    assert matrix.max() < 0.6


@pytest.mark.parametrize("units", [2, 4, 6])
def test_a_fresh_matrix_has_noise_of_its_own(units: int) -> None:
    matrix, other = LearnedOrder(units).matrix, LearnedOrder(units).matrix
    assert (matrix - 1 / units).abs().max() > 0.02
    assert (matrix - other).abs().max() > 0.02


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("units", [2, 4, 6])
def test_the_penalty_alone_drives_a_random_matrix_to_a_permutation(units: int, seed: int) -> None:
    fusion = random_fusion(units, seed)
    fusion.project_()
    optimizer = torch.optim.SGD([fusion.matrix], lr=0.05)
    for _ in range(1500):
        optimizer.zero_grad()
        fusion.penalty().backward()
        optimizer.step()
        fusion.project_()
    found = fusion.matrix.data.clone()
    fusion.round_()
    torch.testing.assert_close(found, fusion.matrix.data, atol=1e-3, rtol=0)


@given(st.integers(2, 5), SEEDS)
def test_rounding_finds_the_nearest_permutation_of_all(units: int, seed: int) -> None:
    fusion = random_fusion(units, seed)
    relaxed = fusion.matrix.data.clone()
    fusion.round_()
    orders = map(permutation, itertools.permutations(range(units)))
    nearest = min(float((relaxed - order).norm()) for order in orders)
    assert float((relaxed - fusion.matrix.data).norm()) == pytest.approx(nearest)
    assert fusion.penalty() == 0


def test_the_order_names_the_unit_at_each_place() -> None:
    fusion = LearnedOrder(3)
    fusion.matrix.data = 0.8 * permutation((2, 0, 1)) + 0.1
    assert fusion.order() == [2, 0, 1]


def test_a_single_units_weight_is_not_learned() -> None:
    fusion = Fusion(1)
    assert fusion().item() == 1
    assert not fusion.alpha.requires_grad
