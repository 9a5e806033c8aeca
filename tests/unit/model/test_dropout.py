from collections.abc import Callable

import pytest
import torch

from mute.model.context import Context
from mute.model.dropout import Dropout
from mute.model.kernels import widths
from mute.model.layer import MultiUnitLayer
from mute.model.transformer import build
from tests.unit.model.oracle import small

SOURCE, TARGET = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2, 8, 9]])
PLACES = {
    "dropout": {
        "encoder.embedding.dropout",
        "encoder.layers.0.units.dropout",
        "decoder.embedding.dropout",
        "decoder.layers.0.units.dropout",
    },
    "attention_dropout": {
        "encoder.layers.0.units.mixer.dropout",
        "decoder.layers.0.units.mixer.dropout",
        "decoder.layers.0.units.cross.dropout",
    },
    "activation_dropout": {
        "encoder.layers.0.units.feedforward.dropout",
        "decoder.layers.0.units.feedforward.dropout",
    },
}


@pytest.fixture(params=["compiled", "plain"], autouse=True)
def _both_forms(request: pytest.FixtureRequest, use_lanes: Callable[[int], None]) -> None:
    use_lanes(0 if request.param == "plain" else widths()[0])


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_it_drops_at_its_rate_and_keeps_the_mean(p: float) -> None:
    x = torch.ones(501, 999)
    dropped = Dropout(p)(x)
    share = (dropped == 0).double().mean()
    assert abs(share - p) < 5 * (p * (1 - p) / x.numel()) ** 0.5
    assert abs(dropped.mean() - 1) < 0.01
    assert dropped.unique().numel() == 2


def test_the_width_of_registers_does_not_show(use_lanes: Callable[[int], None]) -> None:
    x = torch.randn(3, 101)
    dropped = []
    for lanes in widths():
        use_lanes(lanes)
        torch.manual_seed(1)
        dropped.append(Dropout(0.3)(x))
    assert all(torch.equal(each, dropped[0]) for each in dropped)


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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((2, 3, 4), (5, 2, 3, 4)),
        ((1, 2, 3, 4), (5, 2, 3, 4)),
        ((2, 1, 4), (2, 3, 4)),
        ((5, 2, 3), (2, 3)),
        ((2, 3, 17), (1, 2, 3, 17)),
    ],
)
def test_adding_in_one_pass_is_adding(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    x, y = torch.randn(one), torch.randn(other)
    for dropout in (Dropout(0.3), Dropout(0.3).eval(), Dropout(0.0)):
        torch.manual_seed(4)
        expected = x + dropout(y)
        torch.manual_seed(4)
        torch.testing.assert_close(dropout.add(x, y), expected)


def test_the_gradient_of_what_it_is_added_to_is_the_whole() -> None:
    x, y = torch.randn(7, 5, requires_grad=True), torch.randn(3, 7, 5, requires_grad=True)
    slope = torch.randn(3, 7, 5)
    Dropout(0.3).add(x, y).backward(slope)
    assert x.grad is not None
    torch.testing.assert_close(x.grad, slope.sum(0))


def test_what_is_not_finite_stays_so() -> None:
    assert Dropout(0.5)(torch.full((1001,), torch.nan)).isnan().all()


def test_the_gradient_has_a_gradient() -> None:
    x = torch.ones(100, requires_grad=True)
    (slope,) = torch.autograd.grad((Dropout(0.5)(x) ** 2).sum(), x, create_graph=True)
    slope.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, slope.detach())  # 2 · scale² where it was kept, 0 elsewhere


def test_what_is_dropped_does_not_depend_on_threads() -> None:
    x = torch.randn(33, 70)
    dropped = []
    before = torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        torch.manual_seed(4)
        dropped.append(Dropout(0.3)(x))
    torch.set_num_threads(before)
    assert torch.equal(*dropped)


@pytest.mark.parametrize("key", PLACES)
def test_every_dropout_of_a_model_has_the_rate_of_its_own_key(key: str) -> None:
    rates = {"dropout": 0.1, "attention_dropout": 0.2, "activation_dropout": 0.3}
    model = build(small(encoder_layers=1, decoder_layers=1, **rates), 13)
    dropouts = {name: part.p for name, part in model.named_modules() if isinstance(part, Dropout)}
    assert {name for name, rate in dropouts.items() if rate == rates[key]} == PLACES[key]
    assert len(dropouts) == sum(map(len, PLACES.values()))


@pytest.mark.parametrize("place", sorted(set().union(*PLACES.values())))
def test_every_dropout_of_a_model_drops_something(place: str) -> None:
    model = build(small(encoder_layers=1, decoder_layers=1), 13)
    before = model(SOURCE, TARGET)
    part = model.get_submodule(place)
    assert isinstance(part, Dropout)
    part.p = 0.5
    assert not torch.allclose(model(SOURCE, TARGET), before)


def test_what_every_sub_layer_adds_can_be_dropped() -> None:
    layer = build(small(dropout=0.1), 13).decoder.layers[0]
    assert isinstance(layer, MultiUnitLayer)
    x, memory = torch.randn(1, 3, 8), torch.randn(1, 4, 8)
    real, mask = torch.ones(1, 3, dtype=torch.bool), torch.ones(1, 1, 1, 4, dtype=torch.bool)
    context = Context(real, torch.ones(1, 1, 3, 3, dtype=torch.bool).tril(), None, memory, mask)
    dropout = layer.units.dropout
    assert isinstance(dropout, Dropout)
    dropout.p = 1 - 1e-9
    assert torch.equal(layer.units(x[None], x, context), x[None])
