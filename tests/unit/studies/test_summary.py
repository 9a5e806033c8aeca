"""Numbers over seeds, and the tables that show them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from mute.studies.definitions import Study, System
from mute.studies.figures import curves, sample_rate, units, weights, write_figures
from mute.studies.grid import runs_of
from mute.studies.results import paired, read_json, read_results, results_folder, write_json
from mute.studies.study import make_tables
from mute.studies.summary import Spread, spread, summarise
from mute.studies.tables import grid, markdown, written
from tests.unit.studies.made_up import SIGNATURE, TRAINING, comparison, fingerprint, result

CURVE = [{"step": 1000 * n, "bleu": 40.0 + n} for n in (3, 4, 5)]
STUDY = Study(
    "made-up",
    "two systems",
    (System("relative", "+ Relative", "x"), System("seq", "Seq", "x"), System("late", "Late", "x")),
)


def points(figure: Figure) -> dict[str, tuple[list[float], list[float]]]:
    """The lines of a figure's first panel, by name."""
    lines = [
        each.lines[0] for each in figure.axes[0].containers if isinstance(each, ErrorbarContainer)
    ]
    names = figure.axes[0].get_legend_handles_labels()[1] or [""]
    return {
        name: (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
        for name, line in zip(names, lines, strict=True)
    }


def legend(axes: Axes) -> Legend:
    found = axes.get_legend()
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_spread_is_that_of_a_sample() -> None:
    assert spread([41.0, 42.0, 43.0]) == Spread(42.0, 1.0)
    assert spread([41.0]) == Spread(41.0, None)
    assert spread([]) is None


@pytest.mark.parametrize(
    ("differences", "p", "mark"),
    [
        ([1.0, 0.8], [0.001, 0.009], "††"),
        ([1.0, 0.8], [0.001, 0.02], "†"),
        ([1.0, 0.8], [0.001, 0.05], ""),
        ([1.0, -0.8], [0.001, 0.001], ""),
        ([1.0, 0.8], [0.001], ""),
    ],
)
def test_a_dagger_is_earned_by_every_seed(
    differences: list[float], p: list[float], mark: str
) -> None:
    make_results()
    compared = {
        f"seq-seed{seed}": {"t16": {"of": [], "difference": difference, "p": of_seed}}
        for seed, (difference, of_seed) in enumerate(zip(differences, p, strict=False), 1)
    }
    write_json(compared, results_folder("made-up", "toy") / "comparisons.json")
    (row,) = (each for each in summarise(STUDY, "toy").rows if each.system == "seq")
    assert row.daggers.get("t16", "") == mark


def test_a_score_shows_its_spread_if_it_has_one() -> None:
    assert written(Spread(41.234, 0.156)) == "41.23 ± 0.16"
    assert written(Spread(41.234, None)) == "41.23"
    assert written(None) == "–"


def test_a_grid_is_markdown() -> None:
    assert grid(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |"


def make_results() -> None:
    for seed, dev in ((1, 40.0), (2, 41.0)):
        result("made-up", "relative", seed, dev, {"t16": dev, "t17": dev - 8})
        result("made-up", "seq", seed, dev + 1, {"t16": dev + 2, "t17": dev - 8})
    comparison("made-up", "seq", "t16", 2.0, [0.004, 0.03])


def test_a_summary_knows_means_differences_and_what_is_missing() -> None:
    make_results()
    summary = summarise(STUDY, "toy")
    relative, seq = summary.rows
    assert seq.seeds == [1, 2]
    assert seq.dev is not None
    assert seq.dev.mean == 41.5
    assert seq.dev.deviation == pytest.approx(0.7071, abs=1e-4)
    assert seq.difference == pytest.approx((1 + 2 + 0) / 3)
    assert relative.difference == 0
    assert seq.p == {"t16": [0.004, 0.03]}
    assert seq.daggers["t16"] == "†"
    assert seq.hours == 0.5
    assert summary.missing == ["Late"]


def test_a_difference_is_over_the_seeds_that_both_have() -> None:
    make_results()
    result("made-up", "relative", 3, 80.0, {"t16": 80.0, "t17": 80.0})
    _, seq = summarise(STUDY, "toy").rows
    assert seq.difference == pytest.approx((1 + 2 + 0) / 3)


def test_a_system_may_have_a_baseline_of_its_own() -> None:
    make_results()
    late = replace(STUDY.systems[2], baseline="seq")
    result("made-up", "late", 1, 44.0, {"t16": 44.0, "t17": 35.0})
    study = replace(STUDY, systems=(*STUDY.systems[:2], late))
    *_, row = summarise(study, "toy").rows
    assert row.difference == pytest.approx((3 + 2 + 3) / 3)  # from 41, 42 and 32
    table = markdown(study, summarise(study, "toy"))
    assert "Δ: difference from the row's baseline, seed by seed" in table
    assert "| Late | 4.21M | 1 | 2,000 | 44.00 | 44.00 | 35.00 | +2.67 | Seq | 0.50 |" in table
    pairs = {(system, its["system"]) for system, its, _ in paired(study, "toy")}
    assert pairs == {("seq", "relative"), ("late", "seq")}


def test_a_seed_that_was_not_compared_earns_no_dagger() -> None:
    make_results()
    comparison("made-up", "seq", "t16", 2.0, [0.004])
    _, seq = summarise(STUDY, "toy").rows
    assert seq.p == {"t16": [0.004, None]}
    assert not seq.daggers.get("t16")
    assert "| Seq | 0.004, – | – |" in markdown(STUDY, summarise(STUDY, "toy"))


def test_a_table_tells_how_it_was_measured() -> None:
    make_results()
    table = markdown(STUDY, summarise(STUDY, "toy"))
    row = "| Seq | 4.21M | 2 | 2,000 | 41.50 ± 0.71 | 42.50 ± 0.71† | 32.50 ± 0.71 | +1.00 | 0.50 |"
    assert row in table.splitlines()
    assert "| Seq, 5 checkpoints from step 1,200 on | 41.60 ± 0.71 |" in table
    assert "| Seq, length penalty 2.0, 3.0 | 41.70 ± 0.71 |" in table
    assert "| Seq | 0.004, 0.030 | – |" in table
    assert f"Signature: `{SIGNATURE}`." in table
    assert "Not run yet: Late." in table
    assert "Commit: abc1234." in table


def test_a_result_of_an_earlier_version_has_no_tuned_length() -> None:
    make_results()
    file = results_folder("made-up", "toy") / "seq-seed2.json"
    old = read_json(file)
    del old["tuned"]
    write_json(old, file)
    table = markdown(STUDY, summarise(STUDY, "toy"))
    assert "| + Relative, length penalty 2.0, 3.0 |" in table
    assert "| Seq, length penalty" not in table


def test_runs_of_different_settings_in_one_row_are_told() -> None:
    make_results()
    assert "Beware" not in markdown(STUDY, summarise(STUDY, "toy"))
    for seed, dropout in ((1, 0.2), (2, 0.3)):
        config = {"model": {"dropout": dropout}, "train": {**TRAINING, "seed": seed}}
        result("made-up", "seq", seed, 41.0, {"t16": 40.0}, config=config)
    table = markdown(STUDY, summarise(STUDY, "toy"))
    assert "Beware: the runs of Seq differ in more than the seed: model.dropout." in table


def test_runs_of_more_and_fewer_processes_in_one_row_are_told() -> None:
    make_results()
    for seed, batches in ((1, 4), (2, 1)):
        result("made-up", "seq", seed, 41.0, {"t16": 40.0}, batches_per_step=batches)
    table = markdown(STUDY, summarise(STUDY, "toy"))
    assert "differ in more than the seed: processes × train.accumulate." in table


@pytest.mark.parametrize(
    ("train", "warned"), [(["a.de", "a.de"], True), (["a.de", "more.de"], False)]
)
def test_runs_of_another_text_by_the_same_settings_are_told(train: list[str], warned: bool) -> None:
    """Not those of systems that are to have another."""
    study = replace(STUDY, systems=(System("relative", "R", "y"), System("seq", "Seq", "x")))
    Path("configs/toy").mkdir(parents=True)
    for system, target, digest in zip(study.systems, train, "AB", strict=True):
        text = f"{{source: a.en, target: {target}}}"
        Path(f"configs/toy/{system.config}.yaml").write_text(
            f"data: {{source: en, target: de, prepared: x, train: [{text}], dev: {text}}}\n"
            "train: {run: r}"
        )
        (run,) = runs_of(study, "toy", [1], systems=[system.name])
        settings = run.config.model_dump(mode="json")
        result("made-up", system.name, 1, 40.0, {"t": 40.0}, config=settings, text=digest)
    table = markdown(study, summarise(study, "toy"))
    assert (
        "differ in more than they should, so there are no daggers: the prepared text" in table
    ) == warned


@pytest.mark.parametrize("folder", ["configs/toy", "elsewhere/toy"])
def test_a_system_that_was_trained_otherwise_than_its_baseline_is_told_and_earns_no_dagger(
    folder: str,
) -> None:
    """Also of a task that lies elsewhere, and that has not all systems of the study."""
    text = "{source: a.en, target: a.de}"
    data = f"{{source: en, target: de, prepared: x, train: [{text}], dev: {text}}}"
    of_seq = f"model: {{units: 4}}\ndata: {data}\ntrain: {{run: r, warmup: 500}}"
    Path(folder).mkdir(parents=True)
    Path(folder, "x.yaml").write_text(of_seq)
    Path(folder, "y.yaml").write_text("extends: x.yaml\nmodel: {units: 1}")
    systems = (System("relative", "+ Relative", "y"), System("seq", "Seq", "x"))
    study = replace(STUDY, systems=(*systems, System("bias", "Bias", "absent")))
    for system in ("relative", "seq"):
        (run,) = runs_of(study, folder, [1], systems=[system])
        config = run.config.model_dump(mode="json")
        result("made-up", system, 1, 40.0, {"t16": 40.0}, config=config)
    comparison("made-up", "seq", "t16", 1.0, [0.001])
    assert "40.00††" in markdown(study, summarise(study, folder))
    config["train"]["warmup"] = 77
    result("made-up", "seq", 1, 40.0, {"t16": 40.0}, config=config, batches_per_step=4)
    table = markdown(study, summarise(study, folder))
    assert "††" not in table.split("BLEU of the")[0]
    assert (
        "Beware: Seq and its baseline differ in more than they should, so there are no daggers: "
        "train.warmup, processes × train.accumulate."
    ) in table


@pytest.mark.parametrize(
    ("steps", "checkpoints", "shown"),
    [
        (2000, 5, "5 checkpoints from step 1,200 on"),
        (1000, 4, ""),  # from step 400 on
        (1000, 1, "1 checkpoints from step 1,000 on"),
        (950, 2, "2 checkpoints from step 800 on"),
    ],
)
def test_an_average_is_shown_if_it_is_of_the_end_of_a_run(
    steps: int, checkpoints: int, shown: str
) -> None:
    average = {"checkpoints": checkpoints, "dev_bleu": 41.0, "tests": {}}
    result("made-up", "seq", 1, 41.0, {"t16": 40.0}, steps=steps, average=average)
    table = markdown(STUDY, summarise(STUDY, "toy"))
    assert shown in table
    assert ("Average of each run" in table) == bool(shown)


def test_what_was_measured_adds_columns_and_rows() -> None:
    make_results()
    further = {"dev_bleu": 12.0, "tests": {"t16": {"bleu": 11.0}}}
    measured = {
        "of": fingerprint("seq", 1, 41.0, tests=2),
        "columns": {"seq": {"tokens/s": 1234.5, "FFN outputs": 0.46}},
        "rows": [{"label": "average of seeds", "scores": [further]}],
    }
    write_json(measured, results_folder("made-up", "toy") / "measures.json")
    table = markdown(STUDY, summarise(STUDY, "toy"))
    assert "| Δ | tokens/s | FFN outputs | hours |" in table
    assert "| +1.00 | 1,234 | 0.460 | 0.50 |" in table
    assert "| average of seeds | – | – | – | 12.00 | 11.00 | – | -29.00 | – | – | – |" in table
    assert "Δ of a row that is no system's: from the mean over all seeds of the base" in table
    assert "Of the first seed alone: tokens/s, FFN outputs." in table


def test_what_was_measured_of_other_models_is_left_out() -> None:
    make_results()
    measured = {
        "of": fingerprint("seq", 1, 39.0, tests=2),
        "columns": {"seq": {"tokens/s": 1234.5}},
        "rows": [{"label": "average of seeds", "scores": [{"dev_bleu": 12.0, "tests": {}}]}],
    }
    write_json(measured, results_folder("made-up", "toy") / "measures.json")
    table = markdown(STUDY, summarise(STUDY, "toy"))
    assert "tokens/s" not in table
    assert "average of seeds" not in table


def test_the_paper_figures_are_drawn_from_results() -> None:
    rates = [
        System(f"{name}-{rate}", f"{name}, {rate}", "x") for name in "ab" for rate in (0.5, 1.0)
    ]
    study = Study(
        "made-up", "rates", rates, baseline="a-0.5", figures=("curves", "sample_rate", "units")
    )
    for count, system in enumerate(rates, 1):
        settings = {"units": count, "sample_rate": float(system.name[2:])}
        config = {"model": settings, "train": TRAINING}
        result("made-up", system.name, 1, 40.0 + count, {"t": 30.0}, config=config, curve=CURVE)
    summary, results = summarise(study, "toy"), read_results(study, "toy")
    ((by_rate, _),) = sample_rate(summary, results).values()
    assert points(by_rate) == {"a": ([0.5, 1.0], [41.0, 42.0]), "b": ([0.5, 1.0], [43.0, 44.0])}
    ((by_units, _),) = units(summary, results).values()
    assert list(points(by_units).values()) == [([1.0, 2.0, 3.0, 4.0], [41.0, 42.0, 43.0, 44.0])]
    captions = write_figures(study, summarise(study, "toy"))
    assert set(captions) == {"curves.png", "sample-rate.png", "units.png"}
    assert all((results_folder("made-up", "toy") / file).is_file() for file in captions)


def test_curves_of_different_batches_are_compared_at_equal_tokens() -> None:
    for system, batch_tokens, step in (("relative", 2048, 1000), ("seq", 4096, 500)):
        config = {"train": {**TRAINING, "batch_tokens": batch_tokens}}
        curve = [{"step": step * n, "bleu": 40.0} for n in (3, 4, 5)]
        result("made-up", system, 1, 40.0, {"t": 30.0}, config=config, curve=curve)
    ((figure, _),) = curves(summarise(STUDY, "toy"), read_results(STUDY, "toy")).values()
    (axes,) = figure.axes
    expected = [2.048 * n for n in (3, 4, 5)]
    assert all(np.asarray(line.get_xdata()).tolist() == expected for line in axes.lines)
    assert len(axes.lines) == 2


def test_curves_count_the_batches_of_all_processes() -> None:
    result("made-up", "seq", 1, 40.0, {"t": 30.0}, batches_per_step=4, curve=CURVE)
    ((figure, _),) = curves(summarise(STUDY, "toy"), read_results(STUDY, "toy")).values()
    (line,) = figure.axes[0].lines
    assert np.asarray(line.get_xdata()).tolist() == [8.192 * n for n in (3, 4, 5)]


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        ({"relative": 1, "seq": 1}, " One seed."),
        ({"relative": 2, "seq": 1}, " One seed: Seq."),
        ({"relative": 2, "seq": 1, "late": 1}, " One seed, but for + Relative."),
        ({"relative": 2, "seq": 2}, " Task: toy."),
    ],
)
def test_a_figure_says_which_lines_are_single_runs(seeds: dict[str, int], told: str) -> None:
    for system, count in seeds.items():
        for seed in range(1, count + 1):
            result("made-up", system, seed, 40.0, {"t": 30.0}, curve=CURVE)
    captions = write_figures(STUDY, summarise(STUDY, "toy"))
    assert captions["curves.png"].endswith(told)


def test_runs_of_few_validations_have_no_curves() -> None:
    result("made-up", "seq", 1, 40.0, {"t": 30.0}, curve=CURVE[1:])
    assert not curves(summarise(STUDY, "toy"), read_results(STUDY, "toy"))
    result("made-up", "relative", 1, 40.0, {"t": 30.0}, curve=CURVE)
    ((figure, _),) = curves(summarise(STUDY, "toy"), read_results(STUDY, "toy")).values()
    assert list(points(figure)) == ["+ Relative"]


def test_systems_with_baselines_of_their_own_have_panels_of_their_own() -> None:
    systems = [
        System(f"{of}-{way}", f"{label}, {way}", "x", baseline=f"relative-{way}")
        for way in ("one", "two")
        for of, label in (("relative", "+ Relative"), ("seq", "Seq"))
    ]
    study = replace(STUDY, systems=tuple(systems), baseline="relative-one")
    for system in systems:
        result("made-up", system.name, 1, 40.0, {"t": 30.0}, curve=CURVE)
    ((figure, _),) = curves(summarise(study, "toy"), read_results(study, "toy")).values()
    names = [[text.get_text() for text in legend(axes).get_texts()] for axes in figure.axes]
    assert [axes.get_title() for axes in figure.axes] == ["one", "two"]
    assert names == [["+ Relative", "Seq"]] * 2


def test_spreads_do_not_lie_on_one_another() -> None:
    for seed in (1, 2):
        for system in ("relative", "seq"):
            curve = [{"step": 1000 * n, "bleu": 40.0 + seed} for n in (4, 5, 6)]
            result("made-up", system, seed, 40.0, {"t": 30.0}, curve=curve)
    ((figure, _),) = curves(summarise(STUDY, "toy"), read_results(STUDY, "toy")).values()
    bars = [each.lines[2][0] for each in figure.axes[0].containers if hasattr(each, "lines")]
    first, second = bars
    assert first.get_segments()[0][0, 0] < second.get_segments()[0][0, 0]


def test_lines_without_a_spread_stand_where_they_belong_and_many_names_beside_them() -> None:
    names = [f"s{number}" for number in range(9)]
    study = replace(STUDY, systems=tuple(System(name, name, "x") for name in names))
    curve = [{"step": 1000 * n, "bleu": 40.0 + n} for n in (4, 5, 6)]
    for name in names:
        result("made-up", name, 1, 40.0, {"t": 30.0}, curve=curve)
    better = [{**point, "bleu": point["bleu"] + 1} for point in curve]
    result("made-up", "s0", 2, 40.0, {"t": 30.0}, curve=better)
    summary = summarise(replace(study, baseline="s0"), "toy")
    ((figure, _),) = curves(summary, read_results(study, "toy")).values()
    (axes,) = figure.axes
    at = [np.asarray(each.lines[0].get_xdata()).tolist() for each in axes.containers]  # type: ignore[attr-defined]
    assert all(each == at[0] for each in at)
    figure.draw_without_rendering()
    assert legend(axes).get_window_extent().x0 >= axes.get_window_extent().x1


def test_curves_leave_out_where_all_rise_alike_and_show_the_spread_over_seeds() -> None:
    curve = [{"step": 1000 * n, "bleu": 10.0 + 3 * n} for n in range(1, 10)]
    shifted = [{**point, "bleu": point["bleu"] + 2} for point in curve]
    for seed, of_seed in enumerate((curve, shifted), 1):
        result("made-up", "seq", seed, 40.0, {"t": 30.0}, curve=of_seed)
    ((figure, _),) = curves(summarise(STUDY, "toy"), read_results(STUDY, "toy")).values()
    (container,) = figure.axes[0].containers
    assert isinstance(container, ErrorbarContainer)
    line, _, (bars,) = container.lines
    assert line is not None
    assert np.asarray(line.get_ydata()).tolist() == [32, 35, 38]  # of which 32 is 6 below the best
    low, high = bars.get_segments()[0][:, 1]
    assert (low, high) == pytest.approx((32 - 2**0.5, 32 + 2**0.5))


def test_a_speed_is_drawn_from_zero() -> None:
    systems = tuple(System(f"u{count}", f"{count} units", "x") for count in (1, 2))
    study = replace(STUDY, systems=systems, baseline="u1", figures=("units",))
    for count, system in enumerate(systems, 1):
        config = {"model": {"units": count}, "train": TRAINING}
        result("made-up", system.name, 1, 40.0, {"t": 30.0}, config=config)
    speeds = {"u1": {"tokens/s": 1700.0}, "u2": {"tokens/s": 1600.0}}
    of = fingerprint("u1", 1, 40.0) | fingerprint("u2", 1, 40.0)
    measured = {"of": of, "columns": speeds, "rows": []}
    write_json(measured, results_folder("made-up", "toy") / "measures.json")
    ((figure, _),) = units(summarise(study, "toy"), read_results(study, "toy")).values()
    scores, speed = figure.axes
    assert scores.get_ylim()[0] > 20
    assert speed.get_ylim()[0] == 0


def test_no_two_lines_of_a_figure_look_the_same() -> None:
    systems = tuple(System(f"s{number}", f"System {number}", "x") for number in range(8))
    study = replace(STUDY, systems=systems, baseline="s0")
    for system in systems:
        result("made-up", system.name, 1, 40.0, {"t": 30.0}, curve=CURVE)
    ((figure, _),) = curves(summarise(study, "toy"), read_results(study, "toy")).values()
    looks = {(line.get_color(), line.get_linestyle()) for line in figure.axes[0].lines}
    assert len(looks) == len(systems)


def test_weights_are_shown_where_there_are_several_units() -> None:
    layer = {"alpha": [0.25, 0.75], "coefficients": [0.5, 0.4]}
    ordered = {**layer, "matrix": [[1.0, 0.0], [0.0, 1.0]], "order": [0, 1]}
    result("made-up", "relative", 1, 40.0, {"t": 30.0}, units={})
    result("made-up", "seq", 1, 40.0, {"t": 30.0}, units={"encoder": [ordered, ordered]})
    result("made-up", "late", 1, 40.0, {"t": 30.0}, units={"encoder": [layer, layer]})
    study = Study("made-up", "weights", STUDY.systems, figures=("weights",))
    table = make_tables(study, Path("toy"), lambda _: None).read_text()
    assert "](alpha.png)" in table
    assert "](coefficients.png)" in table
    drawn = weights(summarise(study, "toy"), read_results(study, "toy"))
    columns = {
        file: [axes.get_xlabel() for axes in figure.axes] for file, (figure, _) in drawn.items()
    }
    assert columns == {"alpha.png": ["place", "unit"], "coefficients.png": ["unit", "unit"]}
    cells = {
        file: [text.get_text() for axes in figure.axes for text in axes.texts]
        for file, (figure, _) in drawn.items()
    }
    assert cells == {
        "alpha.png": ["0.25", "0.75"] * 4,
        "coefficients.png": ["0.50", "0.40"] * 4,
    }


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ([["swap", "mask"]], "noise in training: 0 swap and 1 mask."),
        ([["swap"]], "noise in training: 0 swap and 1 identity."),
        (
            [["swap", "mask"], []],
            "noise in training: 0 swap and 1 mask. Systems without bias had none.",
        ),
        ([["swap", "mask"], ["mask", "swap"]], "alpha itself in the others."),
    ],
)
def test_the_noise_of_units_is_told_where_it_is_the_same(kinds: list[list[str]], told: str) -> None:
    several = {"encoder": [{"alpha": [0.25, 0.75], "coefficients": [0.5, 0.5]}]}
    result("made-up", "relative", 1, 40.0, {"t": 30.0}, units={})
    for system, bias in zip(("seq", "late"), kinds, strict=False):
        config = {"model": {"units": 2, "bias": bias}, "train": TRAINING}
        result("made-up", system, 1, 40.0, {"t": 30.0}, units=several, config=config)
    study = Study("made-up", "weights", STUDY.systems, figures=("weights",))
    drawn = weights(summarise(study, "toy"), read_results(study, "toy"))
    assert drawn["coefficients.png"][1].endswith(told)


def test_runs_scored_on_corrected_references_are_told() -> None:
    result("made-up", "relative", 1, 40.0, {"t": 30.0})
    for seed, digest in ((1, "old"), (2, "new")):
        content = result("made-up", "seq", seed, 40.0, {"t": 30.0})
        content["tests"]["t"]["references"] = digest
        write_json(content, results_folder("made-up", "toy") / f"seq-seed{seed}.json")
    table = markdown(STUDY, summarise(STUDY, "toy"))
    assert "Beware: the runs of Seq differ in more than the seed: the references of t." in table


@pytest.mark.parametrize(
    ("threads", "told"),
    [
        ([2, 2], None),
        ([1, 2], "Hours are of runs with 1 or 2 threads, so"),
        ([None, 2], "Hours are of runs with 2 threads or an unknown number, so"),
    ],
)
def test_hours_that_cannot_be_compared_are_told(
    threads: list[int | None], told: str | None
) -> None:
    for seed, count in enumerate(threads, 1):
        result("made-up", "seq", seed, 40.0, {"t": 30.0}, threads=count)
    table = markdown(STUDY, summarise(STUDY, "toy"))
    assert ("Hours are" in table) == (told is not None)
    assert (told or "") in table
