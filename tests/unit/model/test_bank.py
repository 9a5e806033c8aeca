import pytest
import torch

from mute.model.bank import BankLinear, BankNorm, bank_product


@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("with_bias", [True, False])
def test_product_equals_a_loop_over_units(units: int, members: int, with_bias: bool) -> None:
    x = torch.randn(units, 2, 5, 4, dtype=torch.float64)
    weight = torch.randn(members, 6, 4, dtype=torch.float64)
    bias = torch.randn(members, 6, dtype=torch.float64) if with_bias else None

    together = bank_product(x, weight, bias)

    for unit in range(max(units, members)):
        own = x[min(unit, units - 1)] @ weight[min(unit, members - 1)].T
        if bias is not None:
            own = own + bias[min(unit, members - 1)]
        torch.testing.assert_close(together[unit], own)
    assert len(together) == max(units, members)


@pytest.mark.parametrize("members", [1, 3])
def test_products_have_all_derivatives(members: int) -> None:
    x, weight, bias = (
        torch.randn(*shape, dtype=torch.float64, requires_grad=True)
        for shape in ((members, 2, 3, 4), (members, 5, 4), (members, 5))
    )
    assert torch.autograd.gradcheck(bank_product, (x, weight, bias))
    assert torch.autograd.gradgradcheck(bank_product, (x, weight, bias))


@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("members", [1, 3])
def test_gradients_lie_in_memory_as_their_parameters_do(units: int, members: int) -> None:
    weight, bias = torch.randn(members, 6, 4), torch.randn(members, 6)
    weight.requires_grad_()
    product = bank_product(torch.randn(units, 2, 5, 4, requires_grad=True), weight, bias)
    (gradient,) = torch.autograd.grad(product.square().sum(), weight)
    assert gradient.stride() == weight.stride()  # else every step would copy it


@pytest.mark.parametrize("members", [1, 3])
def test_in_mixed_precision_products_are_rounded_and_gradients_are_not(members: int) -> None:
    x, weight, bias = (
        torch.randn(*shape, requires_grad=True)
        for shape in ((members, 7, 4), (members, 5, 4), (members, 5))
    )
    with torch.autocast("cpu", torch.bfloat16):
        product = bank_product(x, weight, bias)
    assert product.dtype == torch.bfloat16
    product.float().square().sum().backward()
    exact = torch.autograd.grad(bank_product(x, weight, bias).square().sum(), [x, weight, bias])
    for parameter, gradient in zip((x, weight, bias), exact, strict=True):
        assert parameter.grad is not None
        assert parameter.grad.dtype == torch.float32
        torch.testing.assert_close(parameter.grad, gradient, rtol=0.1, atol=0.3)


@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("members", [1, 3])
def test_norm_equals_a_loop_over_units(units: int, members: int) -> None:
    bank = BankNorm(members, 4).double()
    torch.nn.init.normal_(bank.weight)
    torch.nn.init.normal_(bank.bias)
    x = torch.randn(units, 2, 5, 4, dtype=torch.float64)

    together = bank(x)

    for unit in range(max(units, members)):
        plain = torch.nn.LayerNorm(4).double()
        plain.weight.data = bank.weight[min(unit, members - 1)].data
        plain.bias.data = bank.bias[min(unit, members - 1)].data
        torch.testing.assert_close(together[unit], plain(x[min(unit, units - 1)]))


def test_members_start_as_wide_as_they_would_alone() -> None:
    many = BankLinear(members=8, n=64, m=64, blocks=3)
    bound = (6 / 128) ** 0.5  # Glorot's for 64 × 64, whatever is stacked beside it
    assert many.weight.abs().max() <= bound
    assert many.weight.abs().max() > 0.98 * bound
    assert not torch.equal(many.weight[0], many.weight[1])
