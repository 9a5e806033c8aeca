import torch

from mute.model.transformer import build
from mute.studies.measures import _mean_weights
from tests.unit.model.oracle import small


def test_the_weights_of_several_models_are_averaged_one_by_one() -> None:
    models = [build(small(units=2), vocab_size=13) for _ in range(3)]
    mean = _mean_weights(models)
    assert mean.keys() == dict(models[0].named_parameters()).keys()
    for name, value in mean.items():
        theirs = [dict(model.named_parameters())[name] for model in models]
        torch.testing.assert_close(value, sum(theirs) / 3)
