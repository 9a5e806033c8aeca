import pytest

from mute.evaluate.score import Tokenization, bleu, chrf

HYP = ["the cat sat on the mat .", "a dog runs in the park ."]
REF = ["the cat sat on a mat .", "the dog runs in the park ."]


def test_scores_carry_their_signature() -> None:
    score = bleu(HYP, [REF], tokenize="none", lowercase=True)
    assert score.signature.startswith("nrefs:1|case:lc|eff:no|tok:none|smooth:exp|version:")
    assert chrf(HYP, [REF]).signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0")


@pytest.mark.parametrize(
    ("hypotheses", "references", "tokenize", "lowercase", "value"),
    [
        (HYP, [HYP], "13a", False, 100.0),
        # By hand: unigrams 12/14, bigrams 9/12, trigrams 6/10, 4-grams 4/8; no brevity penalty.
        (HYP, [REF], "none", False, 66.2688),
        ([line.upper() for line in HYP], [REF], "none", True, 66.2688),
        # With a second reference every word and n-gram is found.
        (HYP, [REF, HYP], "none", False, 100.0),
        (["Hello, world! How are you?"], [["Hello , world ! How are you ?"]], "13a", False, 100.0),
        (["我喜欢猫和狗。"], [["我喜欢猫和狗。"]], "zh", False, 100.0),
    ],
)
def test_known_numbers(
    hypotheses: list[str],
    references: list[list[str]],
    tokenize: Tokenization,
    lowercase: bool,
    value: float,
) -> None:
    score = bleu(hypotheses, references, tokenize=tokenize, lowercase=lowercase)
    assert score.value == pytest.approx(value, abs=1e-3)
