import re
import tomllib
from pathlib import Path

from mute.errors import install

ROOT = Path(__file__).parents[2]


def test_an_optional_part_is_installed_from_the_checkout() -> None:
    assert install("serve") == "pip install -c constraints.txt -e '.[serve]'"


def test_every_optional_part_that_is_named_is_there() -> None:
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r"\binstall\('(\w+)'\)", source))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert named
    assert named <= extras["optional-dependencies"].keys()
