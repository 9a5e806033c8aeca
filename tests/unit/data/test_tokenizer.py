import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mute.config import TokenizerConfig
from mute.data.tokenizer import SIDES, Side, Tokenizer, learn_tokenizer, load_tokenizer
from mute.data.vocabulary import BOS, EOS, PAD, SPECIALS, UNK
from mute.data.words import words_of
from mute.errors import MuteError
from mute.evaluate.score import tokenization_for

from .sentences import pairs, sentences

KINDS: dict[str, dict[str, Any]] = {
    "unigram": {"size": 330},
    "unigram, separate": {"size": 300, "joint": False},
    "SentencePiece's BPE": {"size": 400, "model": "bpe"},
    "moses-bpe": {"kind": "moses-bpe", "size": 60},
    "moses-bpe, separate": {"kind": "moses-bpe", "size": 60, "joint": False},
    "characters": {"kind": "moses-bpe", "size": 60, "chinese": "characters"},
}


def learn(source: str = "en", target: str = "de", **options: Any) -> Tokenizer:
    return learn_tokenizer(pairs(source, target), TokenizerConfig(**options), (source, target))


@pytest.fixture(scope="module", params=KINDS.values(), ids=list(KINDS))
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return learn("en", "zh", **request.param)


@pytest.fixture(scope="module")
def unigram() -> Tokenizer:
    return learn(size=340)


@pytest.fixture(scope="module")
def moses() -> Tokenizer:
    return learn(kind="moses-bpe", size=60)


TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="▁"))


@given(TEXT)
def test_sentencepiece_gives_back_any_text(unigram: Tokenizer, text: str) -> None:
    for side in SIDES:
        ids = unigram.encode(text, side)
        assert UNK not in ids
        assert unigram.decode(ids, side) == text.strip()  # as training text is read


@given(
    TEXT, st.integers(0, 2**64), st.sampled_from([0.1, 0.99]), st.sampled_from(["unigram", "bpe"])
)
def test_sentencepiece_samples_are_the_same_text(
    samplers: dict[str, Tokenizer], text: str, seed: int, rate: float, model: str
) -> None:
    tokenizer = samplers[model]
    ids = tokenizer.encode(text, "target")
    sampled = tokenizer.sample(ids, "target", rate, seed)
    assert tokenizer.decode(sampled, "target") == text.strip()
    assert all(each >= len(SPECIALS) for each in sampled)


def test_a_sentence_without_spaces_is_sampled_however_long_it_is(unigram: Tokenizer) -> None:
    text = "thedogrunsunder" * 200
    ids = unigram.encode(text, "source")
    for seed in range(20):
        assert unigram.decode(unigram.sample(ids, "source", 0.9, seed), "source") == text


def test_a_word_that_looks_as_if_it_went_on_stays_apart() -> None:
    config = TokenizerConfig(kind="moses-bpe", size=60, pretokenized=True)
    text = [("a dog @@ runs foo@@ bar", "ein Hund @@ rennt")] * 3
    tokenizer = learn_tokenizer(text, config, ("en", "de"))
    for marked, word in (("a @@ dog", "@@"), ("foo@@ bar", "foo@@")):
        assert UNK in tokenizer.encode(marked, "source")
        assert [each for _, each in tokenizer.unknown(marked, "source")] == [word]


@pytest.fixture(scope="module")
def samplers(unigram: Tokenizer) -> dict[str, Tokenizer]:
    return {"unigram": unigram, "bpe": learn(size=400, model="bpe")}


def test_ordinary_sentences_come_back(tokenizer: Tokenizer) -> None:
    for side, language in zip(SIDES, tokenizer.languages, strict=True):
        for text in sentences(language):
            ids = tokenizer.encode(text, side)
            assert tokenizer.decode(ids, side) == text
            assert all(each >= len(SPECIALS) for each in ids)


def test_german_comes_back_with_moses_plain_quotes(moses: Tokenizer) -> None:
    for text in sentences("de"):
        plain = text.replace("„", '"').replace("“", '"')
        assert moses.decode(moses.encode(text, "target"), "target") == plain


def test_ids_stay_below_the_sizes(tokenizer: Tokenizer) -> None:
    for side, size in zip(SIDES, (tokenizer.source_size, tokenizer.target_size), strict=True):
        assert len(set(tokenizer.pieces(range(size), side))) == size
        assert tokenizer.pieces(range(4), side) == list(SPECIALS)
        with pytest.raises(IndexError):
            tokenizer.pieces([size], side)


def test_a_joint_vocabulary_is_learned_from_both_sides(tokenizer: Tokenizer) -> None:
    if tokenizer.config.joint:
        assert tokenizer.source_size == tokenizer.target_size
        every = tokenizer.pieces(range(tokenizer.source_size), "source")
        assert any("dog" in piece for piece in every)
        assert any("狗" in piece for piece in every)
    else:
        source = tokenizer.pieces(range(tokenizer.source_size), "source")
        assert not any("狗" in piece for piece in source)


def test_samples_are_the_same_text(tokenizer: Tokenizer) -> None:
    for side, language in zip(SIDES, tokenizer.languages, strict=True):
        for seed, text in enumerate(sentences(language)):
            ids = tokenizer.encode(text, side)
            sampled = tokenizer.sample(ids, side, 0.5, seed)
            assert tokenizer.decode(sampled, side) == text
            assert sampled == tokenizer.sample(ids, side, 0.5, seed)
            assert tokenizer.sample(ids, side, 0.0, seed) == ids


@pytest.mark.parametrize(
    "options", [{"size": 290}, {"size": 290, "model": "bpe"}, {"kind": "moses-bpe", "size": 30}]
)
def test_samples_vary_but_not_with_what_was_sampled_before(options: dict[str, Any]) -> None:
    random = Random(1)
    words = ["".join(random.choices("abc", k=random.randint(1, 6))) for _ in range(500)]
    text = [" ".join(words[start : start + 5]) for start in range(0, 500, 5)]
    config = TokenizerConfig(**options)
    tokenizer = learn_tokenizer([(line, line) for line in text], config, ("en", "de"))
    ids = tokenizer.encode(text[0], "source")
    samples = [tuple(tokenizer.sample(ids, "source", 0.3, seed)) for seed in range(50)]
    assert len(set(samples)) > 2
    assert {tokenizer.decode(sample, "source") for sample in samples} == {text[0]}
    few = [tokenizer.sample(ids, "source", 0.01, seed) == ids for seed in range(50)]
    assert few.count(True) > 25
    other = learn_tokenizer([(line, line) for line in text], config, ("en", "de"))
    assert tuple(other.sample(ids, "source", 0.3, 49)) == samples[49]


def test_special_ids_are_no_text(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("A dog sees a big tree!", "source")
    assert tokenizer.decode([BOS, *ids, EOS, PAD, PAD], "source") == "A dog sees a big tree!"
    assert "<unk>" in tokenizer.decode([UNK, *ids], "source")
    assert tokenizer.encode("", "source") == []
    assert tokenizer.decode([], "source") == ""


def test_text_cannot_pose_as_special(tokenizer: Tokenizer) -> None:
    for text in ("</s>", "<pad> A dog <s>", "<0x41>"):
        assert not {PAD, BOS, EOS} & set(tokenizer.encode(text, "source"))


def test_a_text_learned_from_may_contain_special_names() -> None:
    text = [("<unk> a dog </s>", "<unk> ein hund </s>")] * 3
    config = TokenizerConfig(kind="moses-bpe", size=20, pretokenized=True)
    tokenizer = learn_tokenizer(text, config, ("en", "de"))
    assert (
        len(set(tokenizer.pieces(range(tokenizer.source_size), "source"))) == tokenizer.source_size
    )
    assert not {PAD, BOS, EOS} & set(tokenizer.encode("</s>", "source"))


def test_moses_bpe_makes_unknown_characters_unk(moses: Tokenizer) -> None:
    ids = moses.encode("A dog sees Ω.", "source")
    assert ids.count(UNK) == 1
    assert moses.decode(ids, "source") == "A dog sees <unk>."
    assert UNK in moses.sample(ids, "source", 0.5, 1)


def test_a_word_without_end_is_cut_quickly(moses: Tokenizer) -> None:
    word = "dogsees" * 20_000
    assert moses.decode(moses.encode(word, "source"), "source").replace("<unk>", "") != ""


def test_words_are_cut_into_pieces_of_the_vocabulary(moses: Tokenizer) -> None:
    ids = moses.encode("treehouse", "source")
    assert UNK not in ids
    assert "".join(moses.pieces(ids, "source")).replace("@@", "") == "treehouse"


def test_pretokenized_text_stays_so() -> None:
    tokenizer = learn(kind="moses-bpe", size=60, pretokenized=True)
    text = "The child doesn't find 3 small birds?"
    assert tokenizer.decode(tokenizer.encode(text, "source"), "source") == text


@pytest.mark.parametrize(
    ("source", "options", "takes"),
    [
        ("a dog runs .", {"pretokenized": True}, "text that is tokenised and lower-cased already"),
        ("A dog runs .", {"pretokenized": True}, "text that is tokenised already"),
        ("一 只 狗 。", {"pretokenized": True}, "text that is tokenised already"),
        ("a dog runs.", {}, "text that is lower-cased already"),
        ("A dog runs.", {"lowercase": True}, ""),
        ("A dog runs.", {}, ""),
    ],
)
def test_what_has_to_be_done_to_a_text_is_told(
    source: str, options: dict[str, Any], takes: str
) -> None:
    config = TokenizerConfig(kind="moses-bpe", size=20, joint=False, **options)
    tokenizer = learn_tokenizer([(source, "Ein Hund rennt .")] * 3, config, ("en", "de"))
    assert tokenizer.takes == takes


def test_the_bytes_of_a_vocabulary_say_nothing_of_its_case() -> None:
    config = TokenizerConfig(size=300, joint=False)
    text = [(source.lower(), target) for source, target in pairs("en", "de")]
    tokenizer = learn_tokenizer(text, config, ("en", "de"))
    assert "<0xC3>" in tokenizer.pieces(range(260), "source")
    assert tokenizer.takes == "text that is lower-cased already"
    assert learn(size=300, joint=False).takes == ""
    assert learn(size=300, joint=False, lowercase=True).takes == ""


def test_chinese_keeps_the_space_between_foreign_words_only(tokenizer: Tokenizer) -> None:
    if tokenizer.config.kind == "moses-bpe":
        ids = tokenizer.encode("New York 的 大海。", "target")
        assert tokenizer.decode(ids, "target") == "New York的大海。"


@pytest.mark.parametrize("code", ["zh", "zh-TW", "zho_Hans", "cmn", "cmn_Hans"])
def test_every_code_of_chinese_means_it(code: str) -> None:
    words = words_of(code, TokenizerConfig(kind="moses-bpe", chinese="characters"))
    assert words.split("大海。") == ["大", "海", "。"]
    assert tokenization_for(TokenizerConfig(), code) == "zh"


@pytest.mark.parametrize("options", [{"size": 330}, {"kind": "moses-bpe", "size": 60}])
def test_lower_casing_works_on_the_way_in(options: dict[str, Any]) -> None:
    tokenizer = learn(lowercase=True, **options)
    ids = tokenizer.encode("A DOG sees the Red House.", "source")
    assert tokenizer.decode(ids, "source") == "a dog sees the red house."
    every = tokenizer.pieces(range(4, tokenizer.source_size), "source")
    assert not any(piece[-3:].isupper() for piece in every if not piece.startswith("<0x"))


def test_control_characters_are_spaces(tokenizer: Tokenizer) -> None:
    clean = tokenizer.encode("A dog sees a big tree!", "source")
    assert tokenizer.encode("A dog\x00sees\ta\x85big\rtree!", "source") == clean


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_learning_again_gives_the_same_files(tokenizer: Tokenizer, tmp_path: Path) -> None:
    again = learn_tokenizer(pairs("en", "zh"), tokenizer.config, ("en", "zh"))
    tokenizer.save(tmp_path / "one")
    again.save(tmp_path / "two")
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_a_folder_is_all_it_takes(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path)
    loaded = load_tokenizer(tmp_path)
    assert loaded.languages == tokenizer.languages
    assert loaded.config == tokenizer.config
    side: Side
    for side in SIDES:
        for text in ("A dog likes New York.", "狗！", "日本語 😀"):
            ids = tokenizer.encode(text, side)
            assert loaded.encode(text, side) == ids
            assert loaded.decode(ids, side) == tokenizer.decode(ids, side)
            assert loaded.sample(ids, side, 0.5, 7) == tokenizer.sample(ids, side, 0.5, 7)


def test_a_missing_file_is_told(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path)
    for path in list(tmp_path.iterdir()):
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(MuteError, match=rf"{path.name}: cannot be read .*all its files"):
            load_tokenizer(tmp_path)
        path.write_bytes(content)


def test_a_damaged_file_is_told(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path)
    for path in list(tmp_path.iterdir()):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
        with pytest.raises(MuteError, match=rf"{path.name}: .*damaged"):
            load_tokenizer(tmp_path)
        path.write_bytes(content)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "languages": ["en"]}))
    with pytest.raises(MuteError, match=r"tokenizer\.json: not a tokenizer of mute, or damaged"):
        load_tokenizer(tmp_path)


def without_digests(folder: Path) -> None:
    """Make the folder of a tokenizer one that an older version wrote."""
    path = folder / "tokenizer.json"
    settings = json.loads(path.read_text())
    del settings["files"]
    path.write_text(json.dumps(settings))


def test_merges_cut_at_the_end_of_a_line_are_told(moses: Tokenizer, tmp_path: Path) -> None:
    moses.save(tmp_path)
    codes = tmp_path / "bpe.codes"
    codes.write_bytes(codes.read_bytes().rsplit(b"\n", 2)[0] + b"\n")
    with pytest.raises(MuteError, match=r"bpe\.codes: damaged or cut short"):
        load_tokenizer(tmp_path)


def test_half_a_merge_is_told_without_a_digest_too(moses: Tokenizer, tmp_path: Path) -> None:
    moses.save(tmp_path)
    without_digests(tmp_path)
    codes = tmp_path / "bpe.codes"
    codes.write_bytes(b"#version: 0.2\nt h\ne ")
    with pytest.raises(MuteError, match=r"bpe\.codes:3: not a merge of two pieces; damaged"):
        load_tokenizer(tmp_path)


def test_a_folder_of_an_older_version_is_read(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path)
    without_digests(tmp_path)
    assert load_tokenizer(tmp_path).source_size == tokenizer.source_size


def test_another_format_is_told(unigram: Tokenizer, tmp_path: Path) -> None:
    unigram.save(tmp_path)
    path = tmp_path / "tokenizer.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, "format": 99}))
    with pytest.raises(MuteError, match="format 99, but this version of mute reads format 1"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize("model", ["unigram", "bpe"])
def test_a_vocabulary_beyond_the_text_is_told_with_the_largest_possible(model: str) -> None:
    with pytest.raises(MuteError, match=r"data\.tokenizer\.size: .* at most \d+ pieces") as told:
        learn(size=50_000, model=model)
    largest = int(str(told.value).split("at most ")[1].split(" ")[0])
    assert learn(size=largest, model=model).source_size == largest


def test_a_vocabulary_below_the_characters_is_told() -> None:
    with pytest.raises(MuteError, match=r"data\.tokenizer\.size: .*more characters.*at least \d+"):
        learn(size=270)
    with pytest.raises(MuteError, match=r"data\.tokenizer\.size: must be above 260"):
        learn(size=100)


def test_bpe_of_too_little_text_is_told() -> None:
    config = TokenizerConfig(kind="moses-bpe", size=10)
    for text in ([("a", "b")], [("ab", "cd")]):
        with pytest.raises(MuteError, match="too short to learn BPE"):
            learn_tokenizer(text, config, ("en", "de"))
