"""What the studies are: which systems, how many seeds, how long. The one place to read or change.

A study runs on any task, a folder of configs with a file for each of the paper's systems. On the
paper's own tasks every study has the config's own budget, that is the paper's. On the small tasks,
those have it too that look at what takes long to settle: `main` and what is made of its models, and
the order of the units. The others have a smaller one on Multi30k and Tatoeba, stated here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mute.config import BIASES
from mute.errors import MuteError

PAPER_TASKS: Mapping[str, int] = {
    "wmt14-en-de": 4 * 4096,
    "wmt18-zh-en": 4 * 4096,
    "nist-zh-en": 2 * 4096,
}
"""The tasks of the paper, and the tokens of a step there, of all GPUs; all others are small."""
BASELINE = "relative"
"""The system that the others are tested against, as in the paper."""
SMALL_BUDGET: Mapping[str, tuple[str, ...]] = {
    "multi30k": (
        "train.steps=1200",
        "train.warmup=400",
        "train.validate_every=300",
        "train.save_every=300",
    ),
    "tatoeba": ("train.steps=2000",),
}
"""Settings of the runs of most studies on the small tasks, of which there are many."""

_ALWAYS = 1.0
_PAPER_RATES = (0.5, 0.75, 0.85, _ALWAYS)


@dataclass(frozen=True)
class System:
    """One row of a table: a config of the task, and what is changed in it."""

    name: str
    """In file names: seq, no-swap."""
    label: str
    """In tables."""
    config: str
    """The config's file name in the task's folder, without .yaml."""
    changes: tuple[str, ...] = ()
    """Settings, such as model.units=6."""
    paper_tasks_only: bool = False
    one_seed: bool = False
    """Trained once, with the first seed, where the others have several."""
    baseline: str = ""
    """The system that its differences are from, if not the study's."""


@dataclass(frozen=True)
class Study:
    """A grid of runs, systems × seeds, and what is looked at in them."""

    name: str
    shows: str
    """What it shows, and where the paper has it, in one line."""
    systems: Sequence[System]
    seeds: tuple[int, ...] = (1,)
    budget: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: SMALL_BUDGET)
    """Settings by task; one that is not named has its config's own."""
    baseline: str = BASELINE
    """The system that differences are from, but for those systems that name another."""
    measures: tuple[str, ...] = ()
    """What is measured when all runs are finished: names of `mute.studies.measures`."""
    figures: tuple[str, ...] = ("curves",)
    """Names of `mute.studies.figures`."""
    only_task: str = ""
    """The task whose settings it is about, if it says nothing of others."""

    def baseline_of(self, system: System) -> str:
        """The system that another's differences are from."""
        return system.baseline or self.baseline

    def systems_for(self, task: str) -> list[System]:
        """The systems that take part on a task."""
        return [
            system for system in self.systems if task in PAPER_TASKS or not system.paper_tasks_only
        ]


TRANSFORMER = System("transformer", "Transformer", "transformer")
RELATIVE = System("relative", "+ Relative", "relative")
BIG = System("big", "+ Relative (Big)", "big", paper_tasks_only=True)
MUTE = System("mute", "MUTE", "mute")
BIAS = System("bias", "MUTE + Bias", "bias")
SEQ = System("seq", "MUTE + Bias + Seq", "seq")


def _without(bias: str) -> System:
    """The full model without one of its units."""
    rest = ", ".join(each for each in BIASES if each != bias)
    changes = (f"model.units={len(BIASES) - 1}", f"model.bias=[{rest}]")
    return System(f"no-{bias}", f"− {bias} unit", "seq", changes)


def _units(count: int) -> System:
    label = "1 unit" if count == 1 else f"{count} units"
    return System(f"units{count}", label, "mute", (f"model.units={count}",))


def _rates(of: System) -> list[System]:
    """The system at every rate, each against the one whose bias always acts, as in the paper."""
    return [
        System(
            f"{of.name}-{rate}",
            f"{of.label}, {rate}",
            of.name,
            (f"model.sample_rate={rate}",),
            baseline=f"{of.name}-{_ALWAYS}",
        )
        for rate in _PAPER_RATES
    ]


def _sharing(part: str, label: str) -> System:
    return System(f"shared-{part}", label, "mute", (f"model.shared={part}",))


# A batch has sentences of nearly one length, for little padding; steps of the same size that are
# made of several learn what suits more than one length.
_MIXED_LENGTHS = ("train.batch_tokens=512", "train.accumulate=4")
_NO_SINUSOIDS = "model.sinusoidal_positions=false"
# Name, label and settings of other ways to train a small task.
_RECIPES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    # Fewer and larger steps, nearer to how scores on Multi30k are published.
    (
        "4096",
        "dropout 0.3, large batches",
        (
            "model.dropout=0.3",
            "train.batch_tokens=4096",
            "train.steps=4500",
            "train.learning_rate=5e-3",
            "train.average_decay=0.998",
            "train.penalty_weight=2.5e-4",
            "train.validate_every=250",
            "train.save_every=250",
        ),
    ),
    ("mixed", "mixed lengths", _MIXED_LENGTHS),
    # The paper has relative positions because absolute ones would give swap and disorder away; the
    # authors' configs, and all others here, keep the sinusoids beside them. The schedule does not
    # know the end, so the others' curves tell where they were after as many steps.
    ("no-sinusoids", "relative positions alone", (_NO_SINUSOIDS, "train.steps=4000")),
    # The weight that its authors found best for translation. Every batch passes twice, and with
    # 5,000 passes the others are nearly done.
    ("r-drop", "R-Drop", ("train.r_drop=5", "train.steps=2500")),
    # Proximal initialisation (Fan et al. 2020): all units start as copies of a trained one, that of
    # `mute train configs/multi30k/relative.yaml`; the baseline goes on from the same for as long.
    ("proximal", "from a trained + Relative", ("train.start_from=runs/multi30k-relative/model",)),
    # Captions are short: within 4 words of one another, or as far as 16, which all others have.
    ("clip-4", "clipped at 4", ("model.relative_positions=4", "train.steps=2000")),
)


def _by_recipe(name: str, label: str, changes: tuple[str, ...], text: str = "") -> list[System]:
    """The baseline and the full model trained in another way, the one compared with the other.

    Args:
        name: in file names
        label: in tables
        changes: settings
        text: what the file names of their configs have behind the system, if on other text
    """
    return [
        System(
            f"{of.name}-{name}",
            f"{of.label}, {label}",
            f"{of.config}{text}",
            changes,
            baseline=f"{BASELINE}-{name}",
        )
        for of in (RELATIVE, SEQ)
    ]


# Every unit has dropout of its own, so its noise in the mean of four has a quarter of the variance;
# leaving out whole units makes up for it (Fan et al. 2020).
_DROP_BRANCH = System(
    f"{SEQ.name}-drop-branch",
    f"{SEQ.label}, mixed lengths, drop-branch 0.3",
    SEQ.config,
    (*_MIXED_LENGTHS, "model.drop_branch=0.3"),
    baseline=f"{BASELINE}-mixed",
)


# Four units lead where there is text enough; a small task can have more of it without any new: what
# models of its own, one in each direction, make of it (Nguyen et al. 2020). The recipes that have
# files: their text has to be made and prepared first, as relative-diverse.yaml says, and
# relative-more-diverse.yaml for that of two models in each direction. At 6,000 steps both systems
# still learn from it, hence the longer runs. The models that made the text had seen its other side,
# so the wording has grown but not the words: the sentences of another task bring some, as
# relative-diverse-tatoeba.yaml says.
_MORE_TEXT: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("diverse", "diversified text", (), "-diverse"),
    ("diverse-long", "diversified text, longer", ("train.steps=9000",), "-diverse"),
    (
        "more-diverse",
        "text diversified more, 12,000 steps",
        ("train.steps=12000",),
        "-more-diverse",
    ),
    (
        "diverse-tatoeba",
        "diversified text and Tatoeba, 12,000 steps",
        ("train.steps=12000",),
        "-diverse-tatoeba",
    ),
)


_ALL = (
    Study(
        "main",
        "BLEU of the paper's systems, with parameters and significance (Tables 1–3)",
        (TRANSFORMER, RELATIVE, BIG, MUTE, BIAS, SEQ),
        seeds=(1, 2, 3),
        budget={},
    ),
    Study(
        "ablation",
        "the full model without each unit, the bias, the sequential dependency (Table 4)",
        (
            SEQ,
            *(_without(bias) for bias in BIASES),
            System("no-bias", "− bias module", "seq", ("model.bias=[]",)),
            System("no-seq", "− sequential dependency", "bias"),
        ),
        baseline=SEQ.name,
    ),
    Study(
        "averaging",
        "several units against averages of checkpoints and of seeds (Table 5)",
        (RELATIVE, replace(MUTE, one_seed=True), replace(SEQ, one_seed=True)),
        seeds=(1, 2, 3, 4, 5),
        budget={},
        measures=("across_seeds",),
    ),
    Study(
        "diversity",
        "how much the units differ when they share attention, FFN or nothing (Table 6)",
        (
            SEQ,
            BIAS,
            System("mute", "4 Self. + 4 FFN", "mute"),
            _sharing("ffn", "4 Self. + 1 FFN"),
            _sharing("attention", "1 Self. + 4 FFN"),
        ),
        baseline=MUTE.name,
        measures=("diversity",),
    ),
    Study(
        "units",
        "BLEU and translation speed with 1 to 6 units (Figure 2)",
        tuple(_units(count) for count in range(1, 7)),
        baseline="units1",
        measures=("speed",),
        figures=("curves", "units"),
    ),
    Study(
        "weights",
        "the weight of every unit in every layer (Figure 3)",
        (MUTE, BIAS, SEQ),
        budget={},
        baseline=MUTE.name,
        figures=("weights",),
    ),
    Study(
        "sample-rate",
        "how often the bias acts: 0.5, 0.75, 0.85 or always (Figure 4)",
        (*_rates(BIAS), *_rates(SEQ)),
        baseline="bias-1.0",
        figures=("curves", "sample_rate"),
    ),
    Study(
        "case",
        "the attention of all units to one sentence (Figure 5)",
        (MUTE, BIAS, SEQ),
        budget={},
        baseline=MUTE.name,
        measures=("attention",),
        figures=(),
    ),
    Study(
        "permutation",
        "AutoShuffle against a fixed order, none, no penalty, rounding and every other order",
        (
            System("seq", "AutoShuffle", "seq"),
            System("fixed", "fixed order", "seq", ("model.order=fixed",)),
            System("no-penalty", "AutoShuffle, lambda 0", "seq", ("train.penalty_weight=0",)),
            System("bias", "no order", "bias"),
        ),
        budget={},
        baseline="bias",
        measures=("orders",),
        figures=("curves", "weights"),
    ),
    Study(
        "recipe",
        "how to train a small task: dropout, batches, positions, R-Drop, more text (not the paper)",
        (
            RELATIVE,
            SEQ,
            *(system for each in _RECIPES for system in _by_recipe(*each)),
            _DROP_BRANCH,
            *(system for each in _MORE_TEXT for system in _by_recipe(*each)),
        ),
        budget={},
        only_task="multi30k",
    ),
)
STUDIES: Mapping[str, Study] = {study.name: study for study in _ALL}


def find_study(name: str) -> Study:
    """A study by its name.

    Raises:
        MuteError: there is none of that name.
    """
    if name not in STUDIES:
        raise MuteError(f"'{name}' is no study; there are {', '.join(STUDIES)}")
    return STUDIES[name]
