import pytest
import torch
from torch.nn import functional as F

from mute.train.loss import smoothed_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_loss_and_gradient_equal_pytorchs(smoothing: float) -> None:
    logits = torch.randn(7, 11, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(0, 11, (7,))
    loss, likelihood = smoothed_cross_entropy(logits, labels, smoothing)
    expected = F.cross_entropy(logits, labels, label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(
        likelihood, F.cross_entropy(logits, labels, reduction="sum").detach()
    )
    (ours,) = torch.autograd.grad(3 * loss, logits)
    (theirs,) = torch.autograd.grad(3 * expected, logits)
    torch.testing.assert_close(ours, theirs)


def test_the_gradient_is_that_of_the_loss() -> None:
    logits = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    labels = torch.tensor([0, 4, 2])
    assert torch.autograd.gradcheck(
        lambda scores: smoothed_cross_entropy(scores, labels, 0.1)[0], (logits,)
    )
