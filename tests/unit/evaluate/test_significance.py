import random
from typing import Any, get_args

import numpy as np
import pytest
from sacrebleu.significance import PairedTest

from mute.errors import MuteError
from mute.evaluate import significance
from mute.evaluate.score import bleu, bleu_metric
from mute.evaluate.significance import Method, compare, p_value

WORDS = [
    "the",
    "a",
    "dog",
    "cat",
    "house",
    "park",
    "runs",
    "sleeps",
    "sees",
    "near",
    "big",
    "small",
    "old",
    "new",
]


def noisy(references: list[str], rate: float, seed: int) -> list[str]:
    """The references with some of their words replaced."""
    chance = random.Random(seed)
    return [
        " ".join(chance.choice(WORDS) if chance.random() < rate else word for word in line.split())
        for line in references
    ]


@pytest.fixture(scope="module")
def references() -> list[str]:
    chance = random.Random(1)
    return [" ".join(chance.choices(WORDS, k=chance.randint(5, 15))) for _ in range(200)]


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_a_clear_difference_is_significant(method: Method, references: list[str]) -> None:
    found = compare(
        noisy(references, 0.5, 2),
        noisy(references, 0.2, 3),
        [references],
        method=method,
        samples=300,
    )
    assert found.difference > 5
    assert found.p < 0.01
    assert found.dagger == "††"
    assert found.low < found.difference < found.high
    assert found.low > 0
    assert "significantly better" in found.verdict


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_noise_is_not(method: Method, references: list[str]) -> None:
    found = compare(
        noisy(references, 0.3, 2),
        noisy(references, 0.3, 3),
        [references],
        method=method,
        samples=300,
    )
    assert found.p > 0.05
    assert found.low < 0 < found.high
    assert found.dagger == ""
    assert "no significant difference" in found.verdict


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
@pytest.mark.parametrize("copies", [1, 3])
def test_one_sentence_proves_nothing(copies: int, method: Method) -> None:
    reference, close, far = (
        [line] * copies
        for line in ("the old dog sleeps near a house", "the dog sleeps near a house", "a cat runs")
    )
    found = compare(far, close, [reference], method=method, samples=100)
    assert found.difference > 10
    assert found.p > 0.05
    assert found.method == "randomisation"  # whatever was asked for: draws of one say nothing
    assert "|test:randomisation|" in found.signature


def test_a_worse_system_gets_no_dagger(references: list[str]) -> None:
    found = compare(noisy(references, 0.2, 2), noisy(references, 0.5, 3), [references], samples=300)
    assert found.dagger == ""
    assert "significantly worse" in found.verdict


def test_a_system_is_not_better_than_itself(references: list[str]) -> None:
    same = noisy(references, 0.3, 2)
    found = compare(same, same, [references], samples=50)
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_the_scores_are_those_of_score_and_the_seed_decides(references: list[str]) -> None:
    old, new = noisy(references, 0.4, 2), noisy(references, 0.35, 3)
    first = compare(old, new, [references], samples=100, seed=5)
    assert first.baseline == pytest.approx(bleu(old, [references]).value)
    assert first.system == pytest.approx(bleu(new, [references]).value)
    assert first == compare(old, new, [references], samples=100, seed=5)
    assert first.low != compare(old, new, [references], samples=100, seed=6).low
    assert first.signature.endswith("|test:bootstrap|samples:100|seed:5")


def test_nineteen_of_twenty_draws_lie_in_the_interval(references: list[str]) -> None:
    right = references[:20]
    old, new = noisy(right, 0.4, 2), noisy(right, 0.3, 3)
    differences = []
    for times in np.random.default_rng(1).multinomial(20, [1 / 20] * 20, size=60):
        drawn = np.arange(20).repeat(times)
        old_drawn, new_drawn, right_drawn = ([x[i] for i in drawn] for x in (old, new, right))
        gain = bleu(new_drawn, [right_drawn]).value - bleu(old_drawn, [right_drawn]).value
        differences.append(gain)
    interval = np.percentile(differences, [2.5, 97.5]).tolist()
    for method in get_args(Method):
        found = compare(old, new, [right], method=method, samples=60, seed=1)
        assert [found.low, found.high] == pytest.approx(interval)


@pytest.mark.parametrize(
    ("method", "theirs", "sides"), [("bootstrap", "bs", 2), ("randomisation", "ar", 1)]
)
def test_p_agrees_with_sacrebleus(
    method: Method, theirs: str, sides: int, references: list[str]
) -> None:
    """Of its bootstrap, which counts one side alone, with twice the p."""
    old, new = noisy(references, 0.4, 2), noisy(references, 0.37, 3)
    ours = compare(old, new, [references], method=method, samples=1000)
    peer = PairedTest(
        [("old", old), ("new", new)],
        {"BLEU": bleu_metric("13a", lowercase=False)},
        [references],
        test_type=theirs,
        n_samples=1000,
    )
    _, scores = peer()
    result = scores["BLEU"][1]
    assert not isinstance(result, str)
    assert result.p_value is not None
    assert ours.p == pytest.approx(sides * result.p_value, abs=0.015)


@pytest.mark.parametrize(
    ("p", "written"),
    [
        (0.04995, "< 0.05"),
        (0.05, "= 0.050"),
        (0.0101, "= 0.010"),
        (0.00999, "< 0.01"),
        (0.0016, "= 0.002"),
        (0.0009, "< 0.001"),
        (0.0001, "< 0.001"),
        (1.0, "= 1.000"),
    ],
)
def test_a_written_p_never_contradicts_the_verdict(p: float, written: str) -> None:
    assert p_value(p, equals="= ") == written


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "randomization"}, "method randomization: should be bootstrap or randomisation"),
        ({"samples": 0}, "samples 0: should be at least 1"),
        ({"samples": -3}, "samples -3: should be at least 1"),
    ],
)
def test_a_test_that_there_is_not_is_refused(
    options: dict[str, Any], message: str, references: list[str]
) -> None:
    with pytest.raises(MuteError, match=message):
        compare(references, references, [references], **options)


def test_many_samples_are_drawn_as_few_are(
    references: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = noisy(references, 0.4, 2), noisy(references, 0.35, 3)
    whole = compare(old, new, [references], samples=100)
    monkeypatch.setattr(significance, "_AT_A_TIME", 30 * len(references))
    assert compare(old, new, [references], samples=100) == whole
