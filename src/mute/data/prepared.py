"""The folder that `mute prepare` makes, opened for training."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from mute.config import DataConfig
from mute.data.manifest import Manifest, load_manifest, settings_of
from mute.data.scored import by_reference
from mute.data.shards import Pairs
from mute.data.tokenizer import Tokenizer, load_tokenizer, tokenizer_files
from mute.errors import MuteError

TOKENIZER, TRAIN, DEV = "tokenizer", "train", "dev"


@dataclass(frozen=True)
class Prepared:
    """A tokenizer and text in its ids."""

    tokenizer: Tokenizer
    train: Pairs
    dev: Pairs
    dev_source: list[str]
    """The source of the development text, as sentences."""
    dev_references: list[list[str]]
    """All references of the development text, each whole, to score against."""
    digest: str
    """Of all it was made from, and of the tokenizer: equal ones mean equal ids."""

    @property
    def longest_source(self) -> int:
        """In pieces: what is longer than all a model was trained on is better cut into parts."""
        return int(self.train.lengths[0].max())


def load_prepared(config: DataConfig) -> Prepared:
    """Open the folder that `prepare` made of the same config; quick, however large it is.

    Raises:
        MuteError: it is missing, damaged or made from other settings.
    """
    folder = Path(config.prepared)
    manifest = load_manifest(folder)
    if manifest is None:
        raise MuteError(f"{folder}: no prepared data; run 'mute prepare' with this config first")
    if changed := manifest.changed(settings_of(config)):
        raise MuteError(
            f"{folder}: prepared with another {' and '.join(changed)}; run 'mute prepare' again"
        )
    files = reference_files(folder, len(by_reference(config.dev)))
    dev = Pairs(folder / DEV)
    return Prepared(
        tokenizer=load_tokenizer(folder / TOKENIZER),
        train=Pairs(folder / TRAIN),
        dev=dev,
        dev_source=_read_sentences(folder / f"{DEV}.source", len(dev)),
        dev_references=[_read_sentences(file, len(dev)) for file in files],
        digest=_digest(manifest, folder / TOKENIZER),
    )


def vocabulary_sizes(config: DataConfig) -> tuple[tuple[int, int], bool]:
    """How many entries source and target have, and whether that is known.

    Before the data is prepared, the tokenizer's `size` has to stand for both.
    """
    try:
        tokenizer = load_prepared(config).tokenizer
    except MuteError:
        return (config.tokenizer.size, config.tokenizer.size), False
    return (tokenizer.source_size, tokenizer.target_size), True


def _digest(manifest: Manifest, tokenizer: Path) -> str:
    digest = blake2b(manifest.identity().encode(), digest_size=16)
    for file in tokenizer_files(tokenizer):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def reference_files(folder: Path, count: int) -> list[Path]:
    """Where a prepared folder has the references of its development text."""
    names = ["target", *(f"target.{number}" for number in range(1, count))]
    return [folder / f"{DEV}.{name}" for name in names]


def write_sentences(sentences: Iterable[str], path: Path) -> None:
    """Write one sentence a line."""
    path.write_bytes("".join(f"{sentence}\n" for sentence in sentences).encode())


def _read_sentences(path: Path, count: int) -> list[str]:
    # Not splitlines: a sentence may contain what Unicode calls a line separator.
    try:
        *sentences, rest = path.read_bytes().decode().split("\n")
    except OSError as error:
        raise MuteError(
            f"{path}: cannot be read ({error.strerror}); delete the folder and prepare it again"
        ) from None
    except UnicodeDecodeError as error:
        raise MuteError(
            f"{path}: damaged, not UTF-8 at byte {error.start}; delete the folder and prepare it "
            f"again"
        ) from None
    if rest or len(sentences) != count:
        raise MuteError(
            f"{path}: damaged, has {len(sentences):,} whole lines instead of {count:,}; delete the "
            f"folder and prepare it again"
        )
    return sentences
