"""Products in 8 bits against the numbers they stand for."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from mute.model.kernels import widths
from mute.translate.int8 import FbgemmLinear, Int8Linear, has_wide_sums, int8_linear, rounds_inputs
from mute.translate.weights import Weights
from tests.machines import needs_int8


def rounded(x: Tensor) -> Tensor:
    """Every row to one of 255 numbers."""
    step = x.abs().amax(-1, keepdim=True).clamp(min=1e-12) / 127
    return (x / step).round() * step


@pytest.mark.parametrize("lanes", widths())
@pytest.mark.parametrize("rounding", [False, True])
@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(1, 16, 16), (7, 640, 83), (9, 48, 130)])
@torch.inference_mode()
def test_products_are_those_of_rounded_numbers(
    rows: int,
    inputs: int,
    outputs: int,
    rounding: bool,
    lanes: int,
    use_lanes: Callable[[int], None],
) -> None:
    if rounding and lanes == 16 and not has_wide_sums():
        pytest.skip("this CPU has no VNNI")
    use_lanes(lanes)
    x, weight, bias = (
        torch.randn(2, rows, inputs),
        torch.randn(outputs, inputs),
        torch.randn(outputs),
    )
    x[0, 0] = 0
    seen = rounded(x) if rounding else x
    for added in (bias, None):
        ours = Weights(weight, added, narrow=True, rounding=rounding).multiply(x)
        expected = seen.double() @ rounded(weight).double().T + (0 if added is None else added)
        torch.testing.assert_close(ours.double(), expected, rtol=1e-4, atol=1e-3)
    whole = Weights(weight, bias, narrow=False, rounding=False).multiply(x)
    expected = x.double() @ weight.double().T + bias
    torch.testing.assert_close(whole.double(), expected, rtol=1e-4, atol=1e-3)


@needs_int8
@torch.inference_mode()
def test_both_kinds_of_products_are_near_the_exact_one() -> None:
    x, weight = torch.randn(5, 64), torch.randn(33, 64)
    exact = x @ weight.T
    for kind in (FbgemmLinear, int8_linear):
        apart = (kind(weight, None)(x) - exact).norm() / exact.norm()
        assert 0 < apart < 0.03
    assert isinstance(int8_linear(weight, None), Int8Linear) == rounds_inputs()
    assert isinstance(int8_linear(weight[:, :60], None), FbgemmLinear)


@pytest.mark.skipif(not rounds_inputs(), reason="a CPU without VNNI")
@pytest.mark.parametrize("x", [torch.nan, torch.inf])
@torch.inference_mode()
def test_what_is_no_number_stays_so(x: float) -> None:
    inputs = torch.randn(3, 64)
    inputs[1, 5] = x
    product = Int8Linear(torch.randn(32, 64), None)(inputs)
    assert product[1].isnan().all()
    assert product[[0, 2]].isfinite().all()
