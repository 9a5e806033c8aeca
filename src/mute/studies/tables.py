"""The tables of a study for people, in Markdown."""

import re
from collections.abc import Mapping, Sequence

from mute.evaluate.significance import p_value
from mute.studies.definitions import Study
from mute.studies.results import results_folder, write_json
from mute.studies.summary import VARIANTS, Row, Spread, Summary

MARKDOWN, JSON = "table.md", "table.json"
NOTHING = "–"


def write_tables(study: Study, summary: Summary, captions: Mapping[str, str]) -> None:
    """Write table.md and table.json beside the results.

    Args:
        study: what it is of
        summary: its numbers
        captions: of the figures, by file name
    """
    folder = results_folder(summary.study, summary.task)
    write_json(summary.as_json(), folder / JSON)
    text = markdown(study, summary)
    for file, caption in captions.items():
        text += f"\n![{_brief(caption)}]({file})\n\n*{caption}*\n"
    (folder / MARKDOWN).write_text(text, encoding="utf-8")


def _brief(caption: str) -> str:
    """For those who cannot see the figure, and read the whole caption next."""
    return re.split("[.;:(]", caption)[0].strip()


def markdown(study: Study, summary: Summary) -> str:
    """The whole text: best checkpoints, their averages, significance, and how it was measured."""
    shows = study.shows[0].upper() + study.shows[1:]
    parts = [f"**{summary.study}, {summary.task}.** {shows}.", _main_table(study, summary)]
    for name, title in VARIANTS.items():
        if any(name in row.variants for row in summary.rows):
            parts += [f"{title}:", _variant_table(summary, name)]
    if any(row.p for row in summary.rows):
        title = f"p of the difference from {_baseline(study, summary)}, seed by seed:"
        parts += [title, _significance_table(summary)]
    return "\n\n".join([*parts, _footer(study, summary)]) + "\n"


def _main_table(study: Study, summary: Summary) -> str:
    measured, baselines = _measured(summary), _own_baselines(study, summary)
    headings = [
        *("system", "parameters", "seeds", "steps", "dev", *summary.tests, "Δ"),
        *(["from"] if baselines else []),
        *measured,
        "hours",
    ]
    return grid(
        headings,
        [
            [
                row.label,
                f"{row.parameters / 1e6:.2f}M" if row.parameters else NOTHING,
                str(len(row.seeds) or NOTHING),
                _steps(row.steps),
                written(row.dev),
                *(
                    written(row.tests.get(test)) + row.daggers.get(test, "")
                    for test in summary.tests
                ),
                NOTHING if row.difference is None else f"{row.difference:+.2f}",
                *([baselines.get(row.system, NOTHING)] if baselines else []),
                *(_number(row.measured.get(name)) for name in measured),
                NOTHING if row.hours is None else f"{row.hours:.2f}",
            ]
            for row in summary.rows
        ],
    )


def _measured(summary: Summary) -> list[str]:
    """The headings of what was measured in models."""
    return list(dict.fromkeys(name for row in summary.rows for name in row.measured))


def _variant_table(summary: Summary, name: str) -> str:
    rows = [(row.label, row.variants[name]) for row in summary.rows if name in row.variants]
    return grid(
        ["system", "dev", *summary.tests],
        [
            [
                ", ".join(filter(None, (label, variant.note))),
                written(variant.dev),
                *(written(variant.tests.get(test)) for test in summary.tests),
            ]
            for label, variant in rows
        ],
    )


def _significance_table(summary: Summary) -> str:
    def cell(row: Row, test: str) -> str:
        every = [NOTHING if p is None else p_value(p) for p in row.p.get(test, [])]
        return ", ".join(every) or NOTHING

    return grid(
        ["system", *summary.tests],
        [
            [row.label, *(cell(row, test) for test in summary.tests)]
            for row in summary.rows
            if row.p
        ],
    )


def _baseline(study: Study, summary: Summary) -> str:
    """What differences are from, in words: one system, or each row's own."""
    return "the row's baseline" if _own_baselines(study, summary) else summary.baseline


def _own_baselines(study: Study, summary: Summary) -> dict[str | None, str]:
    """By system, the label of its baseline, where not all rows have the same."""
    labels = {system.name: system.label for system in study.systems}
    shown = {row.system for row in summary.rows}
    own: dict[str | None, str] = {
        system.name: labels[study.baseline_of(system)]
        for system in study.systems
        if system.name in shown
    }
    return own if len(set(own.values())) > 1 else {}


def _footer(study: Study, summary: Summary) -> str:
    baseline = _baseline(study, summary)
    lines = [
        "BLEU of the checkpoint that is best on dev; mean ± standard deviation over seeds.",
        f"Δ: difference from {baseline}, seed by seed, averaged over dev and test sets.",
    ]
    if any(row.system is None and row.difference is not None for row in summary.rows):
        lines.append(
            "Δ of a row that is no system's: from the mean over all seeds of the baseline."
        )
    measured = _measured(summary)
    if measured and any(len(row.seeds) > 1 for row in summary.rows):
        lines.append(f"Of the first seed alone: {', '.join(measured)}.")
    if any(row.p for row in summary.rows):
        lines.append(
            f"† / ††: better than {baseline} with p < 0.05 / 0.01 in every seed, by paired "
            f"bootstrap (1000 samples) between runs of the same seed."
        )
    lines += [
        f"Beware: the runs of {row.label} differ in more than the seed: {', '.join(row.mixed)}."
        for row in summary.rows
        if row.mixed
    ]
    lines += [
        f"Beware: {row.label} and its baseline differ in more than they should, so there are no "
        f"daggers: {', '.join(row.unlike)}."
        for row in summary.rows
        if row.unlike
    ]
    if len(summary.threads) > 1:
        counts = sorted(count for count in summary.threads if count)
        known = f"{' or '.join(map(str, counts))} thread{'s' * (counts[-1] > 1)}" if counts else ""
        unknown = "an unknown number" if None in summary.threads else ""
        lines.append(
            f"Hours are of runs with {' or '.join(filter(None, (known, unknown)))}, so they do "
            f"not tell which system is the faster."
        )
    if summary.missing:
        lines.append(f"Not run yet: {'; '.join(summary.missing)}.")
    if summary.signatures:
        lines.append("Signature: " + ", ".join(f"`{each}`" for each in summary.signatures) + ".")
    if summary.commits:
        lines.append(f"Commit: {', '.join(summary.commits)}.")
    return "\n".join(lines)


def written(value: Spread | None) -> str:
    """41.23 ± 0.15, or without the spread if there is one seed."""
    if value is None:
        return NOTHING
    return f"{value.mean:.2f}" + ("" if value.deviation is None else f" ± {value.deviation:.2f}")


def _number(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value >= 100 else f"{value:.3f}"


def _steps(steps: Sequence[int]) -> str:
    if not steps:
        return NOTHING
    fewest, most = min(steps), max(steps)
    return f"{most:,}" if fewest == most else f"{fewest:,}–{most:,}"


def grid(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; all columns but the first are numbers."""
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
