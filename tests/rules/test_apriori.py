"""Statements set all at once do what they do one after the other."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random

import numpy as np
import pytest

import diskret as dk
from diskret.model.status import Status

WORDS = ("s", "u", "p", "m", "c", "pl")
REGION = dk.Hierarchy.from_nested({"T": {"A": ["a1"], "B": ["b1", "b2"], "C": {"Cc": ["c1"]}}})
STATUSES = ("open", "primary", "secondary", "never", "published")


def one_by_one(table: dk.Table, lines: list[tuple[str, str, str, float, float]], expand: bool) -> dict[str, object]:
    """The same in a loop, cell by cell, as tau-ARGUS goes through a file."""
    status = {cell: Status(int(table.status.flat[cell])) for cell in range(table.size)}
    levels: dict[int, tuple[float, float]] = {}
    prices: dict[int, float] = {}
    wrong = 0
    for region, size, word, first, second in lines:
        for r in same(table.by["region"], region) if expand else [region]:
            for s in same(table.by["size"], size) if expand else [size]:
                cell = int(np.ravel_multi_index(table.index(r, s), table.shape))
                old = status[cell]
                if word == "c":
                    prices[cell] = first
                elif word == "pl":
                    if old is Status.PRIMARY:
                        levels[cell] = (first, second)
                    wrong += old is not Status.PRIMARY
                elif (old, word) in REFUSED:
                    wrong += 1
                else:
                    status[cell] = old if (old, word) in KEPT else NEW[word]
                    if word in "su":
                        levels.pop(cell, None)
    return {"status": status, "levels": levels, "prices": prices, "wrong": wrong}


NEW = {"s": Status.OPEN, "u": Status.PRIMARY, "p": Status.NEVER, "m": Status.SECONDARY}
REFUSED = {
    (Status.NEVER, "u"), (Status.PUBLISHED, "u"), (Status.PRIMARY, "p"), (Status.SECONDARY, "p"),
    (Status.PRIMARY, "m"), (Status.NEVER, "m"), (Status.PUBLISHED, "m"),
}  # fmt: skip
KEPT = {(Status.PUBLISHED, "s"), (Status.PUBLISHED, "p"), (Status.ZERO, "s")}


def same(tree: dk.Hierarchy, code: str) -> list[str]:
    """Codes that are the same cell as a code: up while it is an only part, down while it has one part."""
    found, at = [code], code
    while (up := tree.parents[tree.index(at)]) >= 0 and len(tree.part_index[up]) == 1:
        at = tree.codes[up]
        found.append(at)
    at = code
    while len(tree.parts(at)) == 1:
        at = tree.parts(at)[0]
        found.append(at)
    return found


@pytest.mark.parametrize("seed", range(30))
def test_statements_set_at_once_are_statements_set_one_by_one(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    leaves = [(r, s) for r in ("a1", "b1", "b2", "c1") for s in ("1", "2")]
    values = [0 if random.random() < 0.2 else random.randint(1, 99) for _ in leaves]
    cells = {
        "region": [r for r, _ in leaves],
        "size": [s for _, s in leaves],
        "x": values,
        "st": ["zero" if x == 0 else random.choice(STATUSES) for x in values],
    }
    table = dk.Table.from_cells(cells, by={"region": REGION, "size": None}, value="x", status="st")
    lines = [
        (random.choice(REGION.codes), random.choice(["1", "2", "Total"]), random.choice(WORDS),
         float(random.randint(1, 9)), float(random.randint(0, 9)))
        for _ in range(random.randint(1, 60))
    ]  # fmt: skip
    text = "".join(f"{r};{s};{w};{x:g};{y:g}\n" for r, s, w, x, y in lines)
    (tmp_path / "own.hst").write_text(text, encoding="utf-8")
    expand = bool(seed % 2)
    wanted = one_by_one(table, lines, expand)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = dk.read_apriori(tmp_path / "own.hst", classifications=2)
        found = dk.apply_apriori(table, said, expand=expand, errors="ignore", prices=np.full(table.shape, np.nan))
    assert {cell: Status(int(s)) for cell, s in enumerate(found.status.flat)} == wanted["status"]
    below = np.zeros(table.size) if found.below is None else found.below.reshape(-1)
    above = np.zeros(table.size) if found.above is None else found.above.reshape(-1)
    levels = {c: (b, a) for c, (b, a) in enumerate(zip(below.tolist(), above.tolist(), strict=True)) if b or a}
    assert levels == wanted["levels"]
    weight = np.full(table.size, np.nan) if found.weight is None else found.weight.reshape(-1)
    assert {c: w for c, w in enumerate(weight.tolist()) if not np.isnan(w)} == wanted["prices"]
