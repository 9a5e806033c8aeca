import pytest
import torch
from torch.nn import functional as F

from mute.config import ModelConfig
from mute.errors import MuteError
from mute.model.transformer import Transformer, build
from tests.unit.model.oracle import double, small

KINDS = ["identity", "swap", "disorder", "mask"]
SYSTEMS = {
    "transformer": {"relative_positions": 0},
    "relative": {},
    "relative only": {"sinusoidal_positions": False},
    "mute": {"units": 4},
    "bias": {"units": 4, "bias": KINDS},
    "bias + seq": {"units": 4, "bias": KINDS, "sequential": True},
    "fixed order": {"units": 4, "bias": KINDS, "sequential": True, "order": "fixed"},
    "shared ffn": {"units": 3, "shared": "ffn"},
    "shared attention": {"units": 3, "shared": "attention"},
    "convolution": {"units": 3, "unit": "convolution"},
    "decoder": {"decoder": {"units": 2, "sequential": True, "bias": ["mask"], "sample_rate": 1.0}},
    "decoder convolution": {"decoder": {"units": 2, "unit": "convolution"}},
    "decoder shared": {"decoder": {"units": 2, "shared": "attention"}},
    "decoder shared, bias": {
        "decoder": {"units": 2, "shared": "attention", "bias": ["mask"], "sample_rate": 1.0}
    },
    "one table": {"share_embeddings": True},
    "own output": {"tie_output": False},
}
every_system = pytest.mark.parametrize("settings", SYSTEMS.values(), ids=SYSTEMS.keys())

SOURCE = torch.tensor([[5, 6, 7, 8, 9, 3], [4, 10, 3, 0, 0, 0]])
TARGET = torch.tensor([[2, 7, 8, 9, 12], [2, 6, 11, 0, 0]])


@every_system
def test_gradients_reach_every_parameter(settings: dict[str, object]) -> None:
    model = double(small(**settings, sample_rate=1.0))
    logits = model(SOURCE, TARGET)
    loss = F.cross_entropy(logits.flatten(0, 1), TARGET.flatten()) + model.penalty()
    loss.backward()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name


@every_system
def test_evaluation_is_deterministic(settings: dict[str, object]) -> None:
    model = double(small(**{**settings, "dropout": 0.3})).eval()
    assert torch.equal(model(SOURCE, TARGET), model(SOURCE, TARGET))


@every_system
def test_step_by_step_equals_all_at_once(settings: dict[str, object]) -> None:
    model = double(small(**settings)).eval()
    at_once = model(SOURCE, TARGET)
    memory, mask = model.encoder(SOURCE)
    cache = model.decoder.start()
    for position in range(TARGET.size(1)):
        states = model.decoder(TARGET[:, position, None], memory, mask, cache)
        torch.testing.assert_close(model.output(states)[:, 0], at_once[:, position])


@every_system
def test_several_words_after_a_cache_equal_all_at_once(settings: dict[str, object]) -> None:
    model = double(small(**settings)).eval()
    memory, mask = model.encoder(SOURCE)
    cache = model.decoder.start()
    parts = [model.decoder(part, memory, mask, cache) for part in TARGET.split([2, 3], dim=1)]
    torch.testing.assert_close(torch.cat(parts, 1), model.decoder(TARGET, memory, mask))


@every_system
def test_a_sentence_does_not_see_its_neighbours_or_its_padding(
    settings: dict[str, object],
) -> None:
    model = double(small(**settings)).eval()
    together = model(SOURCE, TARGET)
    alone = model(SOURCE[1:, :3], TARGET[1:, :3])
    torch.testing.assert_close(together[1:, :3], alone)


@every_system
def test_the_decoder_does_not_see_the_future(settings: dict[str, object]) -> None:
    model = double(small(**settings, sample_rate=1.0)).train()
    changed = TARGET.clone()
    changed[:, 3:] = torch.where(TARGET[:, 3:] > 0, 11, 0)
    before = model(SOURCE, TARGET, torch.Generator().manual_seed(1))
    after = model(SOURCE, changed, torch.Generator().manual_seed(1))
    torch.testing.assert_close(before[:, :3], after[:, :3])
    assert not torch.allclose(before[0, 3:], after[0, 3:])


def test_the_generator_decides_the_bias() -> None:
    model = double(small(units=4, bias=KINDS, sample_rate=1.0))
    outputs = [
        model(SOURCE, TARGET, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
    ]
    assert torch.equal(outputs[0], outputs[1])
    assert not torch.equal(outputs[0], outputs[2])


def test_positions_can_be_switched_off() -> None:
    settings: dict[str, object] = {"relative_positions": 0, "sinusoidal_positions": False}
    model = double(small(**settings)).eval()
    memory, _ = model.encoder(torch.tensor([[5, 6, 7]]))
    turned, _ = model.encoder(torch.tensor([[7, 6, 5]]))
    torch.testing.assert_close(memory, turned.flip(1))  # a bag of words
    for one_of_them in ({"relative_positions": 2}, {"sinusoidal_positions": True}):
        model = double(small(**{**settings, **one_of_them})).eval()
        memory, _ = model.encoder(torch.tensor([[5, 6, 7]]))
        turned, _ = model.encoder(torch.tensor([[7, 6, 5]]))
        assert not torch.allclose(memory, turned.flip(1))


def test_penalty_and_projection_do_nothing_without_a_permutation() -> None:
    model = build(small(units=4), vocab_size=13)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert model.penalty() == 0
    model.project_()
    model.round_()
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_penalty_is_the_sum_over_layers_and_rounding_ends_it() -> None:
    model = build(small(units=3, sequential=True), vocab_size=13)
    parts = [layer.fusion.penalty() for layer in model.multi_unit_layers()]
    torch.testing.assert_close(model.penalty(), sum(parts))
    assert model.penalty() > 0
    model.round_()
    assert model.penalty() == 0


def test_the_forward_pass_changes_no_weight() -> None:
    model = build(small(units=4, bias=KINDS, sequential=True), vocab_size=13).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    model(SOURCE, TARGET)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_tables_are_tied_and_shared_as_asked() -> None:
    def tables(config: ModelConfig) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        model = build(config, vocab_size=13)
        encoder, decoder = model.encoder.embedding.tokens, model.decoder.embedding.tokens
        return encoder.weight, decoder.weight, model.output.weight

    source, target, output = tables(small())
    assert target is output
    assert source is not target
    source, target, output = tables(small(share_embeddings=True))
    assert source is target is output
    source, target, output = tables(small(tie_output=False))
    assert len({id(source), id(target), id(output)}) == 3


def test_vocabularies_of_two_sizes() -> None:
    model = build(small(), vocab_size=(40, 13))
    assert model(torch.tensor([[39, 3]]), TARGET[:1]).shape == (1, 5, 13)
    with pytest.raises(MuteError, match="the source has 40 entries and the target 13"):
        build(small(share_embeddings=True), vocab_size=(40, 13))
    with pytest.raises(MuteError, match="vocabulary of 0 entries"):
        build(small(), vocab_size=0)


def test_the_model_learns() -> None:
    """A few steps on one batch: the loss falls to almost nothing."""
    torch.manual_seed(3)
    model: Transformer = build(
        small(units=4, bias=KINDS, sequential=True, d_model=32, d_ffn=64, relative_positions=4),
        vocab_size=13,
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    inputs, outputs = TARGET[:, :-1], TARGET[:, 1:]
    for _ in range(80):
        optimizer.zero_grad()
        logits = model(SOURCE, inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), outputs.flatten(), ignore_index=0)
        (loss + 0.01 * model.penalty()).backward()
        optimizer.step()
        model.project_()
    assert loss < 0.1
