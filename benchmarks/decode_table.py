"""The Markdown page of results/bench/decode.json, made from that alone."""

from typing import Any

from mute.studies.tables import grid

Rows = list[dict[str, Any]]


def render(result: dict[str, Any]) -> str:
    """The whole page."""
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    origin = f"`{result['command']}` at commit {result['commit']}; {machine}."
    lines = ["# Decoding speed", "", origin, "", *tables(result)]
    return "".join(f"{line}\n" for line in lines)


def tables(result: dict[str, Any]) -> list[str]:
    """Targets first, then all speeds, by model and beam; in lines."""
    legend = (
        f"Target tokens per second, the median of {result['rounds']}; in brackets "
        f"the ratio to CTranslate2 with one unit and the same arithmetic."
    )
    lines = [legend, "", "## Targets: Transformer-Base, beam 4", "", *_targets(result["targets"])]
    groups: dict[tuple[str, int], Rows] = {}
    for setting in result["settings"]:
        groups.setdefault((setting["model"], setting["beam"]), []).append(setting)
    for (model, beam), settings in groups.items():
        lines += ["", f"## {model}, beam {beam}", "", *_speeds(settings)]
    return lines


def _targets(targets: Rows) -> list[str]:
    heads = ["", "batch", "text", "ratio", "at least", "reached"]
    cells = [
        [
            f"{each['fast']} / {each['other']}",
            str(each["batch"]),
            each["text"],
            f"{each['ratio']:.3f}",
            f"{each['at_least']:.2f}",
            "yes" if each["reached"] else "**no**",
        ]
        for each in targets
    ]
    return grid(heads, cells).splitlines()


def _speeds(settings: Rows) -> list[str]:
    """One row for each engine, one column for each setting."""
    heads = ["", *(f"batch {each['batch']}, {each['text']}" for each in settings)]
    found = {name for each in settings for name in each["contenders"]}
    names = sorted(found, key=lambda name: (not name.startswith("mute"), name))
    cells = [[name, *(_speed(each["contenders"].get(name)) for each in settings)] for name in names]
    if "identical" in settings[0]:
        for compute in settings[0]["identical"]:
            shares = [f"{100 * each['identical'][compute]:.1f} %" for each in settings]
            cells.append([f"identical translations, {compute}", *shares])
    return grid(heads, cells).splitlines()


def _speed(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    return f"{row['tokens_per_second']:,.0f} ({row['to_ctranslate2']:.2f} ×)"
