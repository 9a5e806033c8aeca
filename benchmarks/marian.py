"""Hugging Face's Marian with fresh weights, as a process that answers questions.

It runs in an environment of its own; `huggingface.py` starts it and asks. Every line on standard
input is a JSON object, and so is the line it answers. The first has the model's settings and the
number of threads; the answer is its versions. All others have batches of source ids, and the
answer is what `translate` returns.
"""

# mypy: disable-error-code="import-not-found"

import json
import sys
import time
from typing import Any

import torch
import transformers

from mute.runtime import keep_freed_memory


@torch.inference_mode()
def translate(model: Any, batches: list[list[list[int]]], beam: int, steps: int) -> dict[str, Any]:
    """The seconds it took, and the tokens chosen, the beginning not among them."""
    outputs: list[list[int]] = []
    start = time.perf_counter()
    for batch in batches:
        source = torch.tensor(batch)
        found = model.generate(
            input_ids=source,
            attention_mask=torch.ones_like(source),
            num_beams=beam,
            do_sample=False,
            min_new_tokens=steps,
            max_new_tokens=steps,
        )
        outputs += found[:, 1:].tolist()
    return {"seconds": time.perf_counter() - start, "outputs": outputs}


def main() -> None:
    """Answer until there are no more questions."""
    keep_freed_memory()  # as for the others
    settings = json.loads(sys.stdin.readline())
    torch.set_num_threads(settings["threads"])
    torch.manual_seed(1)
    model = (
        transformers.MarianMTModel(transformers.MarianConfig(**settings["config"])).float().eval()
    )
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    print(json.dumps(versions), flush=True)
    for line in sys.stdin:
        print(json.dumps(translate(model, **json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
