import pytest
import torch

from mute.model.dropout import Dropout


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_it_drops_at_its_rate_and_keeps_the_mean(p: float) -> None:
    x = torch.ones(501, 999)
    dropped = Dropout(p)(x)
    share = (dropped == 0).double().mean()
    assert abs(share - p) < 5 * (p * (1 - p) / x.numel()) ** 0.5
    assert abs(dropped.mean() - 1) < 0.01
    assert dropped.unique().numel() == 2


def test_neighbours_are_independent() -> None:
    kept = (Dropout(0.5)(torch.ones(200_000)) > 0).double() - 0.5
    for lag in (1, 2, 3, 4, 8):
        assert abs((kept[lag:] * kept[:-lag]).mean()) < 0.25 * 5 / 200_000**0.5


def test_the_gradient_passes_where_the_value_did() -> None:
    x = torch.ones(1000, requires_grad=True)
    out = Dropout(0.25)(x)
    out.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, out.detach())


def test_it_does_nothing_in_evaluation_or_at_rate_zero() -> None:
    x = torch.randn(10)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_the_seed_decides() -> None:
    x = torch.ones(1001)
    torch.manual_seed(4)
    first = Dropout(0.3)(x)
    assert not torch.equal(first, Dropout(0.3)(x))
    torch.manual_seed(4)
    assert torch.equal(first, Dropout(0.3)(x))


def test_adding_in_one_pass_is_adding() -> None:
    x, y = torch.randn(2, 3, 4), torch.randn(5, 2, 3, 4)
    for dropout in (Dropout(0.3), Dropout(0.3).eval(), Dropout(0.0)):
        torch.manual_seed(4)
        expected = x + dropout(y)
        torch.manual_seed(4)
        torch.testing.assert_close(dropout.add(x, y), expected)
