"""Tables of parameters: of one config, of the paper's systems, of all presets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mute.config import BIASES, PRESETS, ModelConfig
from mute.configfile import load_config
from mute.data.prepared import vocabulary_sizes
from mute.data.vocabulary import ASSUMED_SIZES
from mute.errors import MuteError
from mute.model.folder import load_model
from mute.model.parameters import parameter_count, parameters_by_part

if TYPE_CHECKING:
    from rich.table import Table

SYSTEMS: Mapping[str, Mapping[str, Any]] = {
    "Transformer": {"relative_positions": 0},
    "+ Relative": {},
    "MUTE": {"units": 4},
    "+ Bias": {"units": 4, "bias": BIASES},
    "+ Bias + Seq": {"units": 4, "bias": BIASES, "sequential": True},
}
"""The paper's systems: what they change in the Transformer with relative positions."""


@dataclass(frozen=True)
class ParameterTable:
    """Columns of counts by row name; `summed` if their sums mean something, `note` below them."""

    title: str
    columns: dict[str, dict[str, int]]
    summed: bool
    note: str = ""


def parameter_table(
    name: str, vocab_size: tuple[int, int] | None, overrides: Sequence[str]
) -> ParameterTable:
    """The table for a config file, a model, a preset's name, or, for '', of every preset.

    Args:
        name: of one of these; a preset goes before a folder of that name, which is ./base
        vocab_size: of source and target; None for what the config's data has, or else 32,000
        overrides: of a config file

    Raises:
        MuteError: it is none of these, or an option does not go with it.
    """
    if Path(name).suffix in {".yaml", ".yml"}:
        return _of_config(name, vocab_size, overrides)
    if overrides:
        raise MuteError("--set changes a config file; give one as the argument")
    if name and name not in PRESETS and Path(name).is_dir():
        if vocab_size is not None:
            raise MuteError(f"{name}: a model has its own vocabulary; leave --vocab-size out")
        return _of_model(name)
    sizes = vocab_size or ASSUMED_SIZES
    if name in PRESETS:
        columns = {
            system: parameters_by_part(_system(name, changes), sizes)
            for system, changes in SYSTEMS.items()
        }
        return ParameterTable(f"{name}, by part", columns, True, _vocabulary(sizes))
    if name:
        presets = ", ".join(PRESETS)
        raise MuteError(
            f"'{name}' is neither a config file (.yaml), nor a folder with a model, nor a preset "
            f"({presets})"
        )
    totals = {
        system: {preset: parameter_count(_system(preset, changes), sizes) for preset in PRESETS}
        for system, changes in SYSTEMS.items()
    }
    return ParameterTable("All systems in all shapes", totals, False, _vocabulary(sizes))


def _of_config(
    name: str, vocab_size: tuple[int, int] | None, overrides: Sequence[str]
) -> ParameterTable:
    config = load_config(name, overrides)
    sizes, known = vocab_size or ASSUMED_SIZES, True
    if vocab_size is None and config.data is not None:
        sizes, known = vocabulary_sizes(config.data)
    note = _vocabulary(sizes) + ("" if known else ": a guess, as the data is not prepared yet")
    columns = {Path(name).stem: parameters_by_part(config.model, sizes)}
    return ParameterTable(name, columns, True, note)


def _of_model(name: str) -> ParameterTable:
    network, tokenizer, _ = load_model(name)
    sizes = (tokenizer.source_size, tokenizer.target_size)
    columns = {"model": parameters_by_part(network.config, sizes)}
    takes = f"; takes {tokenizer.takes}" if tokenizer.takes else ""
    return ParameterTable(name, columns, True, _vocabulary(sizes) + takes)


def _vocabulary(sizes: tuple[int, int]) -> str:
    """In words; one number, where source and target have equally many entries."""
    return f"with a vocabulary of {' and '.join(f'{size:,}' for size in dict.fromkeys(sizes))}"


def _system(preset: str, changes: Mapping[str, Any]) -> ModelConfig:
    return ModelConfig.model_validate({"preset": preset, **changes})


def render(table: ParameterTable) -> Table:
    """The table for people; several columns show three digits each, to fit a terminal."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    columns = list(table.columns.values())
    shown = Table(
        title=f"Parameters: {escape(table.title)}",
        title_justify="left",
        caption=table.note or None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    shown.add_column("", no_wrap=True)
    for heading in table.columns:
        shown.add_column(escape(heading), justify="right", no_wrap=True)
    write = _exact if len(columns) == 1 else _short
    for row in max(columns, key=len):  # the largest model has every part, in order
        shown.add_row(row, *(write(column.get(row, 0)) for column in columns))
    if table.summed:
        shown.add_section()
        shown.add_row("all", *(write(sum(column.values())) for column in columns))
    return shown


def _exact(count: int) -> str:
    return f"{count:,}"


def _short(count: int) -> str:
    """1234567 → 1.23M, and nothing for 0."""
    for size, suffix in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= 0.9995 * size:  # what rounds to 1.00 of it
            return f"{count / size:#.3g}".rstrip(".") + suffix
    return str(count or "")
