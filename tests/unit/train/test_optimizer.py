import torch
from torch import Tensor, nn

from mute.config import TrainConfig
from mute.train.optimizer import load_moments, make_optimizer, moments

CONFIG = TrainConfig(run="x", betas=(0.5, 0.75))


def adam(start: Tensor, gradients: list[Tensor], rate: float) -> Tensor:
    """Kingma and Ba's algorithm 1, with the paper's epsilon."""
    value, mean, square = start.clone(), torch.zeros_like(start), torch.zeros_like(start)
    for step, gradient in enumerate(gradients, 1):
        mean = 0.5 * mean + 0.5 * gradient
        square = 0.75 * square + 0.25 * gradient**2
        unbiased = mean / (1 - 0.5**step), square / (1 - 0.75**step)
        value = value - rate * unbiased[0] / (unbiased[1].sqrt() + 1e-9)
    return value


def test_steps_are_those_of_adam_with_the_configs_betas_and_the_papers_epsilon() -> None:
    weight = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64, requires_grad=True)
    start = weight.detach().clone()
    # The last is as small as epsilon, which halves its first step.
    gradients = [torch.tensor(each).double() for each in ([0.1, -4.0, 1e-9], [-0.3, -1.0, 2e-9])]
    optimizer = make_optimizer([weight], CONFIG)
    optimizer.param_groups[0]["lr"] = 0.1
    for gradient in gradients:
        weight.grad = gradient
        optimizer.step()
    torch.testing.assert_close(weight.detach(), adam(start, gradients, 0.1), rtol=1e-6, atol=0)


def test_moments_go_by_the_names_of_what_has_learned() -> None:
    def made() -> tuple[nn.Linear, torch.optim.Adam]:
        model = nn.Linear(2, 1)
        return model, make_optimizer(model.parameters(), CONFIG)

    model, optimizer = made()
    model.weight.grad = torch.tensor([[3.0, 4.0]])
    optimizer.step()
    kept = moments(optimizer, model)
    assert kept.keys() == {f"weight.{kind}" for kind in ("step", "exp_avg", "exp_avg_sq")}
    torch.testing.assert_close(kept["weight.exp_avg"], torch.tensor([[1.5, 2.0]]))
    torch.testing.assert_close(kept["weight.exp_avg_sq"], torch.tensor([[2.25, 4.0]]))
    another, its_optimizer = made()
    load_moments(its_optimizer, another, kept)
    torch.testing.assert_close(moments(its_optimizer, another), kept)
