import copy

import pytest
import torch

from mute.analysis.muting import mute_each, translations_needed
from mute.errors import MuteError
from mute.evaluate.score import bleu
from mute.model.layer import MultiUnitLayer
from mute.model.muting import Kept, keep_units
from mute.translate.translator import Translator
from tests.unit.analysis.models import GERMAN, LINES, translator


@pytest.fixture(scope="module")
def several() -> Translator:
    return translator(units=3, sequential=True)


def with_units(several: Translator, kept: Kept) -> Translator:
    model = copy.deepcopy(several.models[0])
    keep_units(model, kept)
    return Translator(model, several.tokenizer, several.max_length)


def texts(muted: Translator) -> list[str]:
    return [translation.text for translation in muted.translate(LINES)]


def test_bleu_is_that_of_the_model_without_the_unit(several: Translator) -> None:
    references = [*texts(several)[:3], "Ja"]
    found = mute_each(several, LINES, references, lambda _done: None)
    assert found.measure == "BLEU"
    whole = bleu(texts(several), [references])
    assert (found.whole, found.signature) == (whole.value, whole.signature)
    everywhere = bleu(texts(with_units(several, [0, 2])), [references]).value
    assert found.everywhere[1].value == pytest.approx(everywhere)
    in_one = bleu(texts(with_units(several, {1: [1, 2]})), [references]).value
    assert found.layers[1][0].value == pytest.approx(in_one)
    assert found.layers[1][0].difference == pytest.approx(in_one - whole.value)
    assert [len(layer) for layer in found.layers] == [3, 3]


def test_without_references_the_models_judge_the_same_translations(several: Translator) -> None:
    longer = "The dog sleeps. " * several.max_length
    found = mute_each(several, [*LINES, longer], None, lambda _done: None)
    assert found.measure == "score"
    # LINES[1] is empty, and what is translated in parts cannot be scored as a whole.
    judged = [(line, text) for line, text in zip(LINES, texts(several), strict=True) if line]
    assert found.sentences == len(judged) == 3
    sources, translations = zip(*judged, strict=True)
    scored = with_units(several, {0: [0, 1]}).score(sources, translations)
    assert found.layers[0][2].value == pytest.approx(sum(each.score for each in scored) / 3)
    assert found.layers[0][2].p is None


def test_a_text_with_nothing_to_score_is_refused(several: Translator) -> None:
    with pytest.raises(MuteError, match="none of the first 2 lines is a sentence that the model"):
        mute_each(several, ["", ""], None, lambda _done: None)


def test_a_unit_that_others_copy_is_not_missed() -> None:
    alike = translator(units=3)
    for layer in alike.models[0].encoder.layers:
        assert isinstance(layer, MultiUnitLayer)
        for weight in layer.units.parameters():
            weight.data[1:] = weight.data[:1].clone()
        layer.fusion.alpha.data.fill_(1 / 3)
    found = mute_each(alike, LINES, None, lambda _done: None)
    every = [*found.everywhere, *(muted for layer in found.layers for muted in layer)]
    assert [muted.difference for muted in every] == pytest.approx([0] * 9, abs=1e-4)


def test_the_model_stays_as_it_was_and_progress_is_told(several: Translator) -> None:
    before = {name: value.clone() for name, value in several.models[0].state_dict().items()}
    told: list[int] = []
    mute_each(several, LINES, GERMAN, told.append)
    after = several.models[0].state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert set(after) == set(before)
    assert told == sorted(told)
    assert told[-1] == translations_needed(several) * len(LINES)
