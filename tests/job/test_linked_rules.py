"""Linked tables as tau-ARGUS means them: over the same records or from several files, each with rules of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import diskret as dk
from diskret.job.outcome import JobResult
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.model.errors import DiskretError

RECORDS = [
    (r, s, t, 10 + 7 * i % 23 + 90 * (i == 5), 1 + i % 4)
    for i, (r, s, t) in enumerate((r, s, t) for r in "abc" for s in "12" for t in "xyz" for _ in range(2))
]


def run(folder: Path, **sections: Any) -> JobResult:
    lines = "".join(f"{r},{s},{t},{v},{c}\n" for r, s, t, v, c in RECORDS)
    (folder / "firms.csv").write_text(f"region,size,type,x,price\n{lines}", encoding="utf-8")
    content: dict[str, Any] = {
        "data": {"microdata": "firms.csv"},
        "table": {"value": "x"},
        "tables": {
            "sizes": {"by": ["region", "size"]},
            "types": {"by": ["type", "region"]},
            "regions": {"by": ["region"]},
        },
        "rules": {"p_percent": 10},
    }
    return run_job(job_from(content | sections, "job", folder), folder, write=False)


def test_cells_with_the_same_codes_are_one_cell_wherever_a_table_stands_at_a_total(tmp_path: Path) -> None:
    pool = run(tmp_path).pools["x"]
    assert isinstance(pool, dk.Pool)
    names = {name: [pool.name_of(int(c)) for c in cells] for name, cells in pool.cells_of.items()}
    assert names["regions"] == ["region=a", "region=b", "region=c", "region=Total, size=Total, type=Total"]
    assert set(names["sizes"]) & set(names["types"]) == set(names["regions"])
    by_codes = {name: float(pool.value[i]) for i, name in enumerate(map(pool.name_of, range(pool.size)))}
    for name, cells in pool.cells_of.items():
        shown = pool.tables[name].value.reshape(-1).tolist()
        assert [by_codes[each] for each in names[name]] == shown, cells


def test_every_table_is_marked_by_its_own_rules_and_protected_with_the_others(tmp_path: Path) -> None:
    tables = {
        "sizes": {"by": ["region", "size"], "rules": {"min_count": 7}},
        "types": {"by": ["type", "region"]},
    }
    done = run(tmp_path, tables=tables, suppression={})
    sizes, types = done.tables["sizes"], done.tables["types"]
    assert (sizes.rules, types.rules) == (("given", "minimum count"), ("given", "p%"))
    inner = sizes.status[:3, :2]
    assert (inner == dk.Status.PRIMARY).all()  # six firms in every cell
    assert (types.status[:3, :3] == dk.Status.PRIMARY).sum() < 9
    shown = {name: {done.tables[name].codes(at) for at, _ in done.tables[name].marks()} for name in tables}
    regions = {r for r, s in shown["sizes"] if s == "Total"}
    assert regions == {r for t, r in shown["types"] if t == "Total"}
    assert done.suppressions["x"].audit is not None
    assert done.suppressions["x"].audit.safe


def test_a_mistake_in_the_rules_of_one_table_is_named_there(tmp_path: Path) -> None:
    tables = {"a": {"by": ["region"], "rules": {"dominance": [[0, 85]]}}, "b": {"by": ["region", "size"]}}
    with pytest.raises(DiskretError, match=r"tables\.a\.rules\.dominance"):
        run(tmp_path, tables=tables)


def test_a_column_of_the_records_adds_up_to_the_prices_of_the_cells(tmp_path: Path) -> None:
    cost = {"by": "given", "power": 0.5}
    done = run(tmp_path, table={"value": "x", "cost": "price"}, suppression={"cost": cost})
    pool = done.pools["x"]
    assert isinstance(pool, dk.Pool)
    assert pool.weight is not None
    assert pool.weight[pool.cells_of["regions"]].tolist() == [30.0, 30.0, 30.0, 90.0]
    wanted = dk.Cost(by="given", power=0.5).of(done.tables["regions"])
    assert wanted.tolist() == [30.0**0.5, 30.0**0.5, 30.0**0.5, 90.0**0.5]


def test_prices_of_a_frequency_table_are_added_up_too() -> None:
    firms = {"s": ["a", "a", "b"], "c": [1, 2, 5]}
    counts = dk.tabulate(firms, by={"s": None}, roles=dk.Roles(cost="c"))
    assert counts.weight is not None
    assert (counts.value.tolist(), counts.weight.tolist()) == ([2.0, 1.0, 3.0], [3.0, 5.0, 8.0])


def test_several_files_of_cells_share_the_cells_of_their_margins(tmp_path: Path) -> None:
    _tab(tmp_path, "one", ["region"], "a;3;U\nb;20;S\nc;30;S\nTotal;53;S\n")
    cells = "".join(f"{r};{s};{v};S\n" for r, s, v in _two_ways())
    _tab(tmp_path, "two", ["region", "size"], cells)
    done = run(
        tmp_path,
        tables={n: {"data": {"cells": f"{n}.tab", "metadata": f"{n}.rda"}} for n in ("one", "two")},
        data=None, table={}, rules={}, suppression={},
    )  # fmt: skip
    two = done.tables["two"]
    assert two.status[two.index("a", "Total")] == dk.Status.PRIMARY
    assert done.suppressions["x"].audit is not None
    assert done.suppressions["x"].audit.safe


def _two_ways() -> list[tuple[str, str, int]]:
    inner = {("a", "1"): 1, ("a", "2"): 2, ("b", "1"): 12, ("b", "2"): 8, ("c", "1"): 14, ("c", "2"): 16}
    return [(r, s, v) for (r, s), v in inner.items()]


def _tab(folder: Path, name: str, by: list[str], cells: str, total: str = "Total") -> None:
    head = "".join(f'{n}\n<RECODEABLE>\n<TOTCODE> "{total}"\n' for n in by)
    (folder / f"{name}.rda").write_text(f'<SEPARATOR> ";"\n{head}x\n<NUMERIC>\nst\n<STATUS>\n', encoding="utf-8")
    (folder / f"{name}.tab").write_text(cells, encoding="utf-8")


def test_methods_that_do_not_look_at_distances_say_so() -> None:
    cells = {"s": ["a", "b", "c"], "x": [1, 5, 9], "st": ["primary", "open", "open"]}
    table = dk.Table.from_cells(cells, by={"s": None}, value="x", status="st")
    with pytest.warns(dk.ProtectionWarning, match="does not look at distances"):
        dk.suppress(table, method=dk.methods.Moves(cost=dk.Cost(by="unity", distance={"s": 1})))


def test_cells_of_tables_without_prices_are_not_free(tmp_path: Path) -> None:
    tables = {"sizes": {"by": ["region", "size"], "cost": "price"}, "types": {"by": ["type", "region"]}}
    for cost, wanted in (("given", 1.0), ("value", 0.0)):
        done = run(tmp_path, tables=tables, suppression={"cost": cost})
        pool, types = done.pools["x"], done.tables["types"]
        assert isinstance(pool, dk.Pool)
        assert pool.weight is not None
        own = pool.weight[pool.cells_of["types"]].reshape(types.shape)[:3, :3]
        assert (own == types.value[:3, :3] ** wanted).all()
