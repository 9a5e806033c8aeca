"""Eole as a peer in training.

Its budget is nearly ours: sentences times the longest of them, on the longer side, padding
included; but it counts no end on the source, and both start and end on the target. It leaves a
sentence out of a batch that already has its source. It sorts by the source's length, we by the
longer side's. Dropout is also inside its feed-forward networks, where ours has none.

What would only cost it time is off: the entropy of its attention, and processes for reading, which
would share the cores with training. All text is read and sorted before the first step.
"""

import statistics
from pathlib import Path
from typing import Any

import yaml
from peers import Peer, Speed, Trial, keeping_memory, make_environment, watch

_NEEDS = ["aiohttp", "fastapi", "huggingface_hub", "numpy", "pydantic", "pyonmttok", "pyyaml"]
_NEEDS += ["pillow", "requests", "rich", "sacrebleu", "safetensors", "sentencepiece", "six"]
_NEEDS += ["tokenizers", "uvicorn"]
RECORD = r"Step +\d+/.* bsz: *\d+/ *(\d+)/.* \d+/ *(\d+) tok/s"
"""Source/target/sentences per batch, then source/target tokens per second."""
_RECORDS, _WARM_UP = 16, 10  # of 10 steps


def _environment() -> Path:
    return make_environment("eole", "eole==0.6.4", _NEEDS)


def _speed(python: Path, trial: Trial) -> Speed:
    config = trial.folder / "eole.yaml"
    config.write_text(yaml.safe_dump(_config(trial)))
    command = [str(python.with_name("eole")), "train", "--config", str(config)]
    records = watch(command, RECORD, _RECORDS, trial.folder, keeping_memory())[_WARM_UP:]
    return Speed(
        statistics.median(float(each[2]) for each in records),
        statistics.mean(float(each[1]) for each in records),
    )


EOLE = Peer("Eole 0.6.4, one unit", _environment, _speed)


def _config(trial: Trial) -> dict[str, Any]:
    """The experiment in Eole's words."""
    text = {"path_src": f"{trial.folder}/train.source", "path_tgt": f"{trial.folder}/train.target"}
    return {
        "seed": 1,
        "report_every": 10,
        "share_vocab": True,
        "src_vocab": f"{trial.folder}/vocabulary.txt",
        "vocab_size_multiple": 1,
        "data": {"train": {**text, "transforms": []}},
        "model": _model(trial),
        "training": _training(trial),
    }


def _model(trial: Trial) -> dict[str, Any]:
    model = trial.model
    return {
        "architecture": "transformer",
        "encoder": {"layers": model.encoder_layers},
        "decoder": {"layers": model.decoder_layers},
        "hidden_size": model.d_model,
        "transformer_ff": model.d_ffn,
        "heads": model.heads,
        "add_qkvbias": True,
        "add_final_linear_bias": True,
        "add_ffnbias": True,
        "embeddings": {
            "word_vec_size": model.d_model,
            "position_encoding_type": "SinusoidalInterleaved",
        },
        "share_embeddings": model.share_embeddings,
        "share_decoder_embeddings": model.tie_output,
    }


def _training(trial: Trial) -> dict[str, Any]:
    train = trial.train
    beta1, beta2 = train.betas
    return {
        "model_path": f"{trial.folder}/eole",
        "world_size": 1,
        "gpu_ranks": [],
        "compute_dtype": "fp32",
        "train_steps": 1_000_000,
        "valid_steps": 1_000_000,
        "save_checkpoint_steps": 1_000_000,
        "param_init_method": "xavier_uniform",
        "optim": "adam",
        "adam_beta1": beta1,
        "adam_beta2": beta2,
        "decay_method": "noam",
        "warmup_steps": train.warmup,
        # Noam's factor that peaks where our schedule does.
        "learning_rate": train.learning_rate * (trial.model.d_model * train.warmup) ** 0.5,
        "max_grad_norm": train.clip,
        "label_smoothing": train.label_smoothing,
        "dropout": [trial.model.dropout],
        "attention_dropout": [trial.model.attention_dropout],
        "normalization": "tokens",
        "batch_type": "tokens",
        "batch_size": trial.tokens,
        "bucket_size": len(trial.prepared.train),
        "num_workers": 0,
        "log_attention_entropy": False,
    }
