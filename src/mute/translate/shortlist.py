"""A vocabulary shortlist: the few target pieces that a translation of some sentences may need.

The output layer is a third of a small model's work, and nearly all of it is about words that
have nothing to do with the source. Which have is learned from the training text: those that stand
opposite a piece of the source most often, besides those that are frequent everywhere.

Partners are ranked by how often they were seen, which covers most for its size once the frequent
pieces are out of the way. Dice's coefficient prefers rare partners, and those of different source
pieces differ: on Multi30k its shortlists are up to a third larger for the same coverage.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from torch import Tensor

from mute.data.shards import Pairs
from mute.data.tokenizer import Tokenizer
from mute.data.vocabulary import BYTE, EOS, PAD, SPECIALS
from mute.errors import MuteError, refusals_told
from mute.files import replacing
from mute.model.folder import model_folder
from mute.model.tensors import save_tensors

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FORMAT = "1"
FILE = "shortlist.safetensors"
PER_WORD = 32
FREQUENT = 2048
MOST_PAIRS = 500_000
"""Of a larger corpus, as many pairs are read, evenly spread: more change little."""
BATCH = 30
"""Sentences of a typical batch, for which `measure` tells the size."""

_AT_ONCE = 512
"""Source pieces whose partners are counted together; a count for every target piece is held."""


class Shortlist:
    """For every source piece, the target pieces it most often stands beside; and the frequent ones.

    Args:
        partners: (source pieces, n) target ids, filled up with PAD
        common: (m,) target ids that any translation may use
        target_size: how many target ids there are
    """

    def __init__(self, partners: Tensor, common: Tensor, target_size: int) -> None:
        self.partners, self.common, self.target_size = partners, common, target_size
        self._always = torch.zeros(target_size, dtype=torch.bool)
        self._always[common.long()] = True
        self._always[: len(SPECIALS)] = True  # PAD too, so that filling up does no harm

    def allowed(self, source: Tensor) -> Tensor:
        """What the translation of each sentence may use, whatever stands beside it in the batch.

        Args:
            source: (B, S) ids

        Returns:
            (B, target ids), true for those that may be used, the special ones among them
        """
        allowed = self._always.repeat(len(source), 1)
        partners = self.partners[source.cpu()].flatten(1).long()
        return allowed.scatter_(1, partners, value=True).to(source.device)

    def save(self, folder: Path) -> None:
        """Put it into a model folder, in one move.

        Raises:
            MuteError: the disk is full or refuses.
        """
        path, metadata = folder / FILE, {"format": FORMAT, "target_size": str(self.target_size)}
        remedy = "mend that and run the same command again"
        with refusals_told(f"{path}: cannot be written", remedy), replacing(path) as draft:
            save_tensors({"partners": self.partners, "common": self.common}, draft, metadata)


def load_shortlist(folder: Path | str, source_size: int, target_size: int) -> Shortlist:
    """Read what `Shortlist.save` wrote.

    Args:
        folder: of a model, or of the run it is in
        source_size: of the model's vocabulary
        target_size: of the model's vocabulary

    Raises:
        MuteError: there is none, it is damaged, or of other vocabularies.
    """
    path = model_folder(folder) / FILE
    remedy = "`mute shortlist MODEL CONFIG` makes one"
    if not path.is_file():
        raise MuteError(f"{path}: there is no shortlist; {remedy}")
    try:
        shortlist = _load(path)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise MuteError(
            f"{path}: damaged, or of another version of mute ({error}); {remedy}"
        ) from None
    sizes = len(shortlist.partners), shortlist.target_size
    if sizes != (source_size, target_size):
        raise MuteError(
            f"{path}: made for vocabularies of {sizes[0]:,} and {sizes[1]:,} pieces, not of "
            f"{source_size:,} and {target_size:,}; {remedy}"
        )
    return shortlist


def _load(path: Path) -> Shortlist:
    with safe_open(path, "pt") as file:
        metadata: dict[str, str] = file.metadata()
        if (version := metadata["format"]) != FORMAT:
            raise ValueError(f"format {version}, not {FORMAT}")
        partners, common = file.get_tensor("partners"), file.get_tensor("common")
    target_size = int(metadata["target_size"])
    ids = torch.cat([partners.flatten(), common])
    if ids.min() < 0 or ids.max() >= target_size:
        raise ValueError("an id that is none")
    return Shortlist(partners, common, target_size)


def learn_shortlist(
    pairs: Pairs,
    source_size: int,
    target_size: int,
    per_word: int = PER_WORD,
    frequent: int = FREQUENT,
    always: Iterable[int] = (),
    namesakes: Mapping[int, int] | None = None,
) -> Shortlist:
    """Find out which target pieces go with which source pieces.

    Args:
        pairs: the training text
        source_size: how many source ids there are
        target_size: how many target ids there are
        per_word: how many partners each source piece has, apart from the frequent pieces
        frequent: how many target pieces are in every shortlist, the most frequent ones
        always: further ones
        namesakes: by source piece, one that is its partner without ever having been one
    """
    sources, targets = _read(pairs, source_size, target_size)
    by_frequency = np.argsort(-np.bincount(targets.indices, minlength=target_size), kind="stable")
    common, rare = np.split(by_frequency, [frequent])
    per_word = min(per_word, len(rare))
    partners = np.full((source_size, 1 + per_word), PAD, np.int32)
    for source, target in (namesakes or {}).items():
        partners[source, 0] = target
    candidates = targets[:, rare]
    by_source = sources.T.tocsr()
    for start in range(0, source_size, _AT_ONCE):
        together = (by_source[start : start + _AT_ONCE] @ candidates).tocsr()
        for source, best in enumerate(_best(together, per_word), start):
            partners[source, 1 : 1 + len(best)] = rare[best]
    kept = np.union1d(common, np.array(list(always), np.int64)).astype(np.int32)
    return Shortlist(torch.from_numpy(partners), torch.from_numpy(kept), target_size)


def make_shortlist(tokenizer: Tokenizer, pairs: Pairs, per_word: int, frequent: int) -> Shortlist:
    """Learn a shortlist with which names can be copied and unknown characters spelled in bytes.

    Args:
        tokenizer: what the pairs' ids are of
        pairs: the training text
        per_word: see `learn_shortlist`
        frequent: see `learn_shortlist`
    """
    sizes = tokenizer.source_size, tokenizer.target_size
    target_names = tokenizer.pieces(range(sizes[1]), "target")
    id_of = {name: each for each, name in enumerate(target_names)}
    source_names = enumerate(tokenizer.pieces(range(sizes[0]), "source"))
    return learn_shortlist(
        pairs,
        *sizes,
        per_word,
        frequent,
        always=[each for name, each in id_of.items() if BYTE.fullmatch(name)],
        namesakes={each: id_of[name] for each, name in source_names if name in id_of},
    )


class Measured(NamedTuple):
    """How good and how small a shortlist is."""

    coverage: float
    """The share of all target pieces that are in the shortlist of their own source sentence."""
    size: float
    """Of the shortlist of `BATCH` sentences, in the mean."""


def measure(shortlist: Shortlist, pairs: Pairs) -> Measured:
    """Try a shortlist on text that it was not learned from."""
    found = total = 0
    for index in range(len(pairs)):
        target = torch.tensor(pairs[index][1].tolist())
        found += int(shortlist.allowed(_source(pairs, [index]))[0, target].sum())
        total += len(target)
    batches = [range(len(pairs))[start : start + BATCH] for start in range(0, len(pairs), BATCH)]
    sizes = [int(shortlist.allowed(_source(pairs, batch)).sum()) for batch in batches]
    return Measured(found / total, float(np.mean(sizes)))


def _source(pairs: Pairs, indices: Iterable[int]) -> Tensor:
    """(1, S): the source ids of some pairs, one after the other."""
    return torch.tensor([[*(each for i in indices for each in pairs[i][0].tolist()), EOS]])


def _read(
    pairs: Pairs, source_size: int, target_size: int
) -> tuple["csr_array[np.int32]", "csr_array[np.int32]"]:
    """(pairs, source pieces) and (pairs, target pieces): 1 where a piece occurs."""
    count = min(len(pairs), MOST_PAIRS)
    read = [pairs[number * len(pairs) // count] for number in range(count)]
    return (
        _incidence([source for source, _ in read], source_size),
        _incidence([target for _, target in read], target_size),
    )


def _incidence(sentences: list[NDArray[np.integer]], size: int) -> "csr_array[np.int32]":
    from scipy.sparse import csr_array  # slow to import, and only needed to make a list

    ids = np.concatenate([np.empty(0, np.int32), *sentences]).astype(np.int32)
    ends = np.cumsum([0, *map(len, sentences)])
    matrix = csr_array((np.ones_like(ids), ids, ends), shape=(len(sentences), size))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _best(together: "csr_array[np.int32]", per_word: int) -> Iterable[NDArray[np.integer]]:
    """Of each row, the columns with the highest counts; of equal ones the earlier."""
    together.sort_indices()
    for start, end in zip(together.indptr, together.indptr[1:], strict=False):
        order = np.argsort(-together.data[start:end], kind="stable")[:per_word]
        yield together.indices[start:end][order]
