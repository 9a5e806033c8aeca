from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import cast
from urllib.error import URLError

import pytest

from mute.config import TokenizerConfig
from mute.errors import MuteError
from mute.evaluate.score import Tokenization, bleu, chrf, tokenization_for

HYP = ["the cat sat on the mat .", "a dog runs in the park ."]
REF = ["the cat sat on a mat .", "the dog runs in the park ."]


def test_scores_carry_their_signature() -> None:
    score = bleu(HYP, [REF], tokenize="none", lowercase=True)
    assert score.signature.startswith("nrefs:1|case:lc|eff:no|tok:none|smooth:exp|version:")
    assert chrf(HYP, [REF]).signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0")


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (HYP, [REF, REF[:1]], "there are 2 translations, but a reference has 1 lines"),
        ([], [[]], "there is no translation to score"),
        (HYP, [], "there is no reference to score against; give at least one"),
        (HYP, REF, "references: should be a list of references, each a list of lines"),
        (HYP, REF[0], "references: should be a list of references, each a list of lines"),
        (HYP[0], [REF], "hypotheses: should be a list of lines, not one string"),
    ],
)
def test_no_line_is_left_out_of_a_score(
    hypotheses: Sequence[str], references: Sequence[Sequence[str]], message: str
) -> None:
    for metric in (bleu, chrf):
        with pytest.raises(MuteError, match=message):
            metric(hypotheses, references)


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
        # By hand: characters 6/7, then 5/6, 4/5 and 3/4; the fourth root of 3/7.
        (["犬は家で眠る。"], [["猫は家で眠る。"]], "char", False, 80.9107),
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


@pytest.mark.parametrize(
    ("language", "tokenize"),
    [
        ("de", "13a"),
        ("ko", "13a"),
        ("zh-TW", "zh"),
        ("zho_Hans", "zh"),
        ("ja", "char"),
        ("jpn_Jpan", "char"),
        ("th", "char"),
        ("km", "char"),
        ("lao_Laoo", "char"),
        ("my", "char"),
    ],
)
def test_the_language_decides_how_words_are_cut(language: str, tokenize: Tokenization) -> None:
    assert tokenization_for(TokenizerConfig(), language) == tokenize
    pretokenized = TokenizerConfig(kind="moses-bpe", pretokenized=True)
    assert tokenization_for(pretokenized, language) == "none"


@pytest.mark.parametrize("language", ["ja", "ko"])
def test_what_is_not_installed_is_told(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module(f"sacrebleu.tokenizers.tokenizer_{language}_mecab")
    monkeypatch.setattr(module, "MeCab", None)
    tokenize = cast("Tokenization", f"{language}-mecab")
    with pytest.raises(MuteError, match=rf"{tokenize}: .* pip install 'sacrebleu\[{language}\]'"):
        bleu(HYP, [REF], tokenize=tokenize)


def test_what_cannot_be_fetched_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(_url: str) -> None:
        raise URLError("no route to host")

    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_spm.SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", offline)
    with pytest.raises(MuteError, match=r"flores200: its model cannot be .*no route to host"):
        bleu(HYP, [REF], tokenize="flores200")
