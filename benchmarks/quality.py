"""What 8-bit arithmetic and a shortlist cost in BLEU, on Multi30k.

    mute shortlist runs/multi30k-mute configs/multi30k/mute.yaml
    python benchmarks/quality.py --model runs/multi30k-mute

translates the development and test sets (in MUTE_DATA) with beam 4 in every way there is, and
compares each with float32 by paired bootstrap. Writes results/bench/quality.json.
"""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from outcome import mistakes_told, save

import mute
from mute.data.lines import read_text
from mute.data.places import locate
from mute.evaluate.significance import compare

SETS = ("val", "test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")
WAYS: dict[str, dict[str, Any]] = {
    "int8": {"compute": "int8"},
    "shortlist": {"shortlist": True},
    "int8 + shortlist": {"compute": "int8", "shortlist": True},
}


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    model = parser.parse_args().model
    measured: dict[str, Any] = {}
    for name in SETS:
        text, reference = (
            list(read_text(locate(f"multi30k/tok/{name}.lc.norm.tok.{language}.gz")))
            for language in ("en", "de")
        )
        exact = _translations(model, text)
        for way, options in WAYS.items():
            found = _translations(model, text, **options)
            comparison = compare(exact, found, [reference], tokenize="none")
            same = sum(map(str.__eq__, exact, found)) / len(text)
            measured.setdefault(way, {})[name] = {**asdict(comparison), "identical": same}
            print(f"{name}, {way}: {comparison.verdict}", flush=True)
    save("quality", {"model": model.name, "baseline": "float32", "measured": measured})


def _translations(model: Path, text: list[str], **options: Any) -> list[str]:
    return [each.text for each in mute.load(model, **options).translate(text)]


if __name__ == "__main__":
    with mistakes_told():
        main()
