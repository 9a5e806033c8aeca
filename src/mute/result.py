"""What a finished run leaves for tables and figures: a small JSON, `result.json`."""

import json
import subprocess
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mute import __version__
from mute.config import Config, DataConfig, ParallelText
from mute.data.corpus import read_strictly
from mute.evaluate.score import Tokenization, bleu
from mute.train.checkpoint import TrainState
from mute.translate.translator import Translator, load


def write_result(config: Config, data: DataConfig, run: Path, state: TrainState) -> Path:
    """Score the best model on the config's test sets, and write down all that is known of it."""
    translator = load(run)
    assert config.train is not None, "a run was trained"
    weights = translator.models[0].parameters()
    options = (config.train.beam, config.train.length_penalty)
    result = {
        "config": config.model_dump(mode="json"),
        "version": __version__,
        "commit": _commit(),
        "parameters": sum(each.numel() for each in weights if each.requires_grad),
        "steps": state.step,
        "refused_steps": state.bad_steps,
        "best": {"step": state.best_step, "dev_bleu": state.best_score},
        "tests": {
            name: _score(translator, text, data, options) for name, text in data.test.items()
        },
        "curve": _curve(run / "log.jsonl"),
    }
    path = run / "result.json"
    draft = path.with_suffix(".writing")
    draft.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)
    return path


def tokenization_of(data: DataConfig) -> Tokenization:
    """How sacrebleu is to cut the target's words."""
    if data.tokenizer.pretokenized:
        return "none"
    return "zh" if data.target == "zh" else "13a"


def _score(
    translator: Translator, text: ParallelText, data: DataConfig, options: tuple[int, float]
) -> dict[str, Any]:
    pairs = list(read_strictly(text))
    translations = translator.translate([pair.source for pair in pairs], *options)
    hypotheses = [translation.text for translation in translations]
    score = bleu(
        hypotheses,
        [[pair.target for pair in pairs]],
        tokenize=tokenization_of(data),
        lowercase=data.tokenizer.lowercase,
    )
    digest = blake2b("\n".join(hypotheses).encode(), digest_size=8).hexdigest()
    return {"bleu": score.value, "signature": score.signature, "hypotheses": digest}


def _curve(log: Path) -> list[dict[str, Any]]:
    """The validations of a run, in order."""
    records = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    kept = ("step", "loss", "bleu")
    return [
        {key: record[key] for key in kept} for record in records if record["kind"] == "validation"
    ]


def _commit() -> str | None:
    """The commit of the source tree, if mute runs from one."""
    command = ["git", "describe", "--always", "--dirty"]
    try:
        asked = subprocess.run(  # noqa: S603 (our own words)
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return asked.stdout.strip()
