"""Linked tables: what one gives away about another is found, and nothing is given away after protection."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diskret as dk
from diskret import Hierarchy, Pool, Status, Table
from diskret.auditing.certificate import certificate_of
from diskret.model.errors import BadOption, LateTable, NothingShared, SharedCellsDiffer, UnknownCode, WrongSum
from diskret.moves.persons import persons_of, stand_behind
from diskret.suppression import by_turns
from diskret.suppression.result import Suppression

RULES = Path(__file__).parents[1] / "golden" / "rules"


def golden(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((RULES / f"{name}.json").read_text(encoding="utf-8"))
    return content


def flat(name: str, values: dict[str, float], hidden: dict[str, str] | None = None) -> Table:
    marks = [(hidden or {}).get(c, "open") for c in values]
    cells = {name: list(values), "x": list(values.values()), "status": marks}
    return Table.from_cells(cells, by={name: Hierarchy.flat(values)}, value="x", status="status")


def split_of(result: Suppression) -> dict[str, Table]:
    assert isinstance(result.table, Pool)
    return result.table.split()


# --- an attacker of our own: every equation written down cell by cell, every end found by its own programme ----------


Key = tuple[str, ...]


def ends(
    tables: dict[str, Table],
    fixed: dict[str, dict[str, str]] | None = None,
    known: frozenset[Key] = frozenset(),
    asked: set[Key] | None = None,
) -> dict[Key, tuple[float, float]]:
    """The interval of hidden cells of tables published together, by dictionaries and one programme per end.

    Cells are keyed by their codes in alphabetical order of the classifications; ``known`` ones somebody knows.
    """
    names = sorted({n for t in tables.values() for n in t.by} | {n for f in (fixed or {}).values() for n in f})
    value: dict[Key, float] = {}
    hidden: set[Key] = set()
    rows: set[tuple[tuple[Key, int], ...]] = set()
    for label, table in tables.items():
        pinned = (fixed or {}).get(label, {})
        for codes in product(*(h.codes for h in table.by.values())):
            key = placed(names, table, codes, pinned)
            value[key] = float(table.value[table.index(*codes)])
            if table.hidden[table.index(*codes)]:
                hidden.add(key)
            for axis, h in enumerate(table.by.values()):
                if h.parts(codes[axis]):
                    parts = [(*codes[:axis], p, *codes[axis + 1 :]) for p in h.parts(codes[axis])]
                    line = [(placed(names, table, p, pinned), 1) for p in parts]
                    rows.add(tuple(sorted([*line, (key, -1)])))
    hidden -= known
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    unknown = {k: model.addVariable(lb=0.0, ub=1e9) for k in sorted(hidden)}
    for row in sorted(rows):
        inside = [(k, c) for k, c in row if k in hidden]
        if inside:
            rest = sum(c * value[k] for k, c in row if k not in hidden)
            model.addConstr(sum(c * unknown[k] for k, c in inside) == -rest)
    found = {}
    for key in sorted(hidden if asked is None else hidden & asked):
        model.minimize(unknown[key])
        low = float(model.variableValue(unknown[key]))
        model.maximize(unknown[key])
        found[key] = low, float(model.variableValue(unknown[key]))
    return found


def placed(names: list[str], table: Table, codes: Key, pinned: dict[str, str]) -> Key:
    own = dict(zip(table.by, codes, strict=True))
    return tuple(own.get(n, pinned.get(n, "Total")) for n in names)


def key_of(pool: Pool, cell: int) -> Key:
    own = dict(zip(pool.names, pool.codes((cell,)), strict=True))
    return tuple(own[n] for n in sorted(pool.names))


# --- the two scenarios of the rules ----------------------------------------------------------------------------------


def test_a_sub_table_gives_away_what_its_main_table_hides_and_no_longer_after_protection() -> None:
    said = golden("linked_scenario2")
    recovered = said["expected"]["value_4522_recovered"]
    values = said["table"] | {"4522": recovered, "4523": said["expected"]["value_4523_from_subtable"]}
    main = flat("wz", values, {"4522": "primary", "4523": "secondary"})
    assert float(main.value[-1]) == said["table_total"]
    assert dk.audit(main).safe  # on its own it looks safe
    pool = Pool.of({"T": main, "sub": flat("region", said["subtable"])}, fixed={"sub": {"wz": "4523"}})
    (leak,) = dk.audit(pool).exposed
    assert (leak.cell, leak.exact, leak.lower) == ("wz=4522", True, recovered)
    assert leak.proof == "(wz=Total, region=Total along wz) + (wz=4523 along region)"
    result = dk.suppress(pool)
    assert result.audit is not None
    assert result.audit.safe
    low, high = ends(split_of(result), {"sub": {"wz": "4523"}})["Total", "4522"]
    assert low < recovered < high


def test_states_add_up_to_the_country_although_no_table_shows_both() -> None:
    said = golden("linked_scenario1")
    states = {row["unit"]: float(row["investment"] or 700_000) for row in said["table"][:-1]}
    # each state is a table of its own; only their sum over states is the country's
    tables = {s: flat("wz", {"4521": v, "4522": 5e6, "4523": 3e6}) for s, v in states.items()}
    tables["03 Berlin"] = tables["03 Berlin"].with_status(Status.PRIMARY, [["4521"]])
    tables["03 Berlin"] = dk.suppress(tables["03 Berlin"]).table
    assert dk.audit(tables["03 Berlin"]).safe
    whole = {wz: float(sum(t.value[t.index(wz)] for t in tables.values())) for wz in ("4521", "4522", "4523")}
    pool = Pool.of(
        tables | {"Germany": flat("wz", whole)},
        fixed={s: {"state": s} for s in states},
        over={"state": Hierarchy.flat(states)},
    )
    assert [e.cell for e in dk.audit(pool).exposed] == ["wz=4521, state=03 Berlin"]
    done = dk.suppress(pool)
    assert done.audit is not None
    assert done.audit.safe
    split = split_of(done)
    hidden = [s for s in [*states, "Germany"] if split[s].hidden[split[s].index("4521")]]
    assert len(hidden) >= said["expected"]["minimum_suppressed_parts_if_total_published"]


def test_a_margin_whose_counts_do_not_add_up_is_a_second_table_of_the_pool(printed: Any) -> None:
    said = printed("ch2-nonadditive-counts-pool")
    pooled = said.content["table"]["pool_table"]
    cells = {
        "column": [c["at"][0] for c in pooled["cells"]],
        "value": [c["value"] for c in pooled["cells"]],
        "n": [c["contributors"] for c in pooled["cells"]],
        "status": ["open" if c["status"] == "empty" else c["status"] for c in pooled["cells"]],
    }
    by = {"column": said.table.by["column"]}
    margin = Table.from_cells(cells, by=by, value="value", count="n", status="status")
    pool = Pool.of({"main": said.table, "margin": margin})
    assert int(pool.shared.sum()) == 4
    for method in (dk.methods.Cuboids(), dk.methods.Moves()):
        result = dk.suppress(pool, method=method)
        main = split_of(result)["main"]
        assert said.names(main.status == Status.SECONDARY) == said.codes(
            said.content["expected"]["after_alignment"]["secondary"]
        )
        assert result.audit is not None
        assert result.audit.safe


# --- what a pool is --------------------------------------------------------------------------------------------------

REGIONS = {"a": 10.0, "b": 20.0, "c": 30.0, "d": 40.0}


def in_two_groupings(status: str = "open") -> dict[str, Table]:
    """The same regions added up to districts, and to climate zones that cut across them."""
    cells = {"region": list(REGIONS), "x": list(REGIONS.values()), "status": [status, "open", "open", "open"]}
    districts = Hierarchy.from_nested({"Total": {"N": ["a", "b"], "S": ["c", "d"]}})
    zones = Hierarchy.from_nested({"Total": {"wet": ["a", "c"], "dry": ["b", "d"]}})
    return {
        name: Table.from_cells(cells, by={"region": h}, value="x", status="status")
        for name, h in (("districts", districts), ("zones", zones))
    }


def test_one_classification_in_two_groupings_is_one_set_of_cells_with_the_equations_of_both() -> None:
    pool = Pool.of(in_two_groupings())
    assert pool.size == 9
    assert int(pool.shared.sum()) == 5
    assert pool.system.rows == 6
    assert (pool.system.times(pool.value) == 0).all()


def test_a_pattern_that_is_safe_in_each_grouping_leaks_through_both() -> None:
    tables = in_two_groupings("primary")
    tables = {
        "districts": tables["districts"].with_status(Status.SECONDARY, [["b"]]),
        "zones": tables["zones"].with_status(Status.SECONDARY, [["b"], ["wet"], ["dry"]]),
    }
    assert dk.audit(tables["districts"]).safe
    pool = Pool.of(tables)
    assert dk.audit(pool).safe
    opened = Pool.of({"districts": tables["districts"], "zones": in_two_groupings("primary")["zones"]})
    (leak,) = dk.audit(opened).exposed
    assert leak.proof == "(region=wet along region as in zones)"


def test_primary_anywhere_is_primary_everywhere_and_the_tables_come_back_with_one_pattern() -> None:
    tables = in_two_groupings()
    tables["zones"] = tables["zones"].with_status(Status.PRIMARY, [["a"]])
    result = dk.suppress(Pool.of(tables))
    split = split_of(result)
    for code in (*REGIONS, "Total"):
        assert (
            split["zones"].status[split["zones"].index(code)]
            == split["districts"].status[split["districts"].index(code)]
        )
    assert split["districts"].status[0] == Status.PRIMARY


def test_an_insider_is_the_same_person_in_all_tables() -> None:
    # whoever is alone in (a; s) is alone in a: he must not find out (b; s) through the other table
    by = {"region": Hierarchy.flat("ab"), "size": Hierarchy.flat("sl")}
    cells = {"region": list("aabb"), "size": list("slsl"), "x": [5, 0, 7, 90], "n": [1, 0, 2, 30]}
    fine = Table.from_cells(cells, by=by, value="x", count="n")
    cells = {"region": list("ab"), "x": [5, 97], "n": [1, 32]}
    coarse = Table.from_cells(cells, by={"region": by["region"]}, value="x", count="n")
    fine = fine.with_status(Status.PRIMARY, [["a", "s"], ["b", "s"], ["a", "Total"]])
    pool = Pool.of({"fine": fine, "coarse": coarse})
    persons = persons_of(pool)
    assert persons[pool.index("a", "s")] == persons[pool.index("a", "Total")] >= 0
    behind = stand_behind(pool, persons, np.arange(pool.size))[:, 0]
    assert {pool.codes((c,)) for c in np.flatnonzero(behind).tolist()} == {
        ("a", "s"), ("a", "Total"), ("Total", "s"), ("Total", "Total")
    }  # fmt: skip


def test_the_overlap_is_the_product_of_pseudo_indices_and_common_running_codes() -> None:
    # 6.1.2: tables over region and branch for some legal forms, and over region and legal form for some branches
    rng = np.random.default_rng(6)
    data = rng.integers(1, 50, (3, 4, 5)).astype(float)
    codes = {"WZ": ["w1", "w2", "w3"], "RF": ["f1", "f2", "f3", "f4"], "R": ["r1", "r2", "r3", "r4", "r5"]}
    tables, fixed = {}, {}
    for k in (0, 2):
        tables[f"A{k}"], fixed[f"A{k}"] = two_way(codes, data[:, k, :], "WZ"), {"RF": codes["RF"][k]}
    for j in (1, 2):
        tables[f"B{j}"], fixed[f"B{j}"] = two_way(codes, data[j], "RF"), {"WZ": codes["WZ"][j]}
    pool = Pool.of(tables, fixed=fixed)
    names = ("WZ", "RF", "R")
    seen = [dict(zip(pool.names, pool.codes((c,)), strict=True)) for c in np.flatnonzero(pool.shared).tolist()]
    assert {tuple(cell[n] for n in names) for cell in seen} == set(
        product(["w2", "w3"], ["f1", "f3"], [*codes["R"], "Total"])
    )


def two_way(codes: dict[str, list[str]], data: npt.NDArray[Any], name: str) -> Table:
    at = list(product(range(data.shape[0]), range(data.shape[1])))
    cells = {"R": [codes["R"][j] for _, j in at], name: [codes[name][i] for i, _ in at], "x": [data[i] for i in at]}
    return Table.from_cells(cells, by={n: Hierarchy.flat(codes[n]) for n in ("R", name)}, value="x")


# --- what is refused -------------------------------------------------------------------------------------------------


def test_shared_cells_that_differ_in_value_are_named_ten_at_most() -> None:
    one = flat("s", {f"c{i}": 1.0 for i in range(20)})
    two = flat("s", {f"c{i}": 2.0 for i in range(20)})
    with pytest.raises(SharedCellsDiffer, match="21 shared cells have different values") as caught:
        Pool.of({"one": one, "two": two})
    assert str(caught.value).count("s=c") == 10
    assert "11 more" in str(caught.value)


def test_a_cell_hidden_in_one_table_and_known_from_another_is_refused() -> None:
    one = flat("s", REGIONS, {"a": "primary"})
    with pytest.raises(SharedCellsDiffer, match="hidden in one table and known from another"):
        Pool.of({"one": one, "two": flat("s", REGIONS, {"a": "never"})})


def test_a_pool_of_tables_that_have_nothing_in_common_is_refused() -> None:
    years = {"one": {"year": "2024"}, "two": {"year": "2025"}}
    with pytest.raises(NothingShared, match="share no cell"):
        Pool.of({"one": flat("s", REGIONS), "two": flat("s", {"a": 3.0, "b": 5.0})}, fixed=years)


def test_codes_that_mean_different_things_are_noticed() -> None:
    by = {"s": Hierarchy.flat("ab"), "t": Hierarchy.flat("uv")}
    wide = Table.from_cells({"s": list("ab"), "t": list("uv"), "x": [30, 70]}, by=by, value="x")
    longer = Table.from_cells(
        {"s": list("abc"), "t": list("uvw"), "x": [30, 0, 70]},
        by={"s": Hierarchy.flat("abc"), "t": Hierarchy.flat("uvw")},
        value="x",
    )
    with pytest.raises((SharedCellsDiffer, WrongSum)):
        Pool.of({"wide": wide, "longer": longer})


def test_bad_pseudo_indices_are_refused() -> None:
    one, two = flat("s", REGIONS), flat("t", {"x": 4.0, "y": 6.0})
    with pytest.raises(UnknownCode, match="'z'"):
        Pool.of({"one": one, "two": two}, fixed={"two": {"s": "z"}})
    with pytest.raises(BadOption, match="classified by 's'"):
        Pool.of({"one": one, "two": two}, fixed={"two": {"s": "a"}, "one": {"s": "a"}})
    with pytest.raises(BadOption, match="no table 'three'"):
        Pool.of({"one": one, "two": two}, published=["three"])
    with pytest.raises(BadOption, match="a pool of 1"):
        Pool.of({"one": one})


# --- late tables -----------------------------------------------------------------------------------------------------


def late_sizes(primary: list[list[str]]) -> Table:
    cells = {"s": list("aabbccdd"), "z": list("klklklkl"), "x": [4, 6, 8, 12, 13, 17, 22, 18]}
    by = {"s": Hierarchy.flat("abcd"), "z": Hierarchy.flat("kl")}
    return Table.from_cells(cells, by=by, value="x").with_status(Status.PRIMARY, primary)


def test_a_late_table_only_hides_cells_of_its_own() -> None:
    pool = Pool.of({"out": flat("s", REGIONS), "late": late_sizes([["a", "k"]])}, published=["out"])
    result = dk.suppress(pool)
    split = split_of(result)
    assert not split["out"].hidden.any()
    assert (split["out"].status == pool.tables["out"].status).all()
    assert split["late"].hidden.sum() == 4
    assert result.audit is not None
    assert result.audit.safe


def test_a_late_table_that_needs_published_cells_is_refused_with_its_cells() -> None:
    narrow = Table.from_cells(
        {"s": ["a", "b", "c", "d"], "z": ["k"] * 4, "x": [10, 20, 30, 40]},
        by={"s": Hierarchy.flat("abcd"), "z": Hierarchy.from_nested({"Total": {"k1": ["k"], "k2": ["m"]}})},
        value="x",
    )
    narrow = narrow.with_status(Status.PRIMARY, [["a", "k"]])
    pool = Pool.of({"out": flat("s", REGIONS), "late": narrow}, published=["out"])
    with pytest.warns(dk.ProtectionWarning), pytest.raises(LateTable, match="'late' cannot be protected") as caught:
        dk.suppress(pool)
    assert "s=a, z=k" in str(caught.value)


def test_a_late_table_cannot_hide_what_is_out() -> None:
    with pytest.raises(LateTable, match="open in a published table") as caught:
        Pool.of({"out": flat("s", REGIONS), "late": late_sizes([["b", "Total"]])}, published=["out"])
    assert "s=b" in str(caught.value)


def test_what_is_for_single_tables_is_refused_for_a_pool(tmp_path: Path) -> None:
    pool = Pool.of(in_two_groupings())
    with pytest.raises(BadOption, match="a pool as a complete table"):
        dk.suppress(pool, method=dk.methods.Complete())
    for method in (dk.methods.Moves, dk.methods.Cuboids):
        with pytest.raises(BadOption, match="no classification 'size'"):
            dk.suppress(pool, method=method(barriers={"size": 1}))
    with pytest.raises(BadOption, match="one previous table for a pool"):
        dk.suppress(pool, dk.Promise(levels=False), dk.methods.Cuboids(), previous=in_two_groupings()["zones"])
    with pytest.raises(BadOption, match="no table 'other' in the pool"):
        dk.suppress(
            pool, dk.Promise(levels=False), dk.methods.Cuboids(), previous={"other": in_two_groupings()["zones"]}
        )
    with pytest.raises(BadOption, match="several previous tables"):
        dk.suppress(in_two_groupings()["zones"], dk.Promise(levels=False), dk.methods.Cuboids(), previous=pool)
    with pytest.raises(BadOption, match="split"):
        dk.publish(pool, tmp_path / "pool.csv")
    with pytest.raises(BadOption, match="several tables"):
        _ = pool.hierarchies
    split = Pool.of({"one": flat("s", REGIONS), "two": flat("t", {"x": 4.0, "y": 6.0})}, fixed={"two": {"s": "a"}})
    with pytest.raises(BadOption, match="no table of the pool shows"):
        split.index("b", "x")


def test_a_pool_is_thinned_explained_and_certified_like_a_table() -> None:
    pool = Pool.of(in_two_groupings("primary"))
    everything = dk.suppress(pool)
    status = np.where(everything.table.status == Status.OPEN, np.uint8(Status.SECONDARY), everything.table.status)
    thinned = dk.thin(replace(everything.table, status=status))
    assert (thinned.table.status == Status.SECONDARY).sum() < (status == Status.SECONDARY).sum()
    assert dk.audit(thinned.table).safe
    assert everything.audit is not None
    assert dk.verify(everything.table, certificate_of(everything.audit)).holds
    shown = everything.explain_table("a")
    assert set(shown["region"]) > {"a"}
    for number in set(shown["move"]):
        rows = [i for i, k in enumerate(shown["move"]) if k == number]
        # a move through both groupings leaves every sum of both true
        moved = np.zeros(pool.size)
        for i in rows:
            moved[pool.index(shown["region"][i])] = shown["change"][i]
        assert (pool.system.times(moved) == 0).all()
    assert list(pool.columns()) == ["region", "x", "status"]


# --- any pool --------------------------------------------------------------------------------------------------------


REGION = [f"r{i}" for i in range(6)]
ONE = Hierarchy.from_nested({"Total": {"N": REGION[:3], "S": REGION[3:]}})
TWO = Hierarchy.from_nested({"Total": {"E": REGION[::2], "W": REGION[1::2]}})
SECTOR, SIZE = Hierarchy.flat("abc"), Hierarchy.flat("kl")


@st.composite
def pools(draw: st.DrawFn) -> dict[str, Table]:
    """Two tables of the same data: regions in two groupings, by the same sectors or by sectors and by sizes."""
    same_cells, seed = draw(st.booleans()), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 40, (6, 3, 2)) * (rng.random((6, 3, 2)) < 0.85)
    first = of_data({"region": ONE, "sector": SECTOR}, data.sum(axis=2), "abc")
    second = of_data({"region": TWO, "size": SIZE}, data.sum(axis=1), "kl")
    if same_cells:
        second = of_data({"region": TWO, "sector": SECTOR}, data.sum(axis=2), "abc")
    result = {}
    for name, table in (("first", first), ("second", second)):
        few = (table.value > 0) & (rng.random(table.shape) < 0.12) & (rng.random(table.shape) * table.value < 60)
        result[name] = table.with_status(Status.PRIMARY, [table.codes(tuple(i)) for i in np.argwhere(few).tolist()])
    return result


def of_data(by: dict[str, Hierarchy], data: npt.NDArray[Any], codes: str) -> Table:
    first, second = by
    at = list(product(range(len(REGION)), range(len(codes))))
    cells = {first: [REGION[i] for i, _ in at], second: [codes[j] for _, j in at], "x": [float(data[i]) for i in at]}
    return Table.from_cells(cells, by=by, value="x")


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_nobody_who_is_alone_in_a_cell_of_one_table_finds_out_a_cell_of_another(seed: int) -> None:
    """People as records: what somebody knows are all cells of a table that nobody else is in.

    That two cells of different tables are of one person the pool knows only of the largest contributors of cells that
    both tables have; whoever is another is guarded against as a coalition that the user names (docs/linked.md).
    """
    rng = np.random.default_rng(seed)
    people = [
        {"region": REGION[rng.integers(6)], "sector": "abc"[rng.integers(3)], "size": "kl"[rng.integers(2)]}
        for _ in range(30)
    ]
    records = {n: [p[n] for p in people] for n in people[0]} | {"x": rng.integers(1, 50, 30).astype(float)}
    groupings = {"first": {"region": ONE, "sector": SECTOR}, "second": {"region": TWO, "size": SIZE}}
    tables = {n: dk.mark(dk.tabulate(records, by=by, value="x"), dk.MinCount(2)) for n, by in groupings.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        result = dk.suppress(Pool.of(tables), method=dk.methods.Moves(zeros="allowed"))
    pool, split = result.table, split_of(result)
    assert isinstance(pool, Pool)
    left = {u.index for u in result.unprotected}
    inside = {c: members(pool, c, people) for c in range(pool.size)}
    primary = np.flatnonzero(pool.status == Status.PRIMARY).tolist()
    for who in sorted({min(m) for m in inside.values() if len(m) == 1}):
        known = [key_of(pool, c) for c, m in inside.items() if m == {who}]
        asked = {key_of(pool, c): c for c in primary if who not in inside[c]}
        for other in (1, 2):  # the classification that the other table has
            own = frozenset(key for key in known if key[other] == "Total")
            for key, (low, high) in ends(split, known=own, asked=set(asked)).items():
                assert high - low > 1e-6 or (asked[key],) in left


def members(pool: Pool, cell: int, people: list[dict[str, str]]) -> set[int]:
    """The people in a cell."""
    own = dict(zip(pool.names, pool.codes((cell,)), strict=True))
    return {i for i, p in enumerate(people) if all(below(n, code, p[n]) for n, code in own.items())}


def below(name: str, code: str, leaf: str) -> bool:
    if code in (leaf, "Total"):
        return True
    return name == "region" and any(code in h and leaf in h.parts(code) for h in (ONE, TWO))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(pools(), st.sampled_from([dk.methods.Cuboids(), dk.methods.Moves()]))
def test_pools_reach_a_fixed_point_and_are_safe_or_say_what_is_left(tables: dict[str, Table], method: Any) -> None:
    pool = Pool.of(tables)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        result = dk.suppress(pool, method=method)
    split = split_of(result)
    intervals = ends(split)
    left = {u.index for u in result.unprotected}
    for cell in np.flatnonzero(result.table.status == Status.PRIMARY).tolist():
        low, high = intervals[key_of(pool, cell)]
        assert (high - low > 1e-6) == ((cell,) not in left)
    # a second run has nothing to add
    if not left:
        again = dk.suppress(Pool.of(split))
        assert not again.secondary.any()


def test_secondaries_a_table_set_itself_are_not_protected_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    regions, sectors = [f"r{i}" for i in range(30)], [f"s{i}" for i in range(8)]
    cells = {"region": np.repeat(regions, 8), "sector": np.tile(sectors, 30)}
    cells |= {"x": np.round(rng.lognormal(3, 1.5, 240)) + 1, "n": rng.integers(1, 12, 240)}
    groupings = [{f"N{k}": regions[k::6] for k in range(6)}, {f"E{k}": regions[6 * k : 6 * k + 6] for k in range(5)}]
    tables = {}
    for number, grouping in enumerate(groupings):
        by = {"region": Hierarchy.from_nested({"Total": grouping}), "sector": Hierarchy.flat(sectors)}
        tables[str(number)] = dk.mark(Table.from_cells(cells, by=by, value="x", count="n"), dk.MinCount(2))
    pool, wanted = Pool.of(tables), dk.Promise(min_relative_range=0.3, levels=False)

    def forgetful(table: Table, status: npt.NDArray[np.uint8]) -> Table:
        return replace(table, status=status, creator=None)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        ruled = dk.suppress(pool, wanted, dk.methods.Cuboids())
        monkeypatch.setattr(by_turns, "_with_pattern", forgetful)
        over = dk.suppress(pool, wanted, dk.methods.Cuboids())
    assert ruled.passes > 1
    assert ruled.secondary.sum() < over.secondary.sum()


@settings(max_examples=15, deadline=None)
@given(pools())
def test_carried_intervals_only_ever_hide_more_and_end(tables: dict[str, Table]) -> None:
    pool = Pool.of(tables)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        carried = dk.suppress(
            pool, dk.Promise(levels=False, min_relative_range=0.2), dk.methods.Cuboids(carry="always")
        )
    assert not carried.notes
    left = {u.index for u in carried.unprotected}
    intervals = ends(split_of(carried))
    for cell in np.flatnonzero(carried.table.status == Status.PRIMARY).tolist():
        low, high = intervals[key_of(pool, cell)]
        assert (high - low > 0.2 * pool.value[cell] + 1e-6) or (cell,) in left


@settings(max_examples=25, deadline=None)
@given(pools())
def test_a_late_table_never_touches_what_is_out(tables: dict[str, Table]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        out = dk.suppress(tables["first"]).table
        try:
            pool = Pool.of({"out": out, "late": tables["second"]}, published=["out"])
            result = dk.suppress(pool)
        except LateTable as refused:
            assert "=" in refused.where  # noqa: PT017
            return
    split = split_of(result)
    assert (split["out"].status == out.status).all()
    assert (pool.hidden[pool.cells_of["out"]] == out.hidden.reshape(-1)).all()
    intervals = ends(split)
    for cell in np.flatnonzero(result.table.status == Status.PRIMARY).tolist():
        low, high = intervals[key_of(pool, cell)]
        assert high - low > 1e-6


# --- several responses -----------------------------------------------------------------------------------------------


def test_responses_that_add_up_give_each_other_away_unless_protected_jointly() -> None:
    cells = {"s": list("abcd"), "wages": [5, 8, 9, 4], "other": [3, 2, 6, 7], "costs": [8, 10, 15, 11]}
    tables = Table.from_cells(cells, by={"s": None}, value=["wages", "other", "costs"])
    wages = dk.suppress(tables["wages"].with_status(Status.PRIMARY, [["a"]])).table
    assert dk.audit(wages).safe
    parts = {"wages": wages, "other": tables["other"]}
    joint = dk.jointly(parts, tables["costs"])
    (leak,) = dk.audit(joint).exposed  # costs minus other costs
    assert leak.exact
    done = dk.suppress(joint)
    assert done.audit is not None
    assert done.audit.safe
    single = dk.apart(done.table)
    assert list(single) == ["wages", "other", "costs"]
    assert (single["wages"].hidden >= wages.hidden).all()
    assert single["other"].hidden.any()
    assert (single["costs"].value == tables["costs"].value).all()
    with pytest.raises(WrongSum, match="do not add up to 'costs'"):
        dk.jointly({"wages": wages}, tables["costs"])
    with pytest.raises(BadOption, match="cannot stand in one table"):
        dk.jointly(parts, tables["costs"], name="s")


def test_the_pattern_of_the_leading_response_is_passed_on() -> None:
    cells = {"s": list("aabbcc"), "z": list("klklkl"), "x": [4, 6, 8, 12, 13, 17], "y": [1, 9, 3, 4, 5, 2]}
    by = {"s": Hierarchy.flat("abc"), "z": Hierarchy.flat("kl")}
    tables = Table.from_cells(cells, by=by, value=["x", "y"])
    leading = dk.suppress(tables["x"].with_status(Status.PRIMARY, [["a", "k"]])).table
    other = tables["y"].with_status(Status.PRIMARY, [["c", "l"]])
    done = dk.follow(leading, {"y": other})["y"]
    assert (done.table.hidden | ~leading.hidden).all()
    assert done.table.status[other.index("c", "l")] == Status.PRIMARY
    assert done.audit is not None
    assert done.audit.safe
    together = dk.leading_of(leading, {"y": other})
    assert (together.status == Status.PRIMARY).sum() == 2
    with pytest.raises(SharedCellsDiffer, match="must stay open in 'y'"):
        dk.follow(leading, {"y": tables["y"].with_status(Status.NEVER, [["a", "k"]])})
    with pytest.raises(BadOption, match="not about the same cells"):
        dk.follow(leading, {"y": flat("s", REGIONS)})
