"""The same weights in CTranslate2: an independent engine must agree with ours."""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import ctranslate2
import pytest
import torch
from torch.nn import functional as F

from mute.config import ModelConfig, TokenizerConfig
from mute.data.batching import pad
from mute.data.tokenizer import Side, Tokenizer, learn_tokenizer, load_tokenizer
from mute.data.toy import pairs
from mute.data.vocabulary import BOS, EOS, PAD, UNK
from mute.errors import MuteError
from mute.model.folder import save_model
from mute.model.transformer import Transformer, build
from mute.translate.export import LONGEST, export_ctranslate2
from mute.translate.translator import Translator
from tests.integration.command import run
from tests.unit.model.oracle import small

KNOWN = sorted(pairs(60, split="test"), key=lambda pair: len(pair[0]))[:12]
UNKNOWN = list(pairs(6, split="dev"))
JOINT = TokenizerConfig(size=600)
SEPARATE = TokenizerConfig(kind="moses-bpe", size=150, joint=False)
NO_POSITIONS = {"relative_positions": 0, "sinusoidal_positions": False}
SHARED = {"share_embeddings": True}
UNTIED = {"tie_output": False}
SYSTEMS = [
    pytest.param(({}, JOINT), id="relative and absolute positions"),
    pytest.param(({"relative_positions": 0}, JOINT), id="absolute positions"),
    pytest.param(({"sinusoidal_positions": False}, JOINT), id="relative positions"),
    pytest.param((NO_POSITIONS, JOINT), id="no positions"),
    pytest.param((SHARED, JOINT), id="one table for all"),
    pytest.param((SHARED | UNTIED, JOINT), id="one table for both inputs"),
    pytest.param(({}, SEPARATE), id="vocabularies of two sizes"),
    pytest.param((UNTIED, SEPARATE), id="vocabularies of two sizes, untied"),
    pytest.param(({"encoder_layers": 1, "decoder_layers": 3}, SEPARATE), id="unequal stacks"),
]


class Twins(NamedTuple):
    """A model here and there."""

    model: Transformer
    tokenizer: Tokenizer
    engine: Any

    def tokens(self, text: str, side: Side) -> list[str]:
        return self.tokenizer.pieces(self.tokenizer.encode(text, side), side)


@cache
def tokenizer_of(config: TokenizerConfig) -> Tokenizer:
    return learn_tokenizer(list(pairs(400)), config, ("en", "de"))


def trained_model(config: ModelConfig, tokenizer: Tokenizer) -> Transformer:
    """A model that has learned KNOWN by heart, but is unsure of it, so that a beam matters.

    Every weight is random or trained: none is left at 0 or 1, where it could be forgotten.
    """
    torch.manual_seed(1)
    model = build(config, (tokenizer.source_size, tokenizer.target_size)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter), alpha=0.1)
        # No model that has learned from text would choose them; only our search forbids them.
        model.output.bias[[PAD, UNK, BOS]] = -30
    source = pad([[*tokenizer.encode(text, "source"), EOS] for text, _ in KNOWN])
    target = pad([[BOS, *tokenizer.encode(text, "target"), EOS] for _, text in KNOWN])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(40):
        logits = model(source, target[:, :-1]).flatten(0, 1)
        F.cross_entropy(logits, target[:, 1:].flatten(), ignore_index=PAD).backward()
        optimizer.step()
        optimizer.zero_grad()
    model.requires_grad_(False)
    for parameter in model.decoder.norm.parameters():
        parameter.mul_(0.35)
    return model


def shape(**settings: object) -> ModelConfig:
    return small(**{"d_model": 32, "d_ffn": 64, **settings})


def opened(folder: Path, compute: str = "float32") -> Any:
    return ctranslate2.Translator(
        str(folder), device="cpu", compute_type=compute, inter_threads=1, intra_threads=1
    )


@pytest.fixture(scope="module", params=SYSTEMS)
def twins(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Twins:
    settings, tokenizer_config = request.param
    tokenizer = tokenizer_of(tokenizer_config)
    model = trained_model(shape(**settings), tokenizer)
    folder = tmp_path_factory.mktemp("exported")  # empty, which is allowed
    export_ctranslate2(model, tokenizer, folder)
    return Twins(model, tokenizer, opened(folder))


@pytest.fixture
def tokenizer() -> Tokenizer:
    return tokenizer_of(JOINT)


def untrained(tokenizer: Tokenizer, **settings: object) -> Transformer:
    return build(shape(**settings), (tokenizer.source_size, tokenizer.target_size)).eval()


def forced(model: Transformer, tokenizer: Tokenizer, source: str, target: str) -> list[float]:
    """Our log-probability of every piece of the target and of its end."""
    ids = tokenizer.encode(target, "target")
    source_ids = torch.tensor([[*tokenizer.encode(source, "source"), EOS]])
    with torch.inference_mode():
        log_p = model(source_ids, torch.tensor([[BOS, *ids]])).log_softmax(-1)[0]
    chosen: list[float] = log_p.gather(1, torch.tensor([[*ids, EOS]]).T)[:, 0].tolist()
    return chosen


def assert_scores_agree(twins: Twins, sentences: list[tuple[str, str]], tolerance: float) -> None:
    sources = [twins.tokens(source, "source") for source, _ in sentences]
    targets = [twins.tokens(target, "target") for _, target in sentences]
    scored = twins.engine.score_batch(sources, targets, max_input_length=0)
    for (source, target), theirs in zip(sentences, scored, strict=True):
        ours = forced(twins.model, twins.tokenizer, source, target)
        assert theirs.log_probs == pytest.approx(ours, abs=tolerance)


def test_forced_decoding_gives_every_word_the_same_probability(twins: Twins) -> None:
    assert_scores_agree(twins, KNOWN + UNKNOWN, 1e-4)


def test_long_sentences_have_the_same_probabilities_too(twins: Twins) -> None:
    source, target = (" ".join(side) for side in zip(*UNKNOWN, strict=True))
    assert len(twins.tokens(source * 4, "source")) > 500  # where CTranslate2's own table ends
    assert_scores_agree(twins, [(source * 4, target), (source, target * 4)], 1e-3)


@pytest.mark.parametrize("beam", [1, 4])
def test_beam_search_finds_the_same_translations_with_the_same_scores(
    twins: Twins, beam: int
) -> None:
    lines = [*(source for source, _ in KNOWN), ""]
    translations = Translator(twins.model, twins.tokenizer).translate(
        lines, beam=beam, length_penalty=0.0
    )
    found = twins.engine.translate_batch(
        [twins.tokens(line, "source") for line in lines],
        beam_size=beam,
        length_penalty=0,
        min_decoding_length=0,
        return_scores=True,
    )
    assert [each.hypotheses[0] for each in found] == [each.tokens for each in translations]
    pieces = twins.tokenizer.pieces(range(twins.tokenizer.target_size), "target")
    ids = [[pieces.index(token) for token in each.hypotheses[0]] for each in found]
    texts = [twins.tokenizer.decode(each, "target") for each in ids]
    assert texts == [each.text for each in translations]
    expected = [each.score for each in translations]
    assert [each.scores[0] for each in found] == pytest.approx(expected, abs=1e-3)
    assert len({each.text for each in translations}) > 10


def test_the_beam_matters_in_these_tests(tokenizer: Tokenizer) -> None:
    translator = Translator(trained_model(shape(), tokenizer), tokenizer)
    lines = [source for source, _ in KNOWN]
    greedy, best = (translator.translate(lines, beam=beam, length_penalty=0.0) for beam in (1, 4))
    assert sum(ours.text != other.text for ours, other in zip(greedy, best, strict=True)) > 3


def test_a_sentence_beyond_the_table_of_positions_is_an_error_not_a_cut(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    export_ctranslate2(untrained(tokenizer), tokenizer, tmp_path / "exported")
    engine = opened(tmp_path / "exported")
    with pytest.raises(RuntimeError, match=f"positions >= {LONGEST}"):
        engine.score_batch([["▁"] * LONGEST], [["▁"]], max_input_length=0)


@pytest.mark.parametrize(
    ("quantization", "share", "tolerance"), [("int8", 0.4, 0.5), ("int16", 0.6, 0.1)]
)
def test_a_quantized_model_is_smaller_and_near_and_the_original_stays_as_it_was(
    tokenizer: Tokenizer, tmp_path: Path, quantization: str, share: float, tolerance: float
) -> None:
    model = trained_model(shape(), tokenizer)
    before = {name: value.clone() for name, value in model.named_parameters()}
    whole, quantized = tmp_path / "whole", tmp_path / "small"
    export_ctranslate2(model, tokenizer, whole)
    export_ctranslate2(model, tokenizer, quantized, quantization)
    for name, value in model.named_parameters():
        assert torch.equal(value, before[name]), name
    positions = LONGEST * 32 * 4  # bytes that are not quantized
    sizes = [(folder / "model.bin").stat().st_size - positions for folder in (quantized, whole)]
    assert sizes[0] < share * sizes[1]
    # What the weights have lost: how exactly a machine computes with them is CTranslate2's affair.
    engine = opened(quantized, "float32")
    assert_scores_agree(Twins(model, tokenizer, engine), KNOWN, tolerance)


def test_tied_weights_are_stored_once(tokenizer: Tokenizer, tmp_path: Path) -> None:
    sizes = []
    for number, settings in enumerate(({"share_embeddings": True}, {"tie_output": False})):
        model = untrained(tokenizer, **settings)
        export_ctranslate2(model, tokenizer, tmp_path / str(number))
        sizes.append((tmp_path / str(number) / "model.bin").stat().st_size)
    assert sizes[1] - sizes[0] == pytest.approx(2 * 600 * 32 * 4, rel=0.02)


def test_the_folder_is_complete_by_itself(tokenizer: Tokenizer, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "exported"
    export_ctranslate2(untrained(tokenizer), tokenizer, folder)
    copy = load_tokenizer(folder / "tokenizer")
    line = KNOWN[0][0]
    assert copy.encode(line, "source") == tokenizer.encode(line, "source")
    vocabulary = json.loads((folder / "shared_vocabulary.json").read_text())
    assert vocabulary == copy.pieces(range(copy.source_size), "source")
    assert list(folder.parent.iterdir()) == [folder]


@pytest.mark.parametrize("settings", [{"units": 3}, {"decoder": {"units": 3}}])
def test_several_units_are_refused_with_the_reason(
    tokenizer: Tokenizer, tmp_path: Path, settings: dict[str, object]
) -> None:
    model = untrained(tokenizer, **settings)
    stack = next(iter(settings)) if "decoder" in settings else "encoder"
    with pytest.raises(MuteError, match=f"the 3 units of this model's {stack} layers") as refusal:
        export_ctranslate2(model, tokenizer, tmp_path / "exported")
    assert "a softmax and a nonlinearity of its own" in str(refusal.value)
    assert "use `mute translate --compute int8` instead" in str(refusal.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_another_kind_of_unit_is_refused(tokenizer: Tokenizer, tmp_path: Path, stack: str) -> None:
    kind = {"unit": "convolution"}
    model = untrained(tokenizer, **(kind if stack == "encoder" else {"decoder": kind}))
    with pytest.raises(MuteError, match=f"this model's {stack} is made of 'convolution' units"):
        export_ctranslate2(model, tokenizer, tmp_path / "exported")


def test_a_folder_in_use_is_left_alone(tokenizer: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    for folder in (tmp_path, tmp_path / "mine"):
        with pytest.raises(MuteError, match=f"{folder}: is there already; name a new"):
            export_ctranslate2(untrained(tokenizer), tokenizer, folder)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["precious"]


def test_a_folder_that_cannot_be_written_is_named(tokenizer: Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "exported"
    with pytest.raises(MuteError, match=f"{folder}: cannot be written"):
        export_ctranslate2(untrained(tokenizer), tokenizer, folder)


def test_an_export_that_fails_leaves_nothing(
    tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Tokenizer, folder: Path) -> None:
        folder.mkdir(parents=True)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(tokenizer), "save", full)
    with pytest.raises(MuteError, match=r"cannot be written \(No space left on device\)"):
        export_ctranslate2(untrained(tokenizer), tokenizer, tmp_path / "exported")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["<pad>", "<unk>", "<s>", "</s>", "a", "a"], "source vocabulary has 'a' more than once"),
        (["<s>", "</s>", "<pad>", "<unk>", "a", "b"], "source vocabulary starts with"),
    ],
)
def test_a_vocabulary_that_does_not_name_its_ids_is_refused(
    tokenizer: Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    names: list[str],
    message: str,
) -> None:
    monkeypatch.setattr(type(tokenizer), "pieces", lambda *_: names)
    with pytest.raises(MuteError, match=message):
        export_ctranslate2(untrained(tokenizer), tokenizer, tmp_path / "exported")


def test_an_unknown_quantization_is_refused(tokenizer: Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(MuteError, match="quantization int4: should be one of int8,"):
        export_ctranslate2(untrained(tokenizer), tokenizer, tmp_path / "exported", "int4")


def test_without_the_package_it_says_how_to_get_it(
    tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2.specs", None)
    with pytest.raises(MuteError, match=r"constraints\.txt -e '\.\[export\]'"):
        export_ctranslate2(untrained(tokenizer), tokenizer, tmp_path / "exported")


@pytest.fixture
def model_folder(tokenizer: Tokenizer, tmp_path: Path) -> Path:
    model = untrained(tokenizer)
    weights = {name: value.detach() for name, value in model.named_parameters()}
    save_model(tmp_path / "model", model.config, weights, tokenizer, max_length=256)
    return tmp_path / "model"


def test_the_command_exports_a_model_folder(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "exported"
    options = ("--to", str(folder), "--format", "ctranslate2", "--quantization", "int8")
    assert run("export", str(model_folder), *options) == 0
    assert capsys.readouterr().out == f"{folder}\n"
    assert opened(folder, "int8").translate_batch([["▁"]])[0].hypotheses


def test_the_command_knows_one_format_only(
    model_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("export", str(model_folder), "--to", str(tmp_path / "x"), "--format", "onnx") == 2
    assert capsys.readouterr().err == "mute: --format onnx: ctranslate2 is the only one there is\n"
