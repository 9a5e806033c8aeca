"""Training speed side by side with JoeyNMT 2.3, in one run, on the same data.

    python benchmarks/train.py

Needs configs/multi30k prepared. Both see the same pieces of Multi30k, the same shape (4 + 4 layers,
width 128, feed-forward 256, 4 heads, dropout 0.3, tied and shared embeddings), the same token
budget, Adam and label smoothing; JoeyNMT has absolute positions only. The peer gets an environment
of its own, made here once. Speeds are target tokens per second after a warm-up, padding not
counted. Writes results/bench/train.json.
"""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from outcome import ROOT, save

from mute.configfile import load_config
from mute.data.prepared import load_prepared
from mute.data.tokenizer import SIDES
from mute.data.vocabulary import SPECIALS

CONFIGS = ROOT / "configs" / "multi30k"
SYSTEMS = {"one unit": "relative", "4 units + bias + seq": "seq"}
JOEY = ["importlib_metadata", "matplotlib", "numpy", "packaging", "pandas", "pyyaml", "sacrebleu"]
JOEY += ["sacremoses", "seaborn", "sentencepiece", "subword-nmt", "tensorboard", "datasets"]


def our_speed(system: str, tokens: int, steps: int, folder: Path) -> float:
    """`mute train` for some steps; the median over its records but the first."""
    settings = [f"train.run={folder}/{system}", f"train.batch_tokens={tokens}"]
    settings += [f"train.steps={steps}", "train.validate_every=100000", "train.save_every=100000"]
    command = [sys.executable, "-m", "mute", "train", str(CONFIGS / f"{system}.yaml")]
    for setting in settings:
        command += ["--set", setting]
    # The last step validates whatever is asked: stop before it, as a batch system would.
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    speeds: list[float] = []
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.match(r"train (\d+): .*tokens_per_second ([\d.e+]+)", line):
            if int(found[1]) > 1:
                speeds.append(float(found[2]))
            if len(speeds) == 4:
                process.kill()
    process.wait()
    return statistics.median(speeds[1:])


def joey_environment() -> Path:
    """A virtual environment with JoeyNMT, without its outdated pins."""
    home = ROOT / "benchmarks" / ".joeynmt"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "torch==2.13.0", *JOEY], check=True)
        subprocess.run([*pip, "--no-deps", "joeynmt==2.3.0"], check=True)
        (home / "ready").touch()
    return python


def write_joey_data(folder: Path) -> None:
    """The prepared pieces as words, and their vocabulary."""
    data = load_config(CONFIGS / "seq.yaml").data
    assert data is not None
    prepared = load_prepared(data)
    tokenizer = prepared.tokenizer
    vocabulary = tokenizer.pieces(range(tokenizer.source_size), "source")
    words = [piece for piece in vocabulary if piece not in SPECIALS]
    (folder / "vocabulary.txt").write_text("\n".join(words) + "\n")
    for split, pairs in (("train", prepared.train), ("dev", prepared.dev)):
        for number, side in enumerate(SIDES):
            with (folder / f"{split}.{side}").open("w") as file:
                for index in range(len(pairs)):
                    pieces = tokenizer.pieces(pairs[index][number].tolist(), side)
                    file.write(" ".join(pieces) + "\n")


def joey_config(folder: Path, tokens: int, steps: int) -> dict[str, object]:
    """The same experiment in JoeyNMT's words."""

    def side(language: str) -> dict[str, object]:
        vocabulary = f"{folder}/vocabulary.txt"
        return {"lang": language, "level": "word", "max_length": 200, "voc_file": vocabulary}

    def stack() -> dict[str, object]:
        return {
            "type": "transformer",
            "num_layers": 4,
            "num_heads": 4,
            "hidden_size": 128,
            "ff_size": 256,
            "dropout": 0.3,
            "layer_norm": "pre",
            "embeddings": {"embedding_dim": 128, "scale": True},
        }

    return {
        "name": "speed",
        "joeynmt_version": "2.3.0",
        "model_dir": f"{folder}/model",
        "use_cuda": False,
        "fp16": False,
        "random_seed": 1,
        "data": {
            "train": f"{folder}/train",
            "dev": f"{folder}/dev",
            "dataset_type": "plain",
            "src": side("source"),
            "trg": side("target"),
        },
        "testing": {"beam_size": 1},
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "label_smoothing": 0.1,
            "learning_rate": 0.005,
            "learning_rate_warmup": 1000,
            "scheduling": "warmupinversesquareroot",
            "clip_grad_norm": 5.0,
            "normalization": "tokens",
            "batch_type": "token",
            "batch_size": tokens,
            "updates": steps,
            "epochs": 100,
            "validation_freq": 1_000_000,
            "logging_freq": 10,
            "overwrite": True,
        },
        "model": {
            "initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": stack(),
            "decoder": stack(),
        },
    }


def joey_speed(tokens: int, steps: int, folder: Path) -> float:
    """`joeynmt train` for some steps; the median over its records but the first."""
    write_joey_data(folder)
    config = folder / "joey.yaml"
    config.write_text(yaml.safe_dump(joey_config(folder, tokens, steps)))
    command = [str(joey_environment()), "-m", "joeynmt", "train", str(config), "--skip-test"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    speeds = [float(speed) for speed in re.findall(r"Tokens per Sec:\s+(\d+)", told)]
    if len(speeds) < 3:
        raise SystemExit(f"JoeyNMT did not train:\n{told[-2000:]}")
    return statistics.median(speeds[1:])


def main() -> None:
    """Measure everything once, in one run, and keep the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=1, help="how often each is measured in turn")
    options = parser.parse_args()
    measured: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as name:
            speed = joey_speed(options.tokens, 60, Path(name))
            measured.setdefault("JoeyNMT 2.3, one unit", []).append(speed)
            for title, system in SYSTEMS.items():
                speed = our_speed(system, options.tokens, 10_000, Path(name))
                measured.setdefault(f"mute, {title}", []).append(speed)
        print(measured, flush=True)
    speeds = {name: statistics.median(values) for name, values in measured.items()}
    one, full = speeds["mute, one unit"], speeds["mute, 4 units + bias + seq"]
    ratios = {
        "mute one unit / JoeyNMT": round(one / speeds["JoeyNMT 2.3, one unit"], 2),
        "mute 4 units + bias + seq / mute one unit": round(full / one, 2),
    }
    print(ratios)
    unit = "target tokens per second"
    save("train", {"unit": unit, "measured": measured, "ratios": ratios})


if __name__ == "__main__":
    main()
