from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mute.bench.work import count_work, speed
from mute.config import ModelConfig, TrainConfig
from mute.data.batching import Batch, BatchStream
from mute.data.vocabulary import PAD
from mute.model.transformer import build
from mute.train.group import Group
from mute.train.trainer import Trainer
from mute.translate.packed import pack
from tests.unit.bench.pairs import FewPairs

B, S, T, V = 3, 5, 7, 50
D, FFN, HEADS = 32, 24, 2  # heads that the compiled attention takes


def random(*shape: int) -> Tensor:
    return torch.rand(*shape, requires_grad=True)


def backward(product: Tensor) -> None:
    product.sum().backward()


@pytest.mark.parametrize(
    ("product", "operations"),
    [
        (lambda: torch.mm(random(2, 3), random(3, 5)), 2 * 2 * 3 * 5),
        (lambda: torch.bmm(random(4, 2, 3), random(4, 3, 5)), 4 * 2 * 2 * 3 * 5),
        (lambda: torch.baddbmm(random(4, 1, 5), random(4, 2, 3), random(4, 3, 5)), 240),
        (lambda: F.linear(random(4, 2, 3), random(5, 3), random(5)), 240),
        (lambda: torch.zeros(2, 5).addmm_(torch.rand(2, 3), torch.rand(3, 5)), 60),
        (lambda: F.conv1d(random(4, 6, 9), random(6, 1, 7), groups=6), 2 * 4 * 6 * 3 * 7),
    ],
    ids=["mm", "bmm", "baddbmm", "linear", "in place", "convolution"],
)
def test_every_product_we_use_is_counted(product: Any, operations: int) -> None:
    assert count_work(product) == operations


@pytest.mark.parametrize(
    "product",
    [
        lambda: F.linear(random(4, 2, 3), random(5, 3), random(5)),
        lambda: torch.baddbmm(random(4, 1, 5), random(4, 2, 3), random(4, 3, 5)),
        lambda: F.conv1d(random(4, 6, 9), random(6, 1, 7), groups=6),
    ],
    ids=["linear", "baddbmm", "convolution"],
)
def test_the_backward_pass_of_a_product_is_two_more(product: Any) -> None:
    assert count_work(lambda: backward(product())) == 3 * count_work(product)


def test_products_outside_of_training_are_counted_too() -> None:
    with torch.inference_mode():
        assert count_work(F.linear, torch.rand(2, 3), torch.rand(5, 3)) == 60


def test_products_with_packed_weights_are_counted_too() -> None:
    model = nn.Sequential(nn.Linear(3, 5)).requires_grad_(False)
    pack(model)
    assert count_work(model, torch.rand(4, 2, 3)) == 240


def test_fused_attention_is_counted_too() -> None:
    queries, keys, hidden = torch.rand(3, 4, 2, 8), torch.rand(3, 4, 5, 8), torch.zeros(3, 1, 2, 5)
    with torch.inference_mode():
        work = count_work(F.scaled_dot_product_attention, queries, keys, keys, attn_mask=hidden)
    assert work == 2 * (2 * 3 * 4 * 2 * 5 * 8)  # scores, and the mix of values


def layer(units: int, length: int) -> int:
    """Self-attention and feed-forward network of `units` units, forward."""
    positions = B * length
    products = 2 * positions * (4 * D * D + 2 * D * FFN)
    return units * (products + 4 * B * length * length * D)


def cross_attention() -> int:
    return 2 * 2 * B * T * D * D + 2 * B * S * 2 * D * D + 4 * B * T * S * D


@pytest.mark.parametrize(
    "encoder",
    [{}, {"units": 3, "bias": ["swap", "mask"], "sample_rate": 1.0, "sequential": True}],
    ids=["one unit", "biased units"],
)
def test_a_training_step_is_what_the_formula_says(encoder: Mapping[str, Any]) -> None:
    shape = {"encoder_layers": 2, "decoder_layers": 1, "d_model": D, "d_ffn": FFN, "heads": HEADS}
    config = ModelConfig.model_validate({**shape, **encoder, "relative_positions": 0})
    source, target = torch.randint(4, V, (B, S)), torch.randint(4, V, (B, T))
    target[0, -2:] = PAD
    pairs = FewPairs()
    trainer = Trainer(
        build(config, V),
        TrainConfig(run="unused"),
        Group(0, 1, torch.device("cpu")),
        BatchStream(pairs, 100, seed=1),
        str,
    )
    batch = Batch(source, target, target, np.arange(B, dtype=np.int32))

    work = count_work(trainer.step, [batch])

    output = 2 * (B * T - 2) * D * V  # padding never reaches the vocabulary
    stacks = 2 * layer(config.units, S) + layer(1, T) + cross_attention()
    fusion = 2 * 2 * config.units * B * S * D if config.units > 1 else 0
    # In training the norms' shifts go through the first matrix of the units' networks.
    shifts = 2 * 2 * config.units * FFN * D if config.units > 1 else 0
    assert work == 3 * (stacks + fusion + output + shifts)


def test_speed_is_work_over_time() -> None:
    found = speed(tokens=300, work=40_000_000_000, seconds=2.0, peak=80.0)
    assert (found.target_tokens_per_second, found.gflops, found.share_of_peak) == (150, 20, 0.25)
