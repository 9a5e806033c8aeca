"""Cross-entropy with label smoothing, and its gradient in the same pass over the scores."""

from typing import Any

import torch
from torch import Tensor


class _SmoothedCrossEntropy(torch.autograd.Function):
    """Σ over positions of (1 - ε) · -log p(y) + ε · mean over the vocabulary of -log p.

    The scores of a batch are its largest tensor by far, and time is spent on passing over it:
    the gradient, p - (1 - ε) · onehot(y) - ε / V, is written over the log-probabilities while
    they are at hand.
    """

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, labels: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        size = logits.size(1)
        log_p = logits.log_softmax(1)
        likelihood = -log_p.gather(1, labels[:, None]).sum()
        even = -log_p.sum() / size
        gradient = log_p.exp_().sub_(smoothing / size)
        at_label = gradient.new_full((len(labels), 1), smoothing - 1)
        ctx.save_for_backward(gradient.scatter_add_(1, labels[:, None], at_label))
        ctx.mark_non_differentiable(likelihood)
        return (1 - smoothing) * likelihood + smoothing * even, likelihood

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[0], None, None


def smoothed_cross_entropy(
    logits: Tensor, labels: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Sum the loss over positions.

    Args:
        logits: (N, V)
        labels: (N,)
        smoothing: how much of the probability is spread evenly over the vocabulary

    Returns:
        the smoothed loss, which is what is trained on, and the plain negative log-likelihood,
        whose mean is the logarithm of the perplexity; two scalars
    """
    sums = _SmoothedCrossEntropy.apply(logits, labels, smoothing)  # type: ignore[no-untyped-call]
    loss, likelihood = sums
    return loss, likelihood
