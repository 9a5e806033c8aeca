"""A small experiment on the embedded corpus, as files a user would have."""

from pathlib import Path

import pytest
import yaml

from mute.config import ModelConfig, TokenizerConfig
from mute.configfile import load_config
from mute.data.prepare import prepare
from mute.data.prepared import write_sentences
from mute.data.tokenizer import learn_tokenizer
from mute.data.toy import SPLITS, pairs
from mute.model.folder import save_model
from mute.model.transformer import build
from tests.integration.command import run


@pytest.fixture(scope="session")
def experiment_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A config whose data is prepared; each test chooses a run folder of its own."""
    folder = tmp_path_factory.mktemp("experiment")
    for split in SPLITS:
        english, german = zip(*pairs(20 if split != "train" else 300, split=split), strict=True)
        write_sentences(english, folder / f"{split}.en")
        write_sentences(german, folder / f"{split}.de")
    text = {
        split: {"source": f"{folder}/{split}.en", "target": f"{folder}/{split}.de"}
        for split in SPLITS
    }
    settings = {
        "model": {
            "encoder_layers": 2,
            "decoder_layers": 1,
            "d_model": 16,
            "d_ffn": 32,
            "heads": 2,
            "units": 3,
            "bias": ["identity", "swap", "mask"],
            "sequential": True,
        },
        "data": {
            "source": "en",
            "target": "de",
            "prepared": f"{folder}/prepared",
            "train": [text["train"]],
            "dev": text["dev"],
            "test": {"held out": text["test"]},
            "tokenizer": {"size": 500},
        },
        "train": {
            "run": f"{folder}/run",
            "steps": 12,
            "batch_tokens": 400,
            "learning_rate": 0.3,
            "warmup": 4,
            "validate_every": 6,
            "save_every": 3,
            "beam": 1,
        },
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(settings))
    data = load_config(path).data
    assert data is not None
    prepare(data, processes=1)
    return path


@pytest.fixture(scope="session")
def model(experiment_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that has learned next to nothing."""
    folder = tmp_path_factory.mktemp("run")
    settings = [f"train.run={folder}", "train.steps=3", "train.validate_every=3"]
    changes = [part for each in settings for part in ("--set", each)]
    assert run("train", str(experiment_file), *changes) == 0
    return folder / "model"


@pytest.fixture(scope="session")
def tokenised_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, not trained, whose vocabulary comes from tokenised, lower-cased text."""
    settings = TokenizerConfig(kind="moses-bpe", size=20, pretokenized=True)
    text = [("a dog runs .", "ein hund rennt .")] * 3
    tokenizer = learn_tokenizer(text, settings, ("en", "de"))
    config = ModelConfig(encoder_layers=1, decoder_layers=1, d_model=8, d_ffn=8, heads=1)
    network = build(config, tokenizer.source_size)
    weights = {name: value.detach() for name, value in network.named_parameters()}
    folder = tmp_path_factory.mktemp("tokenised")
    save_model(folder, config, weights, tokenizer, max_length=20)
    return folder
