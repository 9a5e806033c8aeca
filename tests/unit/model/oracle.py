"""The paper's equations, one sentence, one unit, one position at a time.

Slow on purpose: no batching, no stacking, no folding, nothing shared with the code under test
but its parameters. Everything is float64 and unbatched: X is (L, d).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mute.config import ModelConfig
from mute.model.attention import CrossAttention, SelfAttention
from mute.model.context import Context
from mute.model.feedforward import FeedForward
from mute.model.transformer import Transformer, build


def double(config: ModelConfig, vocab_size: int = 13) -> Transformer:
    """A model in float64 whose every parameter is random, norms and zero-started ones too."""
    model = build(config, vocab_size).double()
    for parameter in model.parameters():
        if parameter.requires_grad:
            nn.init.normal_(parameter, std=0.5)
    model.project_()
    return model


def small(**settings: object) -> ModelConfig:
    """A config small enough for loops, without dropout."""
    shape = {"encoder_layers": 2, "decoder_layers": 2, "d_model": 8, "d_ffn": 12, "heads": 2}
    return ModelConfig.model_validate(
        {**shape, "dropout": 0.0, "relative_positions": 2, **settings}
    )


def whole(length: int) -> Context:
    """The context of one unpadded sentence in the encoder."""
    real = torch.ones(1, length, dtype=torch.bool)
    return Context(real, real[:, None, None])


def member(parameter: Tensor, unit: int) -> Tensor:
    """A unit's own parameter, or the one it shares."""
    return parameter[unit if parameter.size(0) > 1 else 0]


def norm(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / (variance + 1e-5).sqrt() * weight + bias


def attend(q: Tensor, k: Tensor, v: Tensor, key_table: Tensor, value_table: Tensor) -> Tensor:
    """One head's relative attention, a double loop: (L, k), (S, k), (S, k) → (L, k)."""
    clip = key_table.size(0) // 2
    rows = []
    for i in range(len(q)):
        distances = [min(max(j - i, -clip), clip) + clip for j in range(len(k))]
        scores = [q[i] @ (k[j] + key_table[distances[j]]) for j in range(len(k))]
        weights = torch.softmax(torch.stack(scores) / math.sqrt(q.size(1)), 0)
        rows.append(sum(weights[j] * (v[j] + value_table[distances[j]]) for j in range(len(k))))
    return torch.stack(rows)  # type: ignore[arg-type]


def self_attention(attention: SelfAttention, unit: int, x: Tensor) -> Tensor:
    d = x.size(-1)
    projected = x @ member(attention.input.weight, unit).T + member(attention.input.bias, unit)
    q, k, v = projected.split(d, dim=-1)
    width = d // attention.heads
    none = torch.zeros(1, width, dtype=x.dtype)
    relative = attention.relative
    keys = member(relative.keys, unit) if relative else none
    values = member(relative.values, unit) if relative else none
    by_head = zip(q.split(width, 1), k.split(width, 1), v.split(width, 1), strict=True)
    heads = [attend(*head, keys, values) for head in by_head]
    output = attention.output
    return torch.cat(heads, dim=-1) @ member(output.weight, unit).T + member(output.bias, unit)


def cross_attention(attention: CrossAttention, unit: int, x: Tensor, memory: Tensor) -> Tensor:
    d = x.size(-1)
    q = x @ member(attention.query.weight, unit).T + member(attention.query.bias, unit)
    kv = memory @ member(attention.memory.weight, unit).T + member(attention.memory.bias, unit)
    k, v = kv.split(d, dim=-1)
    width = d // attention.heads
    none = torch.zeros(1, width, dtype=x.dtype)
    by_head = zip(q.split(width, 1), k.split(width, 1), v.split(width, 1), strict=True)
    heads = [attend(*head, none, none) for head in by_head]
    output = attention.output
    return torch.cat(heads, dim=-1) @ member(output.weight, unit).T + member(output.bias, unit)


def feed_forward(ffn: FeedForward, unit: int, s: Tensor) -> Tensor:
    x = norm(s, member(ffn.norm.weight, unit), member(ffn.norm.bias, unit))
    hidden = F.relu(x @ member(ffn.expand.weight, unit).T + member(ffn.expand.bias, unit))
    return hidden @ member(ffn.contract.weight, unit).T + member(ffn.contract.bias, unit)


def accumulate(alpha: Tensor, matrix: Tensor, outputs: list[Tensor]) -> Tensor:
    """G = Mᵀ F, Ĝ_i = Ĝ_{i-1} + G_i, out = Σ alpha_i Ĝ_i / i, as the paper writes it."""
    count = len(outputs)
    ordered = [sum(matrix[u, i] * outputs[u] for u in range(count)) for i in range(count)]
    accumulated = torch.zeros_like(outputs[0])
    out = torch.zeros_like(outputs[0])
    for i in range(count):
        accumulated = accumulated + ordered[i]
        out = out + alpha[i] * accumulated / (i + 1)
    return out
