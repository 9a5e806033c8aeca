from typing import Any

import pytest
from pydantic import ValidationError

from mute.config import (
    Config,
    DataConfig,
    ModelConfig,
    ParallelText,
    TokenizerConfig,
    TrainConfig,
    UnitsConfig,
)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"d_model": 100, "heads": 8}, r"d_model \(100\) is not divisible by heads \(8\)"),
        ({"d_model": 9, "heads": 3}, "sinusoidal_positions need an even d_model, not 9"),
        ({"units": 2, "bias": ["mask"] * 3}, "bias names 3 units, but there are only 2"),
        ({"sequential": True}, "sequential needs at least two units"),
        ({"units": 2, "order": "fixed"}, "order: fixed needs sequential: true"),
        ({"decoder": {"units": 2, "order": "fixed"}}, "order: fixed needs sequential: true"),
        ({"shared": "ffn"}, "shared: ffn needs at least two units"),
        ({"decoder": {"bias": ["swap"]}}, "decoder.bias cannot be swap: .* the future"),
        ({"decoder": {"sequential": True}}, "sequential needs at least two units"),
    ],
)
def test_impossible_combinations_say_so(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        ModelConfig(**settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"units": 0},
        {"units": True},
        {"units": "4"},
        {"dropout": 1.0},
        {"dropout": float("nan")},
        {"sample_rate": 1.2},
        {"bias": "swap"},
        {"bias": ["swop"]},
        {"preset": "huge"},
        {"units": 2, "sequential": True, "order": "random"},
        {"unknown": 1},
    ],
)
def test_values_out_of_range_or_type_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ModelConfig(**settings)


@pytest.mark.parametrize(
    ("preset", "shape"),
    [
        ("tiny", (4, 4, 128, 256, 4)),
        ("small", (6, 6, 256, 1024, 4)),
        ("base", (6, 6, 512, 2048, 8)),
        ("big", (6, 6, 1024, 4096, 16)),
    ],
)
def test_presets(preset: Any, shape: tuple[int, ...]) -> None:
    c = ModelConfig(preset=preset)
    assert (c.encoder_layers, c.decoder_layers, c.d_model, c.d_ffn, c.heads) == shape
    assert ModelConfig(preset=preset, d_ffn=7).d_ffn == 7


def test_the_default_is_the_papers_baseline_and_a_config_is_a_value() -> None:
    config = ModelConfig(units=4, bias=["identity", "swap"], sequential=True)
    assert config.relative_positions == 16
    assert config.sample_rate == 0.85
    assert config == ModelConfig(units=4, bias=("identity", "swap"), sequential=True)
    assert hash(config)
    with pytest.raises(ValidationError):
        config.units = 5  # type: ignore[misc]


def test_a_config_survives_json() -> None:
    config = ModelConfig(preset="tiny", units=3, bias=["mask"], decoder=UnitsConfig(units=2))
    assert ModelConfig.model_validate_json(config.model_dump_json()) == config


def test_the_config_of_a_model_from_before_an_option_still_holds() -> None:
    config = ModelConfig(preset="tiny", units=3, sequential=True)
    settings = config.model_dump(mode="json")
    del settings["order"]
    assert ModelConfig.model_validate(settings) == config


@pytest.mark.parametrize(
    "files",
    [{}, {"source": "a"}, {"target": "a"}, {"tsv": "a", "source": "b", "target": "c"}],
)
def test_parallel_text_is_two_files_or_one(files: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match=r"tsv|come together"):
        ParallelText.model_validate(files)


def data(train: Any, dev: Any) -> DataConfig:
    texts = {"train": [{"source": "a", "target": train}], "dev": {"source": "c", "target": dev}}
    return DataConfig.model_validate({"source": "en", "target": "de", "prepared": "p", **texts})


def test_text_that_is_scored_may_have_several_references() -> None:
    config = data("b", ["d", "e"])
    assert config.dev.target == ("d", "e")
    assert DataConfig.model_validate_json(config.model_dump_json()) == config
    assert data("b", "d").model_dump(mode="json")["dev"]["target"] == "d"


@pytest.mark.parametrize(
    ("train", "dev", "sentence"),
    [
        ("b", [], r"^dev\.target\n.*a list with one for each reference, not \[\]"),
        ("b", ["d", 5], r"^dev\.target\n.*not \['d', 5\]"),
        ("b", 5, r"^dev\.target\n.*should be a file, .*not 5"),
        (["b", "c"], "d", r"^train\n.*0\.target: should be one file"),
    ],
)
def test_references_that_cannot_be_are_told(train: Any, dev: Any, sentence: str) -> None:
    with pytest.raises(ValidationError, match=rf"1 validation error.*\n(?m:{sentence})"):
        data(train, dev)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"kind": "sentencepiece", "pretokenized": True}, "pretokenized .* kind: moses-bpe"),
        ({"kind": "sentencepiece", "chinese": "characters"}, "characters .* kind: moses-bpe on"),
        (
            {"kind": "moses-bpe", "pretokenized": True, "chinese": "characters"},
            "characters goes with kind: moses-bpe on raw text",
        ),
        ({"kind": "moses-bpe", "model": "bpe"}, "model: bpe goes with kind: sentencepiece"),
    ],
)
def test_options_of_another_kind_of_tokenizer_are_refused(
    settings: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValidationError, match=sentence):
        TokenizerConfig.model_validate(settings)


def test_a_rule_for_chinese_needs_some() -> None:
    text = {"source": "a", "target": "b"}
    tokenizer = {"kind": "moses-bpe", "chinese": "characters"}
    rest = {"prepared": "p", "train": [text], "dev": text, "tokenizer": tokenizer}
    DataConfig.model_validate({"source": "zho_Hans", "target": "en", **rest})
    with pytest.raises(ValidationError, match="neither de nor en is Chinese; leave it out"):
        DataConfig.model_validate({"source": "de", "target": "en", **rest})


@pytest.mark.parametrize(
    "tokenizer", [{"kind": "sentencepiece"}, {"kind": "moses-bpe", "pretokenized": True}]
)
def test_tokens_can_be_scored_where_the_tokenizer_makes_them(tokenizer: dict[str, Any]) -> None:
    text = {"source": "a", "target": "b"}
    rest = {"source": "en", "target": "de", "prepared": "p", "train": [text], "dev": text}
    by_tokens = {**rest, "scored_as": "tokens"}
    DataConfig.model_validate({**by_tokens, "tokenizer": {"kind": "moses-bpe"}})
    with pytest.raises(ValidationError, match=r"scored_as: tokens goes with .* on raw text"):
        DataConfig.model_validate({**by_tokens, "tokenizer": tokenizer})


@pytest.mark.parametrize("language", ["ja", "tha"])
def test_moses_needs_words_with_spaces_between_them(language: str) -> None:
    text = {"source": "a", "target": "b"}
    rest = {"source": language, "target": "en", "prepared": "p", "train": [text], "dev": text}
    for tokenizer in ({"kind": "sentencepiece"}, {"kind": "moses-bpe", "pretokenized": True}):
        DataConfig.model_validate({**rest, "tokenizer": tokenizer})
    with pytest.raises(ValidationError, match=rf"moses-bpe finds no words in {language}, which"):
        DataConfig.model_validate({**rest, "tokenizer": {"kind": "moses-bpe"}})


def test_a_folder_in_the_home_of_nobody_is_refused() -> None:
    with pytest.raises(ValidationError, match="there is no home of that name"):
        TrainConfig(run="~nobody-of-that-name/run")


@pytest.mark.parametrize("where", ["dev", "test.news"])
def test_only_training_text_has_a_weight(where: str) -> None:
    text = {"source": "a", "target": "b"}
    weighted: dict[str, Any] = {**text, "weight": 2.0}
    scored = {"dev": weighted} if where == "dev" else {"dev": text, "test": {"news": weighted}}
    with pytest.raises(ValidationError, match=rf"{where}\.weight: only training text has a weight"):
        DataConfig.model_validate(
            {"source": "en", "target": "de", "prepared": "p", "train": [weighted], **scored}
        )


@pytest.mark.parametrize(("run", "prepared"), [("a", "a"), ("a/b", "a"), ("a", "./a/b/c")])
def test_a_run_and_its_text_do_not_share_a_folder(run: str, prepared: str) -> None:
    text = {"source": "x", "target": "y"}
    both = {"source": "en", "target": "de", "train": [text], "dev": text}
    with pytest.raises(ValidationError, match="to prepare anew would delete the run"):
        Config.model_validate({"data": {**both, "prepared": prepared}, "train": {"run": run}})
    Config.model_validate({"data": {**both, "prepared": "a"}, "train": {"run": "ab"}})


def test_two_test_sets_do_not_share_a_file() -> None:
    text = {"source": "x", "target": "y"}
    data = {"source": "en", "target": "de", "prepared": "p", "train": [text], "dev": text}
    with pytest.raises(ValidationError, match="a-b and a/b would share one file"):
        DataConfig.model_validate({**data, "test": {"a-b": text, "a/b": text}})
