"""Hugging Face's Marian as a contender, in a process and an environment of its own."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from contenders import Batches, Run, Search
from outcome import ROOT
from peers import make_environment

from mute.config import ModelConfig
from mute.data.vocabulary import BOS, EOS, PAD
from mute.translate.engine import Compute

TRANSFORMERS = "5.22.2"


class HuggingFace:
    """Marian in the shape of a model of ours; translates sentences of one length.

    Its layers are post-norm: the weights are others, the work is the same.
    """

    name = "Hugging Face float32"
    compute: Compute = "float32"

    def __init__(
        self, process: "subprocess.Popen[str]", config: ModelConfig, vocabulary: int
    ) -> None:
        self._process = process
        shape = _marian(config, vocabulary)
        versions = self._ask({"threads": torch.get_num_threads(), "config": shape})
        wanted = {"torch": torch.__version__, "transformers": TRANSFORMERS}
        # Builds for CPUs and GPUs have the same number, and a different part behind it.
        if [each.partition("+")[0] for each in versions.values()] != [
            each.partition("+")[0] for each in wanted.values()
        ]:
            raise SystemExit(
                f"benchmarks/.huggingface has {versions}: delete it, and it will be made anew"
            )

    def run(self, batches: Batches, search: Search) -> Run:
        """See `Contender.run`."""
        assert search.steps is not None, "random weights would hardly end a sentence"
        sources = [[[*sentence, EOS] for sentence in batch] for batch in batches]
        answer = self._ask({"batches": sources, "beam": search.beam, "steps": search.steps})
        return Run(answer["seconds"], answer["outputs"])

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("Hugging Face's process has ended; what it said is above")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def hugging_face(config: ModelConfig, vocabulary: int) -> Iterator[HuggingFace]:
    """Marian, for as long as it is needed."""
    package = f"transformers=={TRANSFORMERS}"
    python = make_environment("huggingface", package, [package])
    with subprocess.Popen(
        [str(python), str(ROOT / "benchmarks" / "marian.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    ) as process:
        # It ends when nothing more can be asked: leaving closes its standard input.
        yield HuggingFace(process, config, vocabulary)


def _marian(config: ModelConfig, vocabulary: int) -> dict[str, Any]:
    """The shape in Hugging Face's words."""
    sizes: dict[str, Any] = {"vocab_size": vocabulary, "d_model": config.d_model}
    for stack, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        sizes[f"{stack}_layers"] = layers
        sizes[f"{stack}_ffn_dim"] = config.d_ffn
        sizes[f"{stack}_attention_heads"] = config.heads
    return {
        **sizes,
        "activation_function": "relu",
        "scale_embedding": True,
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
        "forced_eos_token_id": None,
    }
