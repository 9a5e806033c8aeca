"""What a benchmark runs on: the config's prepared data, or random sentences like it."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mute.config import Config, DataConfig, TrainConfig
from mute.data.batching import Batch, BatchStream, Indices, Lengths, Position
from mute.data.manifest import load_manifest
from mute.data.prepared import load_prepared
from mute.data.vocabulary import ASSUMED_SIZES, BOS, EOS, SPECIALS
from mute.errors import MuteError
from mute.experiment import batch_stream

MEAN_LENGTH, LONGEST = 25, 256
"""Of the random sentences, in pieces."""
_PAIRS = 20_000

Plan = list[tuple[Indices, Position]]
"""The batches of one optimizer step, each with the position behind it."""


@dataclass(frozen=True)
class Material:
    """Sentence pairs, and the batches that training makes of them."""

    prepared: bool
    """Whether these are the config's own sentences; else they are random."""
    sizes: tuple[int, int]
    """Of the source's and the target's vocabulary."""
    lengths: Lengths
    """Of all sentences, in the pieces they usually have."""
    stream: BatchStream
    device: torch.device

    @property
    def mean_lengths(self) -> tuple[int, int]:
        """Of source and target in pieces, rounded, ends not counted."""
        source, target = (max(1, round(float(each.mean()))) for each in self.lengths)
        return source, target

    @property
    def longest(self) -> int:
        """Of all sentences of both sides, the end counted."""
        return 1 + max(int(each.max()) for each in self.lengths)

    def first_steps(self, count: int, accumulate: int) -> list[Plan]:
        """What the first steps of a run are made of."""
        stream = self.stream.after(Position())
        return [list(islice(stream, accumulate)) for _ in range(count)]

    def batches(self, plan: Plan) -> list[Batch]:
        """The batches of a step, as a trainer makes them."""
        return [
            self.stream.load(indices, position.epoch).to(self.device) for indices, position in plan
        ]

    def random_source(self, sentences: int, length: int) -> Tensor:
        """(sentences, length + 1): random words, and the end."""
        return self._words(sentences, length, self.sizes[0])

    def full_batch(self, sentences: int, length: int) -> Batch:
        """A batch without padding, of random words, `length` positions on both sides."""
        target = self._words(sentences, length - 1, self.sizes[1])
        begin = torch.full_like(target[:, :1], BOS)
        return Batch(
            self._words(sentences, length - 1, self.sizes[0]),
            torch.cat([begin, target[:, :-1]], dim=1),
            target,
            np.arange(sentences, dtype=np.int32),
        )

    def _words(self, sentences: int, length: int, size: int) -> Tensor:
        words = torch.randint(len(SPECIALS), size, (sentences, length + 1), device=self.device)
        words[:, -1] = EOS
        return words


class RandomPairs:
    """Pairs of random words.

    Args:
        sizes: of the two vocabularies
        lengths: of the sentences
        seed: decides the words
    """

    def __init__(self, sizes: tuple[int, int], lengths: Lengths, seed: int) -> None:
        self._sizes, self._lengths, self._seed = sizes, lengths, seed

    def __len__(self) -> int:
        return len(self._lengths[0])

    def __getitem__(self, index: int) -> tuple[list[int], list[int]]:
        random = np.random.default_rng((self._seed, index))
        source, target = (
            random.integers(len(SPECIALS), size, lengths[index]).tolist()
            for size, lengths in zip(self._sizes, self._lengths, strict=True)
        )
        return source, target

    @property
    def lengths(self) -> Lengths:
        """How many words each source and each target has."""
        return self._lengths


def natural_lengths(longest: int, seed: int) -> Lengths:
    """Spread as those of real text are, and none longer than this."""
    random = np.random.default_rng(seed)
    source = random.gamma(3.0, MEAN_LENGTH / 3.0, _PAIRS)
    target = source * random.normal(1.0, 0.15, _PAIRS)
    return _whole(source, longest), _whole(target, longest)


def equal_lengths(length: int) -> Lengths:
    """All the same, so that nothing is padded."""
    lengths = np.full(_PAIRS, length, dtype=np.int32)
    return lengths, lengths


def _whole(lengths: NDArray[np.float64], longest: int) -> NDArray[np.int32]:
    return np.rint(lengths).clip(1, max(1, longest)).astype(np.int32)


def open_material(
    config: Config,
    training: TrainConfig,
    device: torch.device,
    sizes: tuple[int, int] | None = None,
) -> Material:
    """The config's prepared data; random sentences if there is none, or if sizes are given.

    Raises:
        MuteError: the data was prepared with other settings, or is damaged; or a vocabulary is
            too small.
    """
    data = config.data
    if sizes is None and data is not None and load_manifest(Path(data.prepared)) is not None:
        return prepared_material(data, training, device)
    longest = min(data.max_length if data else LONGEST, training.batch_tokens - 1)
    lengths = natural_lengths(longest, training.seed)
    return random_material(lengths, training, device, sizes or ASSUMED_SIZES)


def prepared_material(data: DataConfig, training: TrainConfig, device: torch.device) -> Material:
    """The config's prepared data.

    Raises:
        MuteError: it is missing, damaged or made from other settings.
    """
    prepared = load_prepared(data)
    return Material(
        prepared=True,
        sizes=(prepared.tokenizer.source_size, prepared.tokenizer.target_size),
        lengths=prepared.train.lengths,
        stream=batch_stream(prepared, data, training),
        device=device,
    )


def random_material(
    lengths: Lengths, training: TrainConfig, device: torch.device, sizes: tuple[int, int]
) -> Material:
    """Random sentences of these lengths.

    Raises:
        MuteError: a vocabulary is too small, or a batch for the longest sentence.
    """
    if min(sizes) <= len(SPECIALS):
        raise MuteError(
            f"--vocab-size {min(sizes)}: leaves no word beside the {len(SPECIALS)} special ones; "
            f"give more"
        )
    corpus = RandomPairs(sizes, lengths, training.seed)
    stream = BatchStream(corpus, training.batch_tokens, training.seed)
    return Material(False, sizes, lengths, stream, device)
