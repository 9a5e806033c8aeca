"""Cross-entropy with label smoothing, fused with the output layer.

The scores of a batch, one for every word of the vocabulary at every position, are its largest
tensor by far, and a small model spends half its time on passing over them. So they are made, used
and forgotten a few hundred positions at a time, while they are in the processor's cache: forward
and backward in one go, since the gradient of a sum over positions needs no word of what follows.
"""

from typing import Any

import torch
from torch import Tensor

CHUNK = 1 << 22
"""Scores that are held at a time."""


class _OutputLoss(torch.autograd.Function):
    """Σ over positions of (1 - ε) · -log p(y) + ε · mean over the vocabulary of -log p."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, labels: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        learning = ctx.needs_input_grad[0]
        low = _precision_of_products(states)
        # The bias as one more column of the weights saves it passes of its own.
        inputs = torch.cat([states.to(low), states.new_ones(len(states), 1, dtype=low)], dim=1)
        whole = torch.cat([weight, bias[:, None]], dim=1)
        whole_low, weight_low = whole.to(low), weight.to(low)
        size, positions = len(weight), len(states)
        likelihood, normalisers = weight.new_zeros(()), weight.new_zeros(())
        if learning:
            to_states = torch.empty_like(states, dtype=low)
            to_whole = torch.zeros_like(whole)
        step = max(1, CHUNK // size)
        for chunk in (slice(start, start + step) for start in range(0, positions, step)):
            at_label = labels[chunk, None]
            scores = torch.mm(inputs[chunk], whole_low.T).to(weight.dtype)
            p = scores.softmax(1)
            # log Σ exp(score), from the word that has the most: its p is not 0 for sure.
            normaliser = scores.amax(1) - p.amax(1).log()
            normalisers += normaliser.sum()
            likelihood += normaliser.sum() - scores.gather(1, at_label).sum()
            if learning:
                slope = p.scatter_add_(1, at_label, p.new_full(at_label.shape, smoothing - 1))
                slope = slope.to(low)
                torch.mm(slope, weight_low, out=to_states[chunk])
                if low == weight.dtype:
                    to_whole.addmm_(slope.T, inputs[chunk])
                else:  # sums stay in full precision
                    to_whole += slope.T @ inputs[chunk]
        # What smoothing adds is the same for every word, so it needs no pass over the scores.
        all_inputs, all_words = inputs.sum(0, dtype=weight.dtype), whole.sum(0)
        even = normalisers - all_inputs @ all_words / size
        if learning:
            to_states -= (smoothing / size * all_words[:-1]).to(low)
            to_whole -= smoothing / size * all_inputs
            ctx.save_for_backward(to_states, to_whole[:, :-1], to_whole[:, -1])
        ctx.mark_non_differentiable(likelihood)
        return (1 - smoothing) * likelihood + smoothing * even, likelihood

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        return (*(gradient * upstream[0] for gradient in ctx.saved_tensors), None, None)


def _precision_of_products(states: Tensor) -> torch.dtype:
    """What autocast would multiply in, had it a say inside of a function with its own gradient."""
    kind = states.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else states.dtype


def output_loss(
    states: Tensor, weight: Tensor, bias: Tensor, labels: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Sum the loss over positions, from the states before the output layer.

    Args:
        states: (N, d)
        weight: (V, d), the output layer's
        bias: (V,), the output layer's
        labels: (N,)
        smoothing: how much of the probability is spread evenly over the vocabulary

    Returns:
        the smoothed loss, which is what is trained on, and the plain negative log-likelihood,
        whose mean is the logarithm of the perplexity; two scalars
    """
    sums = _OutputLoss.apply(states, weight, bias, labels, smoothing)  # type: ignore[no-untyped-call]
    loss, likelihood = sums
    return loss, likelihood
