from collections import Counter
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file

from mute.config import TokenizerConfig
from mute.data.shards import Block, Pairs, ShardWriter
from mute.data.tokenizer import learn_tokenizer
from mute.data.toy import pairs as toy_pairs
from mute.data.vocabulary import EOS, PAD
from mute.errors import MuteError
from mute.translate import shortlist as module
from mute.translate.shortlist import (
    FILE,
    Shortlist,
    learn_shortlist,
    load_shortlist,
    make_shortlist,
    measure,
)

Ids = list[tuple[list[int], list[int]]]
SIZE = 20

# 4 stands beside 10 three times and beside 11 once; 5 beside 12; 19 is on every target side.
TEXT: Ids = [
    ([4, 6], [10, 19]),
    ([4, 4], [10, 11, 19]),
    ([4, 5], [10, 12, 12, 19]),
    ([5, 7], [12, 13, 19]),
    ([8], [14, 19]),
]


def write(folder: Path, pairs: Ids, name: str = "train") -> Pairs:
    writer = ShardWriter(folder / name, vocabulary=100)
    writer.begin("a.en", "a.de")
    sources, targets = zip(*pairs, strict=True)
    writer.add(Block.of(sources, targets, range(len(pairs))))
    writer.close()
    return Pairs(folder / name)


@pytest.fixture
def text(tmp_path: Path) -> Pairs:
    return write(tmp_path, TEXT)


def words(shortlist: Shortlist, *sentences: list[int]) -> list[int]:
    """What the shortlist adds to the special ids, in any of the sentences."""
    allowed: list[int] = listed(shortlist, *sentences).any(0).nonzero().flatten().tolist()
    assert allowed[:4] == [0, 1, 2, 3]
    return allowed[4:]


def listed(shortlist: Shortlist, *sentences: list[int]) -> torch.Tensor:
    longest = max(map(len, sentences))
    batch = [[*each, EOS, *[PAD] * (longest - len(each))] for each in sentences]
    return shortlist.allowed(torch.tensor(batch))


def test_a_source_piece_brings_what_it_stands_beside_most_and_what_is_frequent(
    text: Pairs,
) -> None:
    shortlist = learn_shortlist(text, SIZE, SIZE, per_word=1, frequent=1)
    assert words(shortlist, [4]) == [10, 19]
    assert words(shortlist, [5]) == [12, 19]
    assert words(shortlist, [4, 8]) == [10, 14, 19]
    assert words(shortlist, [9]) == [19]


def test_a_piece_counts_once_in_a_sentence_and_ties_go_to_the_frequent(text: Pairs) -> None:
    shortlist = learn_shortlist(text, SIZE, SIZE, per_word=2, frequent=1)
    # 11 and 12 stand beside 4 once each; 12 is seen in more sentences
    assert words(shortlist, [4]) == [10, 12, 19]


def test_frequent_pieces_take_no_place_of_a_partner(text: Pairs) -> None:
    shortlist = learn_shortlist(text, SIZE, SIZE, per_word=1, frequent=2)
    assert words(shortlist, [4]) == [10, 12, 19]


def test_no_more_partners_are_asked_for_than_there_are(text: Pairs) -> None:
    shortlist = learn_shortlist(text, SIZE, SIZE, per_word=10**12, frequent=1)
    assert shortlist.partners.shape == (SIZE, SIZE)


def test_some_pieces_are_always_allowed_and_namesakes_with_their_source(text: Pairs) -> None:
    shortlist = learn_shortlist(
        text, SIZE, SIZE, per_word=1, frequent=1, always=[17, 18], namesakes={9: 15, 4: 16}
    )
    assert words(shortlist, [9]) == [15, 17, 18, 19]
    assert words(shortlist, [4]) == [10, 16, 17, 18, 19]


def test_every_sentence_of_a_batch_has_its_own(text: Pairs) -> None:
    shortlist = learn_shortlist(text, SIZE, SIZE, per_word=2, frequent=1)
    together = listed(shortlist, [4, 6, 5], [8])
    alone = [listed(shortlist, each) for each in ([4, 6, 5], [8])]
    assert torch.equal(together, torch.cat(alone))
    assert not torch.equal(*alone)


ids = st.lists(st.integers(4, SIZE - 1), min_size=1, max_size=6)


@given(
    st.lists(st.tuples(ids, ids), min_size=1, max_size=12),
    st.integers(1, 5),
    st.integers(0, 5),
    st.sampled_from([1, 7, 512]),
)
def test_it_is_what_counting_by_hand_gives(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: Ids,
    per_word: int,
    frequent: int,
    at_once: int,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", at_once)
        text = write(tmp_path_factory.mktemp("pairs"), pairs)
        shortlist = learn_shortlist(text, SIZE, SIZE, per_word, frequent)
    seen = Counter(each for _, target in pairs for each in set(target))
    by_frequency = sorted(range(SIZE), key=lambda each: (-seen[each], each))
    common = set(by_frequency[:frequent])
    for piece in range(4, SIZE):
        beside = Counter(
            each for source, target in pairs if piece in source for each in set(target) - common
        )
        best = sorted(beside, key=lambda each: (-beside[each], by_frequency.index(each)))
        assert words(shortlist, [piece]) == sorted({*best[:per_word], *common} - {0, 1, 2, 3})


def test_of_a_large_corpus_pairs_are_taken_evenly(
    text: Pairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_PAIRS", 2)
    shortlist = learn_shortlist(text, SIZE, SIZE, per_word=9, frequent=0)
    assert words(shortlist, list(range(4, SIZE))) == [10, 12, 19]  # of the first and the third


def test_what_is_saved_is_loaded_from_the_model_or_its_run(text: Pairs, tmp_path: Path) -> None:
    folder = tmp_path / "run" / "model"
    folder.mkdir(parents=True)
    (folder / "config.json").touch()
    shortlist = learn_shortlist(text, SIZE, SIZE + 1, per_word=2, frequent=1)
    for _ in range(2):
        shortlist.save(folder)
    for place in (folder, str(tmp_path / "run")):
        loaded = load_shortlist(place, SIZE, SIZE + 1)
        for piece in range(SIZE):
            assert words(loaded, [piece]) == words(shortlist, [piece])
    assert {path.name for path in folder.iterdir()} == {"config.json", FILE}


def test_without_a_shortlist_the_command_that_makes_it_is_told(tmp_path: Path) -> None:
    with pytest.raises(MuteError, match="there is no shortlist; `mute shortlist MODEL CONFIG`"):
        load_shortlist(tmp_path, SIZE, SIZE)


@pytest.mark.parametrize("sizes", [(SIZE + 1, SIZE), (SIZE, SIZE - 1)])
def test_a_shortlist_of_other_vocabularies_is_refused(
    text: Pairs, tmp_path: Path, sizes: tuple[int, int]
) -> None:
    learn_shortlist(text, SIZE, SIZE).save(tmp_path)
    with pytest.raises(MuteError, match=r"of 20 and 20 pieces, not of .*; `mute shortlist"):
        load_shortlist(tmp_path, *sizes)


def test_a_damaged_shortlist_is_refused(text: Pairs, tmp_path: Path) -> None:
    learn_shortlist(text, SIZE, SIZE).save(tmp_path)
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[:-5])
    with pytest.raises(MuteError, match=rf"{FILE}: damaged"):
        load_shortlist(tmp_path, SIZE, SIZE)


@pytest.mark.parametrize(
    ("partner", "metadata"),
    [
        (5, {"format": "2", "target_size": "20"}),
        (5, {"format": "1"}),
        (5, {"format": "1", "target_size": "many"}),
        (5, None),
        (20, {"format": "1", "target_size": "20"}),
        (-1, {"format": "1", "target_size": "20"}),
    ],
)
def test_what_is_no_shortlist_of_this_version_is_refused(
    tmp_path: Path, partner: int, metadata: dict[str, str] | None
) -> None:
    tensors = {"partners": torch.full((SIZE, 2), partner), "common": torch.tensor([7])}
    save_file(tensors, tmp_path / FILE, metadata)
    with pytest.raises(MuteError, match=r"damaged, or of another version of mute"):
        load_shortlist(tmp_path, SIZE, SIZE)


def test_where_it_cannot_be_written_is_told(text: Pairs, tmp_path: Path) -> None:
    with pytest.raises(MuteError, match=rf"nowhere/{FILE}: cannot be written"):
        learn_shortlist(text, SIZE, SIZE).save(tmp_path / "nowhere")


def test_coverage_is_of_each_sentence_and_size_of_a_batch(text: Pairs, tmp_path: Path) -> None:
    shortlist = learn_shortlist(text, SIZE, SIZE, per_word=1, frequent=1)
    dev = write(tmp_path, [([4], [10, 10, 12]), ([5], [12, 19])] + 28 * [([8], [14])], "dev")
    measured = measure(shortlist, dev)
    # 12 does not go with 4, though it is in the batch; the batch: 10, 12, 14, 19, special ones
    assert measured.coverage == pytest.approx(32 / 33)
    assert measured.size == 4 + 4


def test_bytes_and_the_same_piece_are_always_possible(tmp_path: Path) -> None:
    config = TokenizerConfig(size=500)
    tokenizer = learn_tokenizer(list(toy_pairs(300, split="train")), config, ("en", "de"))
    sizes = tokenizer.source_size, tokenizer.target_size
    shortlist = make_shortlist(tokenizer, write(tmp_path, TEXT), per_word=1, frequent=1)
    for piece in range(4, sizes[0]):
        names = tokenizer.pieces(words(shortlist, [piece]), "target")
        assert {f"<0x{byte:02X}>" for byte in range(256)} <= set(names)
        assert tokenizer.pieces([piece], "source")[0] in names
    assert len(words(shortlist, [400])) < 296
