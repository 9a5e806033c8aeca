"""JoeyNMT as a peer in training.

Its batches stop at the first sentence that reaches the budget, so they are a little larger than
ours, and it does not sort by length, so they hold more padding. Dropout is also on its attention
weights and inside its feed-forward networks, where ours has none.
"""

import statistics
from pathlib import Path
from typing import Any

import yaml
from peers import Peer, Speed, Trial, keeping_memory, make_environment, watch

_NEEDS = ["importlib_metadata", "matplotlib", "numpy", "packaging", "pandas", "pyyaml", "sacrebleu"]
_NEEDS += ["sacremoses", "seaborn", "sentencepiece", "subword-nmt", "tensorboard", "datasets"]
RECORD = r"Tokens per Sec:\s+(\d+)"
_RECORDS, _WARM_UP = 16, 10  # of 10 steps


def _environment() -> Path:
    return make_environment("joeynmt", "joeynmt==2.3.0", _NEEDS)


def _speed(python: Path, trial: Trial) -> Speed:
    config = trial.folder / "joeynmt.yaml"
    config.write_text(yaml.safe_dump(_config(trial)))
    command = [str(python), "-m", "joeynmt", "train", str(config), "--skip-test"]
    records = watch(command, RECORD, _RECORDS, trial.folder, keeping_memory())
    return Speed(statistics.median(float(each[1]) for each in records[_WARM_UP:]), None)


JOEYNMT = Peer("JoeyNMT 2.3, one unit", _environment, _speed)


def _config(trial: Trial) -> dict[str, Any]:
    """The experiment in JoeyNMT's words."""
    model = trial.model
    return {
        "name": "speed",
        "joeynmt_version": "2.3.0",
        "model_dir": f"{trial.folder}/joeynmt",
        "use_cuda": False,
        "fp16": False,
        "random_seed": 1,
        "data": {
            "train": f"{trial.folder}/train",
            "dev": f"{trial.folder}/dev",
            "dataset_type": "plain",
            "src": _side(trial, "source"),
            "trg": _side(trial, "target"),
        },
        "testing": {"beam_size": 1},
        "training": _training(trial),
        "model": {
            "initializer": "xavier_uniform",
            "tied_embeddings": model.share_embeddings,
            "tied_softmax": model.tie_output,
            "encoder": _stack(trial, model.encoder_layers),
            "decoder": _stack(trial, model.decoder_layers),
        },
    }


def _side(trial: Trial, language: str) -> dict[str, Any]:
    vocabulary = f"{trial.folder}/vocabulary.txt"
    return {"lang": language, "level": "word", "max_length": 200, "voc_file": vocabulary}


def _stack(trial: Trial, layers: int) -> dict[str, Any]:
    model = trial.model
    return {
        "type": "transformer",
        "num_layers": layers,
        "num_heads": model.heads,
        "hidden_size": model.d_model,
        "ff_size": model.d_ffn,
        "dropout": model.dropout,
        "layer_norm": "pre",
        "embeddings": {"embedding_dim": model.d_model, "scale": True},
    }


def _training(trial: Trial) -> dict[str, Any]:
    train = trial.train
    return {
        "optimizer": "adam",
        "adam_betas": list(train.betas),
        "label_smoothing": train.label_smoothing,
        "learning_rate": train.learning_rate,
        "learning_rate_warmup": train.warmup,
        "scheduling": "warmupinversesquareroot",
        "clip_grad_norm": train.clip,
        "normalization": "tokens",
        "batch_type": "token",
        "batch_size": trial.tokens,
        "updates": 1_000_000,
        "epochs": 100,
        "validation_freq": 1_000_000,
        "logging_freq": 10,
        "overwrite": True,
    }
