"""Cross-entropy with label smoothing, fused with the output layer.

The scores of a batch, one for every word of the vocabulary at every position, are its largest
tensor by far, and a small model spends half its time on passing over them. So they are made, used
and forgotten a few hundred positions at a time, while they are in the processor's cache: forward
and backward in one go, since the gradient of a sum over positions needs no word of what follows.

With R-Drop (Liang et al. 2021) every position comes twice, each time through other dropout and
other noise of the units, and the two distributions over the vocabulary are drawn together.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from mute.model import kernels
from mute.model.precision import precision_of_products

CHUNK = 1 << 23
"""Scores that are held at a time, at the most, unless one position has more."""


class _OutputLoss(torch.autograd.Function):
    """The mean over passes of Σ over positions of (1 - ε) · -log p(y) + ε · mean of -log p.

    Two passes add r · J / 2, with J = ½ (KL(p || q) + KL(q || p)) between their distributions.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor,
        labels: Tensor,
        smoothing: float,
        r_drop: float,
    ) -> tuple[Tensor, Tensor]:
        low = precision_of_products(states)
        passes, positions = states.shape[:2]
        inputs, weight_low, bias_low = states.to(low), weight.to(low), bias.to(low)
        size = len(weight)
        likelihood, normalisers = weight.new_zeros(()), weight.new_zeros(())
        apart = weight.new_zeros(())
        # What smoothing adds is the same for every word, so it needs no pass over the scores.
        even = smoothing / size
        all_inputs, all_words = inputs.sum((0, 1), dtype=weight.dtype), weight.sum(0)
        gradient = None
        if any(ctx.needs_input_grad):
            gradient = _Gradient(inputs, weight_low, even, all_inputs, all_words)
        chunks = -(-positions * passes * size // CHUNK) or 1
        step = max(1, -(-positions // chunks))  # all alike: a short one is slow for its size
        held = weight.new_empty(passes * min(step, positions), size, dtype=low)
        for chunk in (slice(start, start + step) for start in range(0, positions, step)):
            here = inputs[:, chunk].flatten(0, 1)
            at_label = labels[chunk, None].repeat(passes, 1)
            room = held[: len(here)]
            if passes == 1 and kernels.suit(room):
                products = torch.mm(here, weight_low.T, out=room)
                said = _fused(products, bias_low, at_label, smoothing)
            else:
                scores = torch.addmm(bias_low, here, weight_low.T, out=room)
                scores = scores.to(torch.promote_types(low, torch.float32))  # for their sums
                said = _plain(scores, at_label, smoothing, passes, r_drop)
            normalisers += said.normalisers.sum()
            likelihood += (said.normalisers - said.of_labels).sum()
            apart += said.apart
            if gradient:
                gradient.add(chunk, here, said.slope, said.slope_sums)
        if gradient:
            ctx.passes = passes
            ctx.save_for_backward(gradient.to_states, gradient.to_weight, gradient.to_bias)
        # Not `all_inputs @ all_words`, which autocast would round.
        all_scores = (all_inputs * all_words).sum() + passes * positions * bias.sum()
        normalised = normalisers - all_scores / size
        loss = (1 - smoothing) * likelihood + smoothing * normalised + r_drop * apart
        likelihood /= passes
        ctx.mark_non_differentiable(likelihood)
        return loss / passes, likelihood

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():  # by create_graph: the gradient would be taken for a constant
            raise NotImplementedError("the output layer's loss has no second derivative")
        share = upstream[0] / ctx.passes
        return (*(gradient * share for gradient in ctx.saved_tensors), None, None, None)


class _Gradient:
    """Of the sum over passes and positions, chunk by chunk of positions.

    Args:
        inputs: (passes, N, d), the states in the precision of products
        weight: (V, d), in the same
        even: smoothing's share of each word
        all_inputs: (d,), the sum of all inputs
        all_words: (d,), the sum of all words' weights
    """

    def __init__(
        self, inputs: Tensor, weight: Tensor, even: float, all_inputs: Tensor, all_words: Tensor
    ) -> None:
        self.weight, self.even_words = weight, (even * all_words).to(weight.dtype)
        self.to_states = torch.empty_like(inputs)
        self.to_weight = (-even * all_inputs).expand_as(weight).contiguous()
        self.to_bias = all_inputs.new_full((len(weight),), -even * inputs.shape[:2].numel())

    def add(self, chunk: slice, here: Tensor, slope: Tensor, slope_sums: Tensor) -> None:
        """Take in some positions.

        Args:
            chunk: which ones
            here: (n, d), their inputs
            slope: (n, V), their scores' gradient
            slope_sums: (V,), the sums over them
        """
        self.to_bias += slope_sums
        slope = slope.to(self.weight.dtype)
        _add_product(self.to_weight, slope.T, here)
        passes, _, d = self.to_states.shape
        to_here = torch.mm(slope, self.weight) - self.even_words
        self.to_states[:, chunk] = to_here.view(passes, -1, d)


class _Said(NamedTuple):
    """What some positions say of every word."""

    slope: Tensor
    """(n, V): the gradient of the scores, but for smoothing's even share."""
    slope_sums: Tensor
    """(V,): its sums over the positions."""
    of_labels: Tensor
    """(n, 1): the labels' scores."""
    normalisers: Tensor
    """(n, 1): the log-sum-exp of all scores."""
    apart: Tensor | float = 0.0
    """R-Drop's divergence of two passes, summed over the positions."""


def _fused(products: Tensor, bias: Tensor, at_label: Tensor, smoothing: float) -> _Said:
    """What `_plain` says of one pass, by a compiled kernel that keeps each row in the cache.

    Args:
        products: (n, V), the scores before the bias is added; overwritten
        bias: (V,)
        at_label: (n, 1)
        smoothing: as for `output_loss`
    """
    assert kernels.LIBRARY is not None
    bias, threads = bias.contiguous(), torch.get_num_threads()
    of_labels, normalisers = (products.new_empty(at_label.shape) for _ in range(2))
    sums = products.new_zeros(threads, len(bias))
    kernels.LIBRARY.mute_slopes(
        *(products.data_ptr(), *products.shape, bias.data_ptr(), at_label.data_ptr()),
        *(smoothing - 1, of_labels.data_ptr(), normalisers.data_ptr(), sums.data_ptr(), threads),
    )
    return _Said(products, sums.sum(0), of_labels, normalisers)


def _plain(scores: Tensor, at_label: Tensor, smoothing: float, passes: int, r_drop: float) -> _Said:
    """What positions say, in PyTorch's operations.

    Args:
        scores: (n, V), of all passes, one behind the other; overwritten
        at_label: (n, 1)
        smoothing: as for `output_loss`
        passes: one, or two for R-Drop
        r_drop: as for `output_loss`
    """
    of_labels = scores.gather(1, at_label)
    top = scores.amax(1, keepdim=True)
    p = torch.softmax(scores, 1, out=scores if passes == 1 else None)
    normalisers = top - p.amax(1, keepdim=True).log()  # of no less than 1 / V
    apart: Tensor | float = 0.0
    if passes == 2:
        log_p = scores.sub_(normalisers)
        apart, pull = _divergence(p.chunk(2), log_p.chunk(2))
        p.add_(pull, alpha=r_drop)
    slope = p.scatter_add_(1, at_label, p.new_full(at_label.shape, smoothing - 1))
    return _Said(slope, slope.sum(0), of_labels, normalisers, apart)


def _add_product(to: Tensor, a: Tensor, b: Tensor) -> None:
    """Add a · b to sums that stay in full precision, whatever that of the product is."""
    if to.dtype == a.dtype:
        to.addmm_(a, b)
    else:
        to += a @ b


def _divergence(p: tuple[Tensor, ...], log_p: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    """J, summed over positions, and its gradient by the scores of both passes.

    Args:
        p: two of (N, V)
        log_p: two of (N, V); overwritten

    Returns:
        a scalar, and (2N, V)
    """
    ratio = log_p[0].sub_(log_p[1])
    gap = p[0] - p[1]
    gradients = []
    for own, sign in zip(p, (1, -1), strict=True):
        weighted = own * ratio
        # ½ (p (δ - Σ p δ) + p - q), with δ = log p - log q; the other way round for q.
        weighted.addcmul_(own, weighted.sum(1, keepdim=True), value=-1)
        gradients.append(weighted.add_(gap).mul_(sign / 2))
    return (gap * ratio).sum() / 2, torch.cat(gradients)


def output_loss(
    states: Tensor,
    weight: Tensor,
    bias: Tensor,
    labels: Tensor,
    smoothing: float,
    r_drop: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Sum the loss over positions, from the states before the output layer.

    Args:
        states: (passes, N, d), with one pass over the batch, or two for R-Drop
        weight: (V, d), the output layer's
        bias: (V,), the output layer's
        labels: (N,)
        smoothing: how much of the probability is spread evenly over the vocabulary
        r_drop: R-Drop's alpha, the weight of the divergence between two passes

    Returns:
        the smoothed loss, which is what is trained on, and the plain negative log-likelihood,
        whose mean is the logarithm of the perplexity; two scalars, means over the passes
    """
    if not torch.is_grad_enabled():  # what `apply` does not say to `forward`
        states, weight, bias = states.detach(), weight.detach(), bias.detach()
    sums = _OutputLoss.apply(  # type: ignore[no-untyped-call]
        states, weight, bias, labels, smoothing, r_drop
    )
    loss, likelihood = sums
    return loss, likelihood
