"""Cross-entropy with label smoothing, fused with the output layer.

The scores of a batch, one for every word of the vocabulary at every position, are its largest
tensor by far, and a small model spends half its time on passing over them. So they are made, used
and forgotten a few hundred positions at a time, while they are in the processor's cache: forward
and backward in one go, since the gradient of a sum over positions needs no word of what follows.

With R-Drop (Liang et al. 2021) every position comes twice, each time through other dropout and
other noise of the units, and the two distributions over the vocabulary are drawn together.
"""

from typing import Any

import torch
from torch import Tensor

CHUNK = 1 << 23
"""Scores that are held at a time."""


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
        low = _precision_of_products(states)
        passes, positions = states.shape[:2]
        # The bias as one more column of the weights saves it a pass over the scores. Not so on the
        # way back: a product that has an odd column to write takes half as long again.
        one = states.new_ones(passes, positions, 1, dtype=low)
        inputs = torch.cat([states.to(low), one], dim=2)
        whole = torch.cat([weight, bias[:, None]], dim=1)
        whole_low, size = whole.to(low), len(weight)
        likelihood, normalisers = weight.new_zeros(()), weight.new_zeros(())
        apart = weight.new_zeros(())
        # What smoothing adds is the same for every word, so it needs no pass over the scores.
        even = smoothing / size
        all_inputs, all_words = inputs.sum((0, 1), dtype=weight.dtype), whole.sum(0)
        gradient = None
        if any(ctx.needs_input_grad):
            gradient = _Gradient(states, weight, low, even * all_inputs, even * all_words)
        step = max(1, CHUNK // (size * passes))
        held = weight.new_empty(passes * min(step, positions), size, dtype=low)
        for chunk in (slice(start, start + step) for start in range(0, positions, step)):
            here = inputs[:, chunk].flatten(0, 1)
            at_label = labels[chunk, None].repeat(passes, 1)
            scores, p, of_label, normaliser = _predict(here, whole_low, at_label, held, passes)
            normalisers += normaliser.sum()
            likelihood += (normaliser - of_label).sum()
            pull: Tensor | None = None
            if passes == 2:
                scores -= normaliser  # log p
                divergence, pull = _divergence(p.chunk(2), scores.chunk(2))
                apart += divergence
            if gradient:
                slope = p.scatter_add_(1, at_label, p.new_full(at_label.shape, smoothing - 1))
                if pull is not None:
                    slope = slope.add_(pull, alpha=r_drop)
                gradient.add(chunk, here, slope)
        if gradient:
            ctx.passes = passes
            ctx.save_for_backward(gradient.to_states, gradient.to_weight, gradient.to_bias)
        # Not `all_inputs @ all_words`, which autocast would round.
        normalised = normalisers - (all_inputs * all_words).sum() / size
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
        states: (passes, N, d)
        weight: (V, d)
        low: what products are computed in
        even_inputs: (d + 1,), smoothing's share of each word times the sum of all inputs
        even_words: (d + 1,), the same share times the sum of all words' weights
    """

    def __init__(
        self,
        states: Tensor,
        weight: Tensor,
        low: torch.dtype,
        even_inputs: Tensor,
        even_words: Tensor,
    ) -> None:
        self.weight, self.low, self.even_words = weight.to(low), low, even_words[:-1].to(low)
        self.to_states = torch.empty_like(states, dtype=low)
        self.to_weight = -even_inputs[:-1].expand_as(weight).contiguous()
        self.to_bias = -even_inputs[-1].expand(len(weight)).contiguous()

    def add(self, chunk: slice, here: Tensor, slope: Tensor) -> None:
        """Take in some positions: their inputs, (n, d + 1), and their scores' gradient, (n, V)."""
        self.to_bias += slope.sum(0)
        slope = slope.to(self.low)
        _add_product(self.to_weight, slope.T, here[:, :-1])
        passes, _, d = self.to_states.shape
        to_here = torch.mm(slope, self.weight) - self.even_words
        self.to_states[:, chunk] = to_here.view(passes, -1, d)


def _predict(
    here: Tensor, whole: Tensor, at_label: Tensor, held: Tensor, passes: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What some positions say of every word.

    Args:
        here: (N, d + 1), their states, and ones for the bias
        whole: (V, d + 1)
        at_label: (N, 1)
        held: memory for the scores, (N or more, V)
        passes: with one, the probabilities take the place of the scores

    Returns:
        scores and probabilities, (N, V); the labels' scores and all scores' log-sum-exp, (N, 1)
    """
    precise = torch.promote_types(here.dtype, torch.float32)  # for sums over the vocabulary
    scores = torch.mm(here, whole.T, out=held[: len(here)]).to(precise)
    of_label = scores.gather(1, at_label)
    p = torch.softmax(scores, 1, out=scores if passes == 1 else None)
    p_label = p.gather(1, at_label)
    normaliser = of_label - p_label.log()
    # A label's p that is too small for a float has lost its digits, or is 0.
    if not bool((p_label >= torch.finfo(precise).tiny).all()):
        normaliser = torch.mm(here, whole.T).to(precise).logsumexp(1, keepdim=True)
    return scores, p, of_label, normaliser


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


def _precision_of_products(states: Tensor) -> torch.dtype:
    """What autocast multiplies in: it has no say in products with `out=`, nor in `backward`."""
    kind = states.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else states.dtype


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
