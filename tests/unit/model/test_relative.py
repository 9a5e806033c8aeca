import pytest
import torch

from mute.model.relative import RelativePositions, to_distances, to_positions


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (1, 5), (4, 4), (2, 6)])
def test_a_column_per_distance_becomes_a_column_per_position(queries: int, keys: int) -> None:
    # Queries are the last positions; column c of row i stands for the distance c - (keys - 1).
    by_distance = torch.arange(1 - keys, queries + 1).expand(queries, -1)
    first = keys - queries
    expected = torch.tensor([[j - (first + i) for j in range(keys)] for i in range(queries)])
    assert torch.equal(to_positions(by_distance, keys), expected)


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (1, 5), (4, 4), (2, 6)])
def test_the_way_back_loses_nothing(queries: int, keys: int) -> None:
    by_position = torch.rand(3, queries, keys) + 1
    by_distance = to_distances(by_position)
    assert torch.equal(to_positions(by_distance, keys), by_position)
    assert by_distance.count_nonzero() == by_position.numel()


@pytest.mark.parametrize("clip", [1, 2, 7])
@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (1, 5)])
def test_both_terms_equal_a_double_loop(clip: int, queries: int, keys: int) -> None:
    relative = RelativePositions(members=2, k=4, clip=clip).double()
    q = torch.randn(2, 3, 2, queries, 4, dtype=torch.float64)
    weights = torch.rand(2, 3, 2, queries, keys, dtype=torch.float64)

    scores = relative.scores(q, keys)
    mixed = relative.mixed(weights)

    for i in range(queries):
        position = keys - queries + i
        expected = torch.zeros_like(mixed[..., i, :])
        for j in range(keys):
            row = min(max(j - position, -clip), clip) + clip
            key, value = relative.keys[:, row], relative.values[:, row]
            term = (q[..., i, :] * key[:, None, None]).sum(-1)
            torch.testing.assert_close(scores[..., i, j], term)
            expected += weights[..., i, j, None] * value[:, None, None]
        torch.testing.assert_close(mixed[..., i, :], expected)
