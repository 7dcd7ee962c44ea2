"""`python tests/docs/with_extra.py docs mkdocs build ...`: a module, run with nothing but what one extra installs.

Whoever tests has more installed than who only builds the site: every other package is hidden, as if it were not there.
"""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from collections.abc import Iterable
from importlib.abc import MetaPathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"([\w.-]+)(?:\[([\w,-]*)\])?")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_by(needs: Iterable[str]) -> set[str]:
    """The packages that installing these brings along; what a marker asks for counts as brought."""
    found: set[str] = set()
    waiting = [(need, "") for need in needs]
    while waiting:
        need, wanted = waiting.pop()
        asked = re.search(r"extra *== *['\"]([^'\"]+)", need)
        matched = NAME.match(need)
        if matched is None or (asked and asked[1] not in wanted.split(",")) or normal(matched[1]) in found:
            continue
        found.add(normal(matched[1]))
        try:
            waiting += [(more, matched[2] or "") for more in requires(matched[1]) or []]
        except PackageNotFoundError:  # of another system
            continue
    return found


class Hidden(MetaPathFinder):
    """Refuses modules that no package of the extra brings."""

    def __init__(self, extra: str) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        there = installed_by([*project["dependencies"], *project["optional-dependencies"][extra]]) | {"diskret"}
        owners = packages_distributions()
        self.names = {name for name, of in owners.items() if not {normal(each) for each in of} & there}

    def find_spec(self, name: str, *_: Any) -> None:
        """Nothing is found, only refused."""
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


if __name__ == "__main__":
    sys.meta_path.insert(0, Hidden(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
