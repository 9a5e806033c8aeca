from pathlib import Path

import pytest

from mute.config import Config
from mute.configfile import dump_config, load_config, load_experiment
from mute.errors import MuteError

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(ROOT.glob("configs/**/*.yaml"))
SYSTEMS = {"transformer", "relative", "big", "mute", "bias", "seq"}


def written(folder: Path, text: str, name: str = "run.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_shipped_config_loads(path: Path) -> None:
    config = load_config(path)
    assert config.data is not None
    assert config.train is not None
    assert config.train.run == f"runs/{path.parent.name}-{path.stem}"
    system = path.stem.partition("-")[0]
    expected_units = 4 if system in {"mute", "bias", "seq"} else 1
    assert config.model.units == expected_units
    assert config.model.sequential == (system == "seq")
    assert bool(config.model.bias) == (system in {"bias", "seq"})


def test_every_task_has_every_system() -> None:
    for task in {path.parent for path in SHIPPED}:
        stems = {path.stem for path in task.glob("*.yaml")}
        assert stems >= SYSTEMS
        assert {stem.partition("-")[0] for stem in stems} == SYSTEMS


@pytest.mark.parametrize("text", ["diverse", "more-diverse", "diverse-tatoeba"])
@pytest.mark.parametrize("system", ["relative", "seq"])
def test_a_system_on_diversified_text_differs_in_its_text_alone(system: str, text: str) -> None:
    task = ROOT / "configs/multi30k"
    usual, diverse = (load_config(task / f"{name}.yaml") for name in (system, f"{system}-{text}"))
    assert diverse.model == usual.model
    assert usual.train is not None
    assert diverse.train == usual.train.model_copy(update={"run": f"runs/multi30k-{system}-{text}"})
    assert usual.data is not None
    assert diverse.data is not None
    assert diverse.data.train[0] == usual.data.train[0]
    changed = {"prepared": diverse.data.prepared, "train": diverse.data.train}
    assert diverse.data == usual.data.model_copy(update=changed)


def test_the_model_in_the_other_direction_is_as_long_as_the_documentation_says() -> None:
    forward, back = (
        load_config(ROOT / "configs/multi30k" / f"{name}.yaml")
        for name in ("relative", "relative-de-en")
    )
    assert forward.data is not None
    assert back.data is not None
    assert (back.data.source, back.data.target) == (forward.data.target, forward.data.source)
    assert forward.train is not None
    changed = {"run": "runs/multi30k-relative-de-en", "steps": 4000}
    assert back.train == forward.train.model_copy(update=changed)
    told = (ROOT / "docs/reproduction.md").read_text(encoding="utf-8")
    assert "trained for 4,000 steps" in told


SEPARATE_VOCABULARIES = """
data: {source: en, target: zh, prepared: x, train: [{tsv: a}], dev: {tsv: b},
       tokenizer: {joint: false}}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model:\n  untis: 4\n", r"run.yaml:2: model.untis: unknown key; did you mean 'units'\?"),
        ("modle:\n  units: 4\n", r"run.yaml:1: modle: unknown key; did you mean 'model'\?"),
        ("model:\n  zzz: 4\n", r"run.yaml:2: model.zzz: unknown key; known keys: units, unit,"),
        (
            "model:\n  units: 2\n  decoder:\n    sequental: true\n",
            r"run.yaml:4: model.decoder.sequental: unknown key; did you mean 'sequential'\?",
        ),
        (
            "data:\n  source: en\n  train:\n  - source: a\n    targt: b\n",
            r"run.yaml:5: data.train.0.targt: unknown key; did you mean 'target'\?",
        ),
        ("train:\n  steps: 5\n", r"run.yaml:1: train.run: is missing$"),
        (
            "data:\n  test:\n    source: {sorce: a, target: b}\n",
            r"run.yaml:3: data.test.source.sorce: unknown key; did you mean 'source'\?",
        ),
        ('train:\n  run: "a\\0b"\n', r"run.yaml:2: train.run: no folder has such a name"),
        ("model:\n  units: !!bool abc\n", r"run.yaml: not valid YAML: a value is not what its tag"),
        ("model:\n  units: !!float ''\n", r"run.yaml: not valid YAML: a value is not what its"),
        ("model:\n  units: four\n", r"run.yaml:2: model.units: should be a valid integer, not 'f"),
        ("model:\n  heads: 7\n", r"run.yaml:1: model: d_model \(512\) is not divisible by heads"),
        (
            "model:\n  units: 2\n  bias:\n  - swap\n  - swop\n",
            r"run.yaml:5: model.bias.1: should be 'identity', 'swap', 'disorder' or 'mask', not",
        ),
        (
            "model: {share_embeddings: true}\n" + SEPARATE_VOCABULARIES,
            r"run.yaml: model.share_embeddings needs one vocabulary .*tokenizer.joint is false",
        ),
        ("model:\n  bias: swap\n", r"run.yaml:2: model.bias: should be a list, not 'swap'$"),
        (
            "train:\n  run: x\n  betas: 0.9\n",
            r"run.yaml:3: train.betas: should be a list, not 0.9$",
        ),
        (
            "train:\n  run: x\n  betas: [0.9]\n",
            r"run.yaml:3: train.betas: should be a list of at least 2, not \[0.9\]$",
        ),
        (
            "train:\n  run: x\n  betas: [0.9, 0.9, 0.9]\n",
            r"run.yaml:3: train.betas: should be a list of at most 2, not \[",
        ),
        (
            "data:\n  test: {source: dev.en, target: dev.de}\n",
            r"run.yaml:2: data.test: give every test set a name: {mine: {source: FILE, target",
        ),
        (
            "data:\n  source: no\n",
            r"run.yaml:2: data.source: should be text, in quotes if YAML takes it .*, not False",
        ),
        ("train:\n  run: ''\n", r"run.yaml:2: train.run: should not be empty, not ''$"),
        ("data:\n  test: [a]\n", r"run.yaml:2: data.test: should be a section, {key: value, …}"),
        ("model: tiny\n", r"run.yaml:1: model: should be a section, {key: value, …}, not 'tiny'$"),
        ("model:\n  units: 4\n  units: 2\n", r"run.yaml:3: model.units: given twice"),
        ("model: {units: 4\n", r"run.yaml:2: not valid YAML"),
        ("model:\n  units: 4\f\n", r"run.yaml:2: not valid YAML: special characters are not"),
        ("model:\n  ? [units]\n  : 4\n", r"run.yaml:2: not valid YAML: a key should be a word"),
        ("train:\n  run: x\n  seed: 9223372036854775808\n", r"run.yaml:3: train.seed: should be"),
        (
            "train: {run: x, schedule: inverse-sqrt}\n",
            r"run.yaml:1: train: schedule: inverse-sqrt needs a learning_rate",
        ),
        ("- a\n", r"run.yaml: should hold sections such as 'model:'"),
        ("extends: [a]\n", r"run.yaml:1: extends: should be a file name"),
        ("\nextends: none.yaml\n", r"run.yaml:2: extends: .*none.yaml: cannot be read \(No such"),
        ("extends: run.yaml\n", r"run.yaml: extends itself"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MuteError, match=message):
        load_config(written(tmp_path, text))


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, "model:\n  untis: 4\n  hedas: 2\n")
    with pytest.raises(MuteError) as caught:
        load_config(path)
    assert len(str(caught.value).splitlines()) == 2


def test_an_empty_file_is_all_defaults(tmp_path: Path) -> None:
    assert load_config(written(tmp_path, "")).model.d_model == 512


def test_a_number_with_an_exponent_is_a_number(tmp_path: Path) -> None:
    path = written(tmp_path, "train:\n  run: x\n  learning_rate: 1e-4\n")
    train = load_config(path).train
    assert train is not None
    assert train.learning_rate == 1e-4


def test_a_dumped_config_is_the_same(tmp_path: Path) -> None:
    text = {"source": "a", "target": "b"}
    data = {"source": "en", "target": "de", "prepared": "01", "train": [text], "dev": text}
    tests = {"08": text, "1e5": text, "null": text, "2026-11-17": text, "größe": text}
    config = Config.model_validate({"data": {**data, "test": tests}, "train": {"run": "12e4"}})
    assert load_config(written(tmp_path, dump_config(config))) == config


def test_another_preset_can_be_put_into_a_dumped_config(tmp_path: Path) -> None:
    config = Config.model_validate({"model": {"preset": "tiny", "d_ffn": 99}})
    path = written(tmp_path, dump_config(config))
    assert load_config(path) == config
    changed = load_config(path, ["model.preset=big"]).model
    assert (changed.d_model, changed.encoder_layers, changed.d_ffn) == (1024, 6, 99)


def test_the_home_may_be_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    config = load_config(written(tmp_path, "train: {run: ~/runs/x}\n"))
    assert config.train is not None
    assert config.train.run == "/home/me/runs/x"


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_bytes(b"model: \xff\n")
    with pytest.raises(MuteError, match="not UTF-8 at byte 7"):
        load_config(path)


def test_a_folder_is_told_with_the_config_of_the_run_in_it(tmp_path: Path) -> None:
    with pytest.raises(MuteError, match=r"is a folder; give a YAML file$"):
        load_config(tmp_path)
    (tmp_path / "config.yaml").touch()
    with pytest.raises(MuteError, match=r"is a folder; did you mean .*/config\.yaml\?$"):
        load_config(tmp_path)


def test_a_file_extends_another_key_by_key(tmp_path: Path) -> None:
    written(tmp_path, "model:\n  units: 2\n  d_ffn: 99\n", "base.yaml")
    path = written(tmp_path, "extends: base.yaml\nmodel:\n  units: 3\n")
    model = load_config(path).model
    assert (model.units, model.d_ffn) == (3, 99)


def test_a_mistake_in_the_extended_file_names_that_file(tmp_path: Path) -> None:
    written(tmp_path, "model:\n  untis: 2\n", "base.yaml")
    path = written(tmp_path, "extends: base.yaml\nmodel:\n  units: 3\n")
    with pytest.raises(MuteError, match=r"base.yaml:2: model.untis"):
        load_config(path)


def test_overrides_win_in_their_order(tmp_path: Path) -> None:
    path = written(tmp_path, "model:\n  units: 2\n")
    model = load_config(path, ["model.units=3", "model.units=5", "model.bias=[mask]"]).model
    assert (model.units, model.bias) == (5, ("mask",))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.untis=3", r"--set model.untis=3: model.untis: unknown key; did you mean 'units'"),
        ("model.units", "should look like model.units=4"),
        ("model..units=3", "should look like model.units=4"),
        ("model.units=x", r"--set model.units=x: model.units: should be a valid integer, not 'x'"),
        ("model.units=[", r"--set model.units=\[: not valid YAML: "),
        ("model={units: 4, units: 2}", r"2}: units: given twice"),
        ("model=&a {x: *a}", r"--set model=&a {x: \*a}: nested too deeply"),
    ],
)
def test_a_wrong_override_is_told_as_it_was_typed(
    tmp_path: Path, override: str, message: str
) -> None:
    with pytest.raises(MuteError, match=message):
        load_config(written(tmp_path, ""), [override])


def test_a_section_that_was_changed_is_the_work_of_the_file_and_of_all_changes(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, "model:\n  sequential: true\n  units: 4\n")
    changes = ["model.units=1", "train.run=x"]
    with pytest.raises(MuteError, match=r"run.yaml:1, --set model.units=1: model: sequential need"):
        load_config(path, changes)


def test_below_what_was_replaced_nothing_has_a_place_in_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "model:\n  bias:\n  - swap\n  units: 2\n")
    with pytest.raises(MuteError, match=r"^--set model.bias=\[swop\]: model.bias.0: "):
        load_config(path, ["model.bias=[swop]"])


def test_a_key_that_is_given_twice_is_told_once(tmp_path: Path) -> None:
    path = written(tmp_path, "model:\n  units: 2\nmodel:\n  units: 3\n")
    with pytest.raises(MuteError, match=rf"^{path}:3: model: given twice$"):
        load_config(path)


@pytest.mark.parametrize("name", ["2026-11-16", "2026-13-01"])
def test_a_date_is_a_name_like_any_other(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, f"train: {{run: {name}}}\n")
    for config in (load_config(path), load_config(path, [f"train.run={name}"])):
        assert config.train is not None
        assert config.train.run == name


@pytest.mark.parametrize(("written_as", "value"), [("010", 10), ("-0", 0), ("+7", 7), ("3", 3)])
def test_numbers_mean_what_they_look_like(tmp_path: Path, written_as: str, value: int) -> None:
    text = f"train: {{run: x, steps: 5, clip: 1.5, seed: {written_as}}}\n"
    config = load_config(written(tmp_path, text))
    assert config.train is not None
    assert config.train.seed == value
    assert config.train.clip == 1.5


@pytest.mark.parametrize("units", ["4:30", "0b_", "!!int abc", "0x4", "4_0"])
def test_what_is_no_plain_number_is_refused(tmp_path: Path, units: str) -> None:
    with pytest.raises(MuteError, match=r"run.yaml"):
        load_config(written(tmp_path, f"model: {{units: {units}}}\n"))
    with pytest.raises(MuteError, match=r"--set model.units="):
        load_config(written(tmp_path, "{}\n"), [f"model.units={units}"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model: &a [*a]\n", "nested too deeply"),
        ("model: " + "[" * 2000 + "]" * 2000, "nested too deeply"),
        ('extends: "c\\0.yaml"\n', "no file has such a name"),
    ],
    ids=["itself", "deep", "nul"],
)
def test_strange_files_are_told(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(MuteError, match=message):
        load_config(written(tmp_path, text))


def test_what_is_long_is_not_quoted_whole(tmp_path: Path) -> None:
    with pytest.raises(MuteError, match="should hold sections") as told:
        load_config(written(tmp_path, "word " * 10_000))
    assert len(str(told.value)) < 1000


def test_a_base_in_the_home_of_nobody_is_told_with_its_place(tmp_path: Path) -> None:
    file = written(tmp_path, "extends: ~nobody-of-this-name/base.yaml\n")
    with pytest.raises(MuteError, match=r"run\.yaml:1: extends: ~nobody-of-this-name/base\.yaml: "):
        load_config(file)


def test_null_takes_back_a_test_set_of_the_extended_file(tmp_path: Path) -> None:
    text = "{source: a.en, target: a.de}"
    written(
        tmp_path,
        f"data: {{source: en, target: de, prepared: x, train: [{text}], dev: {text}, "
        f"test: {{old: {text}, kept: {text}}}}}\n",
        "base.yaml",
    )
    own = written(tmp_path, f"extends: base.yaml\ndata: {{test: {{old: null, mine: {text}}}}}\n")
    one, all_of_them = load_config(own), load_config(own, ["data.test=null"])
    assert one.data is not None
    assert list(one.data.test) == ["kept", "mine"]
    assert all_of_them.data is not None
    assert all_of_them.data.test == {}


def test_a_link_that_leads_to_itself_is_told(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(MuteError, match=r"loop: cannot be read"):
        load_config(loop)
    with pytest.raises(MuteError, match=r"train\.run: .*loop"):
        load_config(written(tmp_path, ""), [f"train.run={loop}"])


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("train: {run: r}\n", "data"),
        (
            "data: {source: en, target: de, prepared: x, train: [{tsv: a}], dev: {tsv: b}}\n",
            "train",
        ),
    ],
)
def test_what_training_needs_is_told_to_be_missing(text: str, lacks: str, tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(text)
    load_config(tmp_path / "run.yaml")
    with pytest.raises(MuteError, match=rf"run\.yaml: {lacks}: is missing$"):
        load_experiment(tmp_path / "run.yaml")
