"""The translator on a model that has learned nothing: what it promises does not depend on that."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from mute.config import TokenizerConfig
from mute.data.tokenizer import Tokenizer, learn_tokenizer
from mute.data.toy import pairs
from mute.errors import MuteError, NotFiniteError
from mute.model.folder import save_model
from mute.model.transformer import Transformer
from mute.translate import lines as module
from mute.translate.int8 import rounds_inputs
from mute.translate.loading import load
from mute.translate.sampling import Sampling
from mute.translate.search import Hypothesis
from mute.translate.shortlist import Shortlist
from mute.translate.translation import LineError
from mute.translate.translator import Translator
from tests.machines import needs_int8
from tests.unit.model.oracle import double, small

TEXT = list(pairs(200, seed=1, split="train"))
LINES = ["The dog sleeps.", "", "He sees the old house in the garden.", "Yes"]


def tokenizer_of(kind: str, **settings: object) -> Tokenizer:
    config = TokenizerConfig.model_validate({"kind": kind, "size": 400, **settings})
    return learn_tokenizer(TEXT, config, ("en", "de"))


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return tokenizer_of("sentencepiece")


def model_for(tokenizer: Tokenizer, seed: int = 1, **settings: object) -> Transformer:
    torch.manual_seed(seed)
    assert tokenizer.source_size == tokenizer.target_size
    return double(small(**settings), vocab_size=tokenizer.source_size).float()


@pytest.fixture(scope="module")
def translator(tokenizer: Tokenizer) -> Translator:
    return Translator(model_for(tokenizer, units=3, sequential=True), tokenizer)


def test_order_and_count_are_kept_whatever_the_batches(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = LINES * 3
    together = translator.translate(lines)
    assert [t.text == "" for t in together] == [line == "" for line in lines]
    monkeypatch.setattr(module, "BATCH_TOKENS", 10)
    assert [t.text for t in translator.translate(lines)] == [t.text for t in together]
    monkeypatch.setattr(module, "BATCH_LOGITS", 1)
    assert [t.text for t in translator.translate(lines)] == [t.text for t in together]


def test_a_given_translation_gets_the_score_the_search_gave_it(translator: Translator) -> None:
    line, target = LINES[0], "Er sieht das alte Haus im Garten."
    length = len(translator.tokenizer.encode(target, "target"))
    (found,) = translator.translate([line], prefixes=[target], max_length=length)
    (given,) = translator.score([line], [target])
    assert given.tokens == found.tokens
    assert given.score == pytest.approx(found.score, rel=1e-4)


def test_an_empty_translation_of_an_empty_line_is_scored_as_the_search_does(
    translator: Translator,
) -> None:
    found = translator.translate(["", " ", "Yes"])
    given = translator.score(["", " ", "Yes"], [each.text for each in found])
    assert [each.score for each in given[:2]] == [each.score for each in found[:2]] == [0.0, 0.0]
    (lost,) = translator.score(["Yes"], [""])
    assert lost.score < 0


def test_white_space_at_the_ends_of_a_line_is_none_of_its_words(translator: Translator) -> None:
    line = "The dog sleeps."
    padded, plain, *blank = translator.translate([f" \t{line} \u3000", line, " ", "\u3000 ", "\t"])
    assert padded == plain
    assert [each.text for each in blank] == ["", "", ""]
    assert translator.score([f"{line} "], [" Ja"])[0].tokens == (
        translator.score([line], ["Ja"])[0].tokens
    )


def test_what_is_too_long_to_be_scored_is_told(translator: Translator) -> None:
    with pytest.raises(LineError, match="no more than 2048 are scored, so split it") as caught:
        translator.score(["Ja", "Ja"], ["Ja", "Der Hund schläft. " * 700])
    assert caught.value.index == 1


@pytest.mark.parametrize("sampling", [None, Sampling()], ids=["searched", "drawn"])
def test_rules_that_leave_no_word_are_told(
    translator: Translator, sampling: Sampling | None
) -> None:
    with pytest.raises(LineError, match="no translation keeps to the rules given"):
        translator.translate(["Yes"], no_repeat=1, min_length=600, sampling=sampling)


@pytest.mark.parametrize("way", ["searched", "drawn", "scored"])
def test_damaged_weights_of_the_decoder_are_told(tokenizer: Tokenizer, way: str) -> None:
    model = model_for(tokenizer)
    with torch.no_grad():
        model.decoder.norm.weight[0] = torch.nan
    translator = Translator(model, tokenizer, max_length=20)
    ways = {
        "searched": lambda: translator.translate(["Yes"]),
        "drawn": lambda: translator.translate(["Yes"], sampling=Sampling()),
        "scored": lambda: translator.score(["Yes"], ["Ja"]),
    }
    with pytest.raises(NotFiniteError, match="its weights are damaged"):
        ways[way]()


def test_a_model_in_training_stays_so_and_its_weights_are_not_copied(tokenizer: Tokenizer) -> None:
    model = model_for(tokenizer, dropout=0.5, units=2, bias=["identity", "mask"]).train()
    translator = Translator([model, model], tokenizer)
    assert all(part.training for part in model.modules())
    assert not any(part.training for each in translator.models for part in each.modules())
    own = {name: id(value) for name, value in model.named_parameters()}
    for each in translator.models:
        assert {name: id(value) for name, value in each.named_parameters()} == own
    assert translator.translate(LINES) == translator.translate(LINES)
    assert translator.score(LINES, LINES) == translator.score(LINES, LINES)
    assert model.training


def test_scores_of_a_batch_are_those_of_each_alone(translator: Translator) -> None:
    targets = ["Der Hund schläft.", "Nein", "Er sieht das alte Haus im Garten.", "Ja"]
    together = translator.score(LINES, targets, length_penalty=0)
    for line, target, scored in zip(LINES, targets, together, strict=True):
        (alone,) = translator.score([line], [target], length_penalty=0)
        assert scored.score == pytest.approx(alone.score, rel=1e-5)
        assert scored.text == target
        assert scored.score < 0
        (penalised,) = translator.score([line], [target], length_penalty=0.6)
        length = len(alone.tokens) + 1
        expected = alone.score / ((5 + length) / 6) ** 0.6
        assert penalised.score == pytest.approx(expected)


def test_a_long_line_is_split_marked_and_whole(tokenizer: Tokenizer) -> None:
    translator = Translator(model_for(tokenizer), tokenizer, max_length=20)
    long = "The dog sleeps. " * 12
    short = "The dog sleeps."
    first, second = translator.translate([long, short], nbest=2, attention=True)
    warning = first.warnings[0]
    assert not any("longer than" in other for other in (*first.warnings[1:], *second.warnings))
    assert warning.startswith("longer than the 20 pieces the model takes: translated in parts")
    ends = first.source_tokens.count("</s>")
    assert warning.endswith(f"({ends})")
    assert ends > 1
    pieces = [token for token in first.source_tokens if token != "</s>"]
    assert "".join(pieces).replace("▁", "") == long.replace(" ", "")
    assert len(first.alternatives) == 1
    assert first.attention is not None
    assert len(first.attention) == len(first.tokens) + 1
    assert all(len(row) == len(first.source_tokens) for row in first.attention)


def test_a_long_line_is_refused_when_strict(tokenizer: Tokenizer) -> None:
    translator = Translator(model_for(tokenizer), tokenizer, max_length=20)
    with pytest.raises(LineError, match=r"line 2: .* pieces, but the model takes 20") as caught:
        translator.translate(["Yes", "The dog sleeps. " * 12], strict=True)
    assert caught.value.index == 1


def test_attention_is_a_distribution_over_the_source(translator: Translator) -> None:
    for line, translation in zip(LINES, translator.translate(LINES, attention=True), strict=True):
        if not line:
            continue
        assert translation.attention is not None
        rows = torch.tensor(translation.attention)
        assert rows.shape == (len(translation.tokens) + 1, len(translation.source_tokens))
        torch.testing.assert_close(rows.sum(1), torch.ones(len(rows)))
        assert translation.source_tokens[-1] == "</s>"


def test_unknown_words_are_copied_where_they_are_looked_at() -> None:
    tokenizer = tokenizer_of("moses-bpe")
    translator = Translator(model_for(tokenizer), tokenizer)
    plain, marked = translator.translate(["The dog sleeps.", "The dog Ωλ sleeps."], nbest=2)
    copied = "not in the model's vocabulary, copied: Ωλ"
    assert copied not in plain.warnings
    assert marked.warnings[0] == copied
    for each in (marked, *marked.alternatives):
        assert each.text.count("Ωλ") == 1
        assert "<unk>" not in each.text


def test_a_batch_is_looked_at_as_its_lines_are() -> None:
    tokenizer = tokenizer_of("moses-bpe")
    translator = Translator(model_for(tokenizer), tokenizer)
    lines = ["The dog Ωλ sleeps.", "The big dog sees the Ξ house.", "Yes."]
    together = translator.translate(lines, nbest=3, attention=True)
    for line, found in zip(lines, together, strict=True):
        (alone,) = translator.translate([line], nbest=3, attention=True)
        assert found.text == alone.text
        for ours, theirs in zip(
            (found, *found.alternatives), (alone, *alone.alternatives), strict=True
        ):
            torch.testing.assert_close(
                torch.tensor(ours.attention), torch.tensor(theirs.attention), rtol=1e-3, atol=1e-4
            )


def test_unknown_words_are_copied_to_the_end_where_nobody_can_say_what_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tokenizer = tokenizer_of("moses-bpe")
    monkeypatch.setattr("mute.translate.translator.can_show_attention", lambda _: False)
    translator = Translator(model_for(tokenizer), tokenizer)
    (marked,) = translator.translate(["The Ωλ dog Ξ sleeps."])
    assert marked.text.endswith("Ωλ Ξ")


def test_a_prefix_that_cannot_be_written_is_refused() -> None:
    tokenizer = tokenizer_of("moses-bpe")
    translator = Translator(model_for(tokenizer), tokenizer)
    with pytest.raises(LineError, match=r"line 2: the model cannot write .* prefix has: Ωλ"):
        translator.translate(["The dog sleeps."] * 2, prefixes=["", "Der Ωλ"])


def test_a_prefix_of_an_empty_line_is_not_lost_without_a_word(translator: Translator) -> None:
    (empty,) = translator.translate([""], prefixes=["Der"])
    assert (empty.text, empty.warnings) == ("", ["the line is empty, so its prefix was not used"])


def test_a_translation_that_finds_no_end_is_told(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = Hypothesis([5] * 40, -1.0, cut_off=True)
    monkeypatch.setattr(translator, "_search", lambda parts, *_: [[endless]] * len(parts))
    (told,) = translator.translate(["Yes"])
    assert told.warnings == ["cut off after 40 pieces: it found no end"]
    (wanted,) = translator.translate(["Yes"], max_length=40)
    assert wanted.warnings == []


def test_alternatives_that_find_no_end_are_told(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [Hypothesis([5] * 3, -1.0), *[Hypothesis([5] * 40, -2.0, cut_off=True)] * 2]
    monkeypatch.setattr(translator, "_search", lambda parts, *_: [found] * len(parts))
    (told,) = translator.translate(["Yes"], nbest=3)
    assert told.warnings == ["2 of 2 alternatives were cut off: they found no end"]
    cut = ["cut off after 40 pieces: it found no end"]
    assert [each.warnings for each in told.alternatives] == [cut, cut]


def test_an_endless_prefix_is_refused(translator: Translator) -> None:
    with pytest.raises(LineError, match=r"line 1: its prefix has \d+ pieces, .* than 2048"):
        translator.translate(["Yes"], prefixes=["Ja " * 3000])


def test_a_line_that_is_too_long_to_score_well_is_told(tokenizer: Tokenizer) -> None:
    short = Translator(model_for(tokenizer), tokenizer, max_length=5)
    first, second = short.score(["Yes", LINES[2]], ["Ja", "Ja"])
    assert first.warnings == []
    assert second.warnings == ["longer than the 5 pieces the model takes: the score means little"]


def test_a_prefix_begins_the_translation(translator: Translator) -> None:
    prefixes = ["Der Hund", "", "", "Ja"]
    translations = translator.translate(LINES, prefixes=prefixes)
    for prefix, translation in zip(prefixes, translations, strict=True):
        assert translation.text.startswith(prefix)
    assert translations[2] == translator.translate(LINES)[2]


def test_samples_differ_by_seed_and_stay_within_the_rules(translator: Translator) -> None:
    def texts(seed: int) -> list[str]:
        how = Sampling(seed=seed)
        found = translator.translate(LINES, nbest=2, sampling=how, max_length=8)
        assert all(len(t.tokens) <= 8 for t in found)
        return [t.text for t in found]

    assert texts(1) == texts(1)
    assert texts(1) != texts(2)


def test_every_batch_has_its_own_draws(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_LOGITS", 2 * translator.tokenizer.target_size)  # two lines
    found = translator.translate(["Yes"] * 8, sampling=Sampling(), max_length=8)
    batches = {(found[i].text, found[i + 1].text) for i in range(0, 8, 2)}
    assert len(batches) == 4


def test_a_shortlist_leaves_other_words_out(tokenizer: Tokenizer) -> None:
    model = model_for(tokenizer)
    allowed = torch.arange(4, tokenizer.target_size, 3, dtype=torch.int32)
    nothing = torch.zeros(tokenizer.source_size, 1, dtype=torch.int32)
    shortlist = Shortlist(nothing, allowed, tokenizer.target_size)
    names = set(tokenizer.pieces(allowed.tolist(), "target"))
    narrow = Translator(model, tokenizer, shortlist=shortlist)
    for translation in narrow.translate(LINES):
        assert set(translation.tokens) <= names
    (forced,) = narrow.translate(["Yes"], prefixes=["Der Hund"])
    assert forced.text.startswith("Der Hund")
    everything = replace_common(shortlist, tokenizer.target_size)
    whole = Translator(model, tokenizer, shortlist=everything)
    assert whole.translate(LINES) == Translator(model, tokenizer).translate(LINES)


@pytest.mark.skipif(not rounds_inputs(), reason="no VNNI: FBGEMM rounds a batch as a whole")
def test_in_8_bits_a_line_does_not_depend_on_those_beside_it(tokenizer: Tokenizer) -> None:
    settings = {"d_model": 64, "d_ffn": 128, "heads": 4, "units": 2}
    translator = Translator(model_for(tokenizer, **settings), tokenizer, compute="int8")
    for line, found in zip(LINES, translator.translate(LINES), strict=True):
        (alone,) = translator.translate([line])
        assert alone.text == found.text
        assert alone.score == pytest.approx(found.score, abs=1e-4)


def test_with_a_shortlist_a_line_does_not_depend_on_those_beside_it(tokenizer: Tokenizer) -> None:
    models = [model_for(tokenizer), model_for(tokenizer, 2)]
    generator = torch.Generator().manual_seed(1)
    sizes = tokenizer.source_size, tokenizer.target_size
    partners = torch.randint(4, sizes[1], (sizes[0], 3), generator=generator, dtype=torch.int32)
    partners[:4] = 0
    common = torch.arange(4, 40, dtype=torch.int32)
    for chosen in (models[0], models):
        translator = Translator(chosen, tokenizer, shortlist=Shortlist(partners, common, sizes[1]))
        for line, found in zip(LINES, translator.translate(LINES), strict=True):
            (alone,) = translator.translate([line])
            assert alone.text == found.text
            assert alone.score == pytest.approx(found.score, abs=1e-4)


def replace_common(shortlist: Shortlist, size: int) -> Shortlist:
    return Shortlist(shortlist.partners, torch.arange(size, dtype=torch.int32), size)


def test_rules_that_contradict_each_other_are_refused(translator: Translator) -> None:
    with pytest.raises(MuteError, match="max_length 3 is less than min_length 5"):
        translator.translate(LINES, min_length=5, max_length=3)
    with pytest.raises(MuteError, match="1 prefixes for 4 lines"):
        translator.translate(LINES, prefixes=["x"])
    with pytest.raises(MuteError, match="1 translations of 4 lines"):
        translator.score(LINES, ["x"])
    with pytest.raises(LineError, match="line 1: no translation keeps to the rules given"):
        translator.translate(["Yes"], no_repeat=1, min_length=translator.tokenizer.target_size)


def test_one_string_is_no_list_of_lines(translator: Translator) -> None:
    with pytest.raises(MuteError, match="lines: should be a list of sentences, not one string"):
        translator.translate("The dog sleeps.")
    with pytest.raises(MuteError, match="prefixes: should be a list"):
        translator.translate(["Yes"], prefixes="J")
    with pytest.raises(MuteError, match="targets: should be a list"):
        translator.score(["Yes"], "J")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": 0}, "beam 0: should be at least 1"),
        ({"beam": -1, "nbest": 2}, "beam -1: should be at least 1"),
        ({"nbest": 0}, "nbest 0: should be at least 1"),
        ({"no_repeat": -1}, "no_repeat -1: should be at least 0"),
        ({"min_length": -1}, "min_length -1: should be at least 0"),
        ({"length_penalty": -0.1}, "length_penalty -0.1: should be at least 0"),
        ({"length_penalty": float("nan")}, "length_penalty nan: should be at least 0"),
        ({"max_length": 7.5}, r"max_length 7\.5: should be a whole number"),
        ({"max_length": float("nan")}, "max_length nan: should be a whole number"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(
    translator: Translator, options: dict[str, float], message: str
) -> None:
    with pytest.raises(MuteError, match=message):
        translator.translate(LINES, **options)  # type: ignore[arg-type]
    if "length_penalty" in options:
        with pytest.raises(MuteError, match=message):
            translator.score(LINES, LINES, **options)


def test_what_is_no_sampling_is_told_what_to_pass(translator: Translator) -> None:
    with pytest.raises(MuteError, match=r"sampling True: .* mute\.translate\.sampling\.Sampling\("):
        translator.translate(LINES, sampling=True)  # type: ignore[arg-type]


def test_loading_no_model_is_refused() -> None:
    with pytest.raises(MuteError, match="no model to load: give a run folder or a model folder"):
        load()


def saved(folder: Path, tokenizer: Tokenizer, seed: int, **settings: object) -> Path:
    model = model_for(tokenizer, seed, **settings)
    save_model(folder, model.config, dict(model.named_parameters()), tokenizer, max_length=33)
    return folder


def test_loading_an_ensemble_or_some_units(tokenizer: Tokenizer, tmp_path: Path) -> None:
    one = saved(tmp_path / "one", tokenizer, 1, units=3)
    two = saved(tmp_path / "two", tokenizer, 2)
    assert load(one).max_length == 33

    def best(translator: Translator) -> list[tuple[str, float]]:
        return [(t.text, t.score) for t in translator.translate(LINES)]

    both = load(one, two)
    assert best(both) != best(load(one))
    length = len(tokenizer.encode("Ja.", "target"))
    (found,) = both.translate(["Yes"], prefixes=["Ja."], max_length=length)
    assert both.score(["Yes"], ["Ja."])[0].score == pytest.approx(found.score, rel=1e-4)
    assert best(load(one, units=[1])) != best(load(one))
    assert best(load(one, units={0: [1]})) != best(load(one, units=[1]))
    assert [t for t, _ in best(load(one, units=[0, 1, 2]))] == [t for t, _ in best(load(one))]


@needs_int8
def test_loading_in_8_bits(tokenizer: Tokenizer, tmp_path: Path) -> None:
    folder = saved(tmp_path / "one", tokenizer, 1, units=3)
    exact, rounded = (load(folder, compute=each).translate(LINES) for each in ("float32", "int8"))
    assert [each.score for each in rounded] != [each.score for each in exact]


def test_an_ensemble_needs_one_vocabulary(tokenizer: Tokenizer, tmp_path: Path) -> None:
    one = saved(tmp_path / "one", tokenizer, 1)
    other_pieces = learn_tokenizer(TEXT[:100], replace_size(tokenizer.config), ("en", "de"))
    two = saved(tmp_path / "two", other_pieces, 1)
    with pytest.raises(MuteError, match=r"two has another vocabulary than .*one: no ensemble"):
        load(one, two)


def test_an_ensemble_translates_in_one_direction(tmp_path: Path) -> None:
    there, back = (
        learn_tokenizer(TEXT, TokenizerConfig(size=400), languages)
        for languages in (("en", "de"), ("de", "en"))
    )
    one, two = saved(tmp_path / "one", there, 1), saved(tmp_path / "two", back, 1)
    with pytest.raises(MuteError, match=r"two translates de to en, but .*one en to de: no ens"):
        load(one, two)


def test_what_the_vocabulary_lacks_of_a_given_translation_is_told() -> None:
    words = tokenizer_of("moses-bpe", size=60)
    (scored,) = Translator(model_for(words), words).score(["The dog."], ["Der Ω."])
    assert scored.warnings == ["not in the model's vocabulary, scored as unknown: Ω"]


def test_a_wide_beam_makes_for_smaller_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_LOGITS", 100_000)
    parts = [module.Part(line, "", [5] * 24, []) for line in range(8)]
    counts = {
        width: max(map(len, module.batches(parts, range(8), width, vocabulary=100)))
        for width in (4, 20, 60)
    }
    assert counts == {4: 8, 20: 8, 60: 1}


def replace_size(config: TokenizerConfig) -> TokenizerConfig:
    return config.model_copy(update={"size": 390})


def test_a_model_without_a_shortlist_says_how_to_make_one(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    with pytest.raises(MuteError, match="mute shortlist"):
        load(saved(tmp_path / "one", tokenizer, 1), shortlist=True)


def test_parts_are_joined_as_their_language_writes(tokenizer: Tokenizer) -> None:
    translator = Translator(model_for(tokenizer), tokenizer, max_length=20)
    chinese = tokenizer_of("sentencepiece", joint=True)
    chinese.languages = ("en", "zh")
    (spaced,) = translator.translate(["The dog sleeps. " * 12])
    (close,) = Translator(translator.models, chinese, max_length=20).translate(
        ["The dog sleeps. " * 12]
    )
    assert spaced.tokens == close.tokens
    assert len(close.text) < len(spaced.text)
    assert replace(spaced, text="") == replace(close, text="")
