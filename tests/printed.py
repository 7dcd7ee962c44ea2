"""The printed tables of the Quaderverfahren, as tables of ours: for the tests of suppression and auditing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskret import Hierarchy, Status, Table
from diskret.model.contributors import Contributors

GOLDEN = Path(__file__).parent / "golden" / "quader"


@dataclass(frozen=True)
class Printed:
    """A golden file: the table as it stands before protection, and the file itself."""

    table: Table
    content: dict[str, Any]

    def names(self, cells: Any) -> set[tuple[str, ...]]:
        """Codes of the cells where an array is true."""
        return {self.table.codes(tuple(int(i) for i in at)) for at in np.argwhere(cells)}

    def expected(self, *keys: str) -> set[tuple[str, ...]]:
        """Cells the file expects, under the first of the keys that it has."""
        found = next(self.content["expected"][k] for k in keys if k in self.content["expected"])
        return self.codes(found)

    @staticmethod
    def codes(cells: Iterable[Any]) -> set[tuple[str, ...]]:
        found = [(c["at"] if "at" in c else c["coord"]) if isinstance(c, dict) else c for c in cells]
        return {tuple(str(code) for code in c) for c in found}

    def expected_unknowns(self) -> set[tuple[str, ...]]:
        """The suppressed cells of a counter-example."""
        return {tuple(str(c) for c in codes) for codes in self.content["expected"]["unknown_names"].values()}

    def with_counts(self, counts: dict[tuple[str, ...], int]) -> Table:
        count = self.table.count.copy()
        for codes, n in counts.items():
            count[self.table.index(*codes)] = n
        return replace(self.table, respondents=Contributors(count))


ReadPrinted = Callable[[str], Printed]
ReadFile = Callable[[str], dict[str, Any]]


def _hierarchy(said: dict[str, Any]) -> Hierarchy:
    keys = ("sequence", "codes", "printed_order", "order")
    codes = next((said[k] for k in keys if said.get(k)), None) or [*said["interior"], said["total"]]
    codes = [str(c) for c in codes]
    if "level" in said:
        levels = {str(k): v for k, v in said["level"].items()}
        lowest = min(levels.values())
        return Hierarchy.from_levels(codes, [levels[c] - lowest + 1 for c in codes])
    tree = said.get("tree") or {codes[-1]: codes[:-1]}
    up = {str(part): str(whole) for whole, parts in tree.items() for part in parts}
    depth = {c: len(_chain(c, up)) for c in codes}
    return Hierarchy.from_levels(codes, [max(depth.values()) - depth[c] + 1 for c in codes])


def _chain(code: str, up: dict[str, str]) -> list[str]:
    return [code, *_chain(up[code], up)] if code in up else [code]


@pytest.fixture(scope="session")
def printed() -> ReadPrinted:
    def load(name: str) -> Printed:
        content = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
        said = content["table"]
        dims = said.get("dimensions") or said["dims"]
        by = {d["name"]: _hierarchy(d) for d in dims}
        shape = tuple(len(h) for h in by.values())
        value, count = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        status = np.zeros(shape, dtype=np.uint8)
        bounds = np.full((*shape, 2), np.nan)
        for cell in said["cells"]:
            codes = [str(c) for c in cell.get("at") or cell["coord"]]
            at = tuple(h.index(c) for h, c in zip(by.values(), codes, strict=True))
            value[at], count[at] = cell["value"], cell.get("contributors") or 0
            status[at] = Status.PRIMARY if cell["status"] == "primary" else Status.OPEN
            bounds[at] = [np.nan if b is None else b for b in cell.get("bounds", (None, None))]
        lower, upper = bounds[..., 0], bounds[..., 1]
        known = np.isfinite(lower).any()
        table = Table(
            by, "value", value, status,
            Contributors(count) if count.any() else None,
            lower=np.where(np.isnan(lower), 0.0, lower) if known else None,
            upper=np.where(np.isnan(upper), np.inf, upper) if known else None,
        )  # fmt: skip
        return Printed(table, content)

    return load


@pytest.fixture(scope="session")
def printed_vectors() -> Callable[[str], list[dict[str, Any]]]:
    def load(name: str) -> list[dict[str, Any]]:
        content = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
        vectors: list[dict[str, Any]] = content["expected"]["vectors"]
        return vectors

    return load


@pytest.fixture(scope="session")
def printed_file() -> ReadFile:
    def load(name: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
        return content

    return load
