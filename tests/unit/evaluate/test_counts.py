import numpy as np
import pytest

from mute.errors import MuteError
from mute.evaluate.counts import bleu_of, count_sentences, pack, unpack
from mute.evaluate.score import Tokenization, bleu

HYPOTHESES = ["Ein Hund rennt im Park.", "Zwei Katzen", "", "der kleine Mann sieht ein Haus"]
REFERENCES = [
    [
        "Ein Hund läuft im Park.",
        "Zwei Katzen schlafen",
        "Nichts.",
        "Der kleine Mann sieht ein Haus",
    ],
    ["Ein Hund rennt.", "Da sind zwei Katzen", "Gar nichts.", "Ein Mann sieht ein Haus"],
]


@pytest.mark.parametrize("tokenize", ["13a", "none", "char"])
@pytest.mark.parametrize("lowercase", [False, True])
def test_their_sum_has_the_bleu_of_the_text(tokenize: Tokenization, lowercase: bool) -> None:
    counts, signature = count_sentences(
        HYPOTHESES, REFERENCES, tokenize=tokenize, lowercase=lowercase
    )
    whole = bleu(HYPOTHESES, REFERENCES, tokenize=tokenize, lowercase=lowercase)
    assert bleu_of(counts.sum(0)) == pytest.approx(whole.value)
    assert signature == whole.signature


def test_a_part_of_them_has_the_bleu_of_those_sentences() -> None:
    counts, _ = count_sentences(HYPOTHESES, REFERENCES)
    part = bleu(HYPOTHESES[1:], [each[1:] for each in REFERENCES])
    assert bleu_of(counts[1:].sum(0)) == pytest.approx(part.value)


def test_lines_that_do_not_pair_up_are_refused() -> None:
    with pytest.raises(MuteError, match="there are 3 translations, but a reference has 4 lines"):
        count_sentences(HYPOTHESES[:3], REFERENCES)


def test_packed_ones_are_short_and_come_back_as_they_were() -> None:
    counts, _ = count_sentences(HYPOTHESES * 250, [each * 250 for each in REFERENCES])
    packed = pack(counts)
    assert np.array_equal(unpack(packed), counts)
    assert len(packed) < 5000
    assert packed.isascii()
