"""What BLEU is made of, sentence by sentence: enough to score and compare without the sentences."""

import base64
import lzma
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mute.evaluate.score import Tokenization, bleu_metric, check_lines

Counts = NDArray[np.int64]
"""(N, 10) of N sentences, or (10,), their sum: the words of the translation and of the nearest
reference; how many of its 1- to 4-grams are in a reference; how many it has."""
_STORED = np.dtype("<i4")


def count_sentences(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    tokenize: Tokenization = "13a",
    lowercase: bool = False,
) -> tuple[Counts, str]:
    """The counts of every sentence, and the signature of the BLEU that they are for.

    Args:
        hypotheses: the translations, line by line
        references: one or more whole reference translations, each as many lines
        tokenize: see `bleu_metric`
        lowercase: ignore case

    Raises:
        MuteError: as `check_lines`.
    """
    check_lines(hypotheses, references)
    metric = bleu_metric(tokenize, lowercase=lowercase)
    texts = [list(each) for each in references]
    counts = np.array(metric._extract_corpus_statistics(list(hypotheses), texts))
    return counts, str(metric.get_signature())


def bleu_of(sums: Counts) -> float:
    """BLEU, from 0 to 100, of the summed counts (10,) of some sentences."""
    from sacrebleu.metrics.bleu import BLEU

    words, nearest, *grams = sums.tolist()
    score = BLEU.compute_bleu(grams[:4], grams[4:], words, nearest, smooth_method="exp")
    return float(score.score)


def pack(counts: Counts) -> str:
    """Counts as a short text."""
    return base64.b64encode(lzma.compress(counts.astype(_STORED).tobytes())).decode()


def unpack(text: str) -> Counts:
    """What `pack` made of them, (N, 10)."""
    stored = np.frombuffer(lzma.decompress(base64.b64decode(text)), _STORED)
    return stored.reshape(-1, 10).astype(np.int64)
