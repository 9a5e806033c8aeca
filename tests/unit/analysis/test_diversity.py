import math

import pytest
import torch
from torch import Tensor

from mute.analysis.diversity import Diversity, measure_diversity, pair_sums
from mute.errors import MuteError
from mute.model.attention import SelfAttention
from mute.model.layer import MultiUnitLayer
from mute.model.transformer import Transformer
from tests.unit.model import oracle
from tests.unit.model.oracle import double, small

SENTENCES = [[5, 6, 7, 8, 3], [9, 10, 3], [4, 5, 11, 3]]


def padded(sentences: list[list[int]], width: int = 5) -> Tensor:
    return torch.tensor([ids + [0] * (width - len(ids)) for ids in sentences])


def measured(model: Transformer, *batches: Tensor, diagonal: bool = False) -> Diversity:
    found = measure_diversity(model.eval(), batches, diagonal=diagonal)
    assert found is not None
    return found


def attention_weights(attention: SelfAttention, unit: int, x: Tensor) -> Tensor:
    """(L, d) → (L, L), the mean over heads, one score at a time."""
    d, width = x.size(-1), x.size(-1) // attention.heads
    weight, bias = (oracle.member(p, unit) for p in (attention.input.weight, attention.input.bias))
    q, k, _ = (x @ weight.T + bias).split(d, dim=-1)
    assert attention.relative is not None
    table = oracle.member(attention.relative.keys, unit)
    clip = len(table) // 2
    mean = torch.zeros(len(x), len(x), dtype=x.dtype)
    for head in range(attention.heads):
        of_head = slice(head * width, (head + 1) * width)
        for i in range(len(x)):
            scores = [
                q[i, of_head] @ (k[j, of_head] + table[max(-clip, min(clip, j - i)) + clip])
                for j in range(len(x))
            ]
            mean[i] += torch.softmax(torch.stack(scores) / math.sqrt(width), 0)
    return mean / attention.heads


@torch.no_grad()
def by_loops(model: Transformer, sentences: list[list[int]]) -> dict[str, list[list[float]]]:
    """exp(−cos) of each pair i ≠ j and token, for every part and layer."""
    units = range(model.config.units)
    layers = [layer for layer in model.encoder.layers if isinstance(layer, MultiUnitLayer)]
    names = ("attention_weights", "attention_outputs", "ffn_outputs")
    found: dict[str, list[list[float]]] = {name: [[] for _ in layers] for name in names}
    for sentence in sentences:
        x = model.encoder.embedding(torch.tensor([sentence]))[0]
        for index, layer in enumerate(layers):
            seen = oracle.norm(x, layer.norm.weight, layer.norm.bias)
            mixer = layer.units.mixer
            assert isinstance(mixer, SelfAttention)
            attended = [oracle.self_attention(mixer, u, seen) for u in units]
            feedforward = layer.units.feedforward
            outputs = [oracle.feed_forward(feedforward, u, x + attended[u]) for u in units]
            weights = [attention_weights(mixer, u, seen) for u in units]
            for name, vectors in zip(names, (weights, attended, outputs), strict=True):
                for i in units:
                    for j in units:
                        for t in range(len(sentence)):
                            a, b = vectors[i][t], vectors[j][t]
                            if i != j:
                                cosine = a @ b / (a.norm() * b.norm())
                                found[name][index].append(math.exp(-float(cosine)))
            c = layer.fusion()
            x = sum(c[u] * (x + attended[u] + outputs[u]) for u in units)
    return found


@pytest.mark.parametrize("shared", ["none", "ffn"])
def test_it_is_the_mean_over_pairs_tokens_and_layers(shared: str) -> None:
    model = double(small(units=3, shared=shared, sequential=True))
    found = measured(model, padded(SENTENCES))
    expected = by_loops(model, SENTENCES)
    assert list(found.overall) == list(expected)
    for part, layers in expected.items():
        means = [sum(values) / len(values) for values in layers]
        assert found.layers[part] == pytest.approx(means, rel=1e-9)
        assert found.overall[part] == pytest.approx(sum(means) / len(means), rel=1e-9)
    assert found.tokens == 12


def test_batches_and_padding_do_not_matter() -> None:
    model = double(small(units=3))
    together = measured(model, padded(SENTENCES, width=9))
    alone = measured(model, *(torch.tensor([sentence]) for sentence in SENTENCES))
    assert together.tokens == alone.tokens
    assert together.overall == pytest.approx(alone.overall, rel=1e-9)


def test_the_authors_average_counts_each_unit_with_itself() -> None:
    model = double(small(units=4))
    pairs = measured(model, padded(SENTENCES))
    every = measured(model, padded(SENTENCES), diagonal=True)
    assert every.diagonal
    for part, value in pairs.overall.items():
        assert every.overall[part] == pytest.approx((3 * value + math.exp(-1)) / 4)


def test_units_that_do_the_same_have_one_over_e() -> None:
    model = double(small(units=3))
    for layer in model.encoder.layers:
        assert isinstance(layer, MultiUnitLayer)
        for weight in layer.units.parameters():
            weight.data[1:] = weight.data[:1].clone()
    found = measured(model, padded(SENTENCES))
    assert list(found.overall.values()) == pytest.approx([math.exp(-1)] * 3)


def test_right_angles_give_one_and_opposites_e() -> None:
    vectors = torch.tensor([[1.0, 0], [0, 2], [-3, 0]])[:, None, None]
    sums = pair_sums(vectors, torch.ones(1, 1, dtype=torch.bool))
    assert sums[0].tolist() == pytest.approx([math.exp(-1), 1, math.e])


def test_what_units_share_or_lack_is_missing() -> None:
    shared = measured(double(small(units=3, shared="attention")), padded(SENTENCES))
    assert list(shared.overall) == ["ffn_outputs"]
    convolution = measured(double(small(units=3, unit="convolution")), padded(SENTENCES))
    assert list(convolution.overall) == ["attention_outputs", "ffn_outputs"]


def test_units_without_the_parts_that_are_compared_are_told_of() -> None:
    model = double(small(units=2)).eval()
    del model.encoder.layers[0].units.mixer  # type: ignore[union-attr]
    with pytest.raises(MuteError, match="Units: cannot be analysed without a `mixer`"):
        measure_diversity(model, [torch.tensor([[5, 6, 3]])])


def test_one_unit_has_no_pair() -> None:
    assert measure_diversity(double(small()).eval(), [padded(SENTENCES)]) is None


def test_the_model_is_left_without_hooks() -> None:
    model = double(small(units=2))
    measured(model, padded(SENTENCES))
    with pytest.raises(IndexError):
        measured(model, torch.tensor([[99, 3]]))
    assert not any(module._forward_hooks for module in model.modules())
