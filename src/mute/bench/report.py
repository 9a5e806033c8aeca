"""What was measured, as tables for people."""

from rich import box
from rich.console import Group
from rich.table import Table

from mute.bench.estimate import Estimate
from mute.bench.measurement import Measurement
from mute.bench.training import TrainingSpeed
from mute.bench.translating import PARTS, TranslationSpeed


def render(found: Measurement | Estimate) -> Group:
    """The tables, and what there is to say beside them."""
    return _estimate(found) if isinstance(found, Estimate) else _measurement(found)


def _measurement(found: Measurement) -> Group:
    machine, model = found.machine, found.model
    threads = f"{machine.threads} thread{'s' if machine.threads > 1 else ''}"
    text = "its prepared data" if model.prepared else "random sentences: no prepared data is used"
    source, target = (f"{size:,}" for size in model.vocabulary)
    words = source if source == target else f"{source} and {target}"
    return Group(
        f"{machine.device}, {threads}: peak {machine.peak_gflops:.1f} GFLOP/s in float32 products",
        f"{model.parameters:,} parameters, {words} words; on {text}\n",
        _training(found.training),
        _translation(found.translation),
        *found.complaints,
    )


def _training(found: TrainingSpeed) -> Table:
    batches = f"{found.accumulate} × {found.batch_tokens:,} tokens, {found.precision}"
    table = _table(f"Training: {found.steps} steps of {batches}", "", "", "")
    table.add_row("target tokens per second", f"{found.speed.target_tokens_per_second:,.0f}")
    table.add_row("GFLOP/s", f"{found.speed.gflops:.1f}")
    table.add_row("share of peak", f"{found.speed.share_of_peak:.1%}")
    table.add_row("padding", f"{found.padding:.1%}")
    table.add_row("peak memory", _size(found.peak_memory))
    table.add_section()
    table.add_row("time of a step", f"{1000 * found.seconds_per_step:,.1f} ms")
    for part, seconds in found.seconds_by_part.items():
        share = f"{seconds / found.seconds_per_step:.0%}"
        table.add_row(f"  {part}", f"{1000 * seconds:,.1f} ms", share)
    return table


def _translation(found: list[TranslationSpeed]) -> Table:
    first = found[0]
    lengths = f"{first.source_length} pieces → {first.target_length}"
    headings = ("", "batch", "target tokens/s", "GFLOP/s", "of peak", *PARTS)
    table = _table(f"Translation: {lengths}, beam {first.beam}", *headings)
    for each in found:
        table.add_row(
            each.compute,
            str(each.sentences),
            f"{each.speed.target_tokens_per_second:,.0f}",
            f"{each.speed.gflops:.1f}",
            f"{each.speed.share_of_peak:.1%}",
            *(f"{each.seconds_by_part[part] / each.seconds:.0%}" for part in PARTS),
        )
    return table


def _estimate(found: Estimate) -> Group:
    table = _table("Before the run", "", "")
    table.add_row("parameters", f"{found.parameters:,}")
    table.add_row("steps per epoch", f"{found.steps_per_epoch:,.1f}".removesuffix(".0"))
    table.add_row("time per step", _time(found.seconds_per_step))
    table.add_row("time per epoch", _time(found.seconds_per_epoch))
    epochs = found.steps / found.steps_per_epoch
    table.add_row(
        f"time of the run: {found.steps:,} steps, {epochs:,.1f} epochs", _time(found.seconds_of_run)
    )
    table.add_row("peak memory", _size(found.peak_memory))
    table.add_row("memory there is", _size(found.memory_room) if found.memory_room else "unknown")
    table.add_row("a checkpoint", _size(found.checkpoint))
    table.add_row("all checkpoints and the model", _size(found.disk))
    return Group(
        table,
        "All is of one process. Several share an epoch's batches, and each needs another "
        f"{_size(4 * found.parameters)} to exchange its gradients. Times are of training alone; "
        "validations come on top.",
        *(f"Warning: {warning}." for warning in found.warnings),
    )


def _table(title: str, first: str, *headings: str) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_header=any(headings),
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column(first, no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _size(count: int) -> str:
    """1234567 → 1.2 MB."""
    for size, unit in ((10**9, "GB"), (10**6, "MB")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count / 1000:.1f} kB"


def _time(seconds: float | None) -> str:
    """3700 → 1 h 2 min."""
    if seconds is None:
        return "not measured"
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = {"d": days, "h": hours, "min": minutes}
    return " ".join(f"{count} {unit}" for unit, count in parts.items() if count)
