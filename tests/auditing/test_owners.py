"""An owner of several cells is one attacker who knows them together, however the table came to know him."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import owners
from diskret import (
    Hierarchy,
    Pool,
    Promise,
    Roles,
    Status,
    Table,
    TabulationOptions,
    audit,
    mark,
    methods,
    rules,
    suppress,
    tabulate,
)
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption
from diskret.moves import _standing_kernels
from diskret.moves.insiders import insiders_of
from diskret.moves.persons import leaders_of, persons_of, standing
from diskret.publication.working import load_working, save_working
from diskret.suppression.responses import apart, jointly
from tests import by_hand
from tests.present import present

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
EXACT = Promise(levels=False)
REGION = Hierarchy.flat("abcde")


def line(firms: Sequence[tuple[str, float, str]], primary: str, **roles: Any) -> Table:
    """Regions a to e with firms of some region, size and owner; some regions are primary."""
    rows = {"s": [f[0] for f in firms], "x": [f[1] for f in firms], "owner": [f[2] for f in firms]}
    table = tabulate(rows, by={"s": REGION}, value="x", roles=Roles(holding="owner", **roles))
    return table.with_status(Status.PRIMARY, [[code] for code in primary])


THREE = [("a", 10, "Q"), ("b", 20, "Q"), ("c", 30, "R"), ("d", 40, "S"), ("d", 41, "T"), ("e", 50, "S"), ("e", 51, "T")]
"""One owner is alone in a and in b."""


# --- what owners find out --------------------------------------------------------------------------------------------


def test_an_owner_of_two_hidden_cells_computes_the_third() -> None:
    report = audit(line(THREE, "abc"), EXACT)
    assert [(e.cell, e.by, e.exact) for e in report.exposed] == [("s=c", "who is alone in s=a; s=b", True)]


def test_owners_of_one_cell_each_compute_nothing_there() -> None:
    strangers = [(s, x, f"{owner} {s}") for s, x, owner in THREE]
    assert audit(line(strangers, "abc"), EXACT).safe


def test_two_respondents_of_a_holding_each_with_others_in_a_cell_know_it_together() -> None:
    firms = [("a", 4, "Q"), ("a", 6, "Q"), ("b", 5, "Q"), ("b", 15, "Q"), *THREE[2:]]
    report = audit(line(firms, "abc"), EXACT)
    assert [(e.cell, e.by) for e in report.exposed] == [("s=c", "who is alone in s=a; s=b")]


@pytest.mark.parametrize("method", [methods.Moves(), methods.Optimal(), methods.Complete(), methods.Cuboids()])
def test_no_method_takes_two_cells_of_an_owner_for_two_strangers(method: Any) -> None:
    done = suppress(line(THREE, "abc"), EXACT, method)
    assert done.table.hidden.sum() == 4
    assert audit(done.table, EXACT).safe


def test_an_owner_is_not_asked_about_cells_he_has_a_share_in() -> None:
    """Q is alone in a and leads in b: with a he would compute b, in which he is himself."""
    firms = [("a", 10, "Q"), ("b", 20, "Q"), ("b", 5, "R"), *THREE[3:]]
    assert audit(line(firms, "ab"), EXACT).safe
    stranger = [("a", 10, "P"), *firms[1:]]
    assert [(e.cell, e.by) for e in audit(line(stranger, "ab"), EXACT).exposed] == [("s=b", "who is alone in s=a")]


def test_whoever_is_alone_in_a_cell_and_leads_in_its_sum_is_one_person() -> None:
    """Alone in a1, 50 of the 59 of A: as a stranger the largest contributor of A would know that a1 is at least 41."""
    tree = Hierarchy.from_parents({"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "T", "B": "T"})
    rows = {"s": ["a1", "a2", "a2", "b1", "b1", "b2"], "x": [50, 5, 4, 30, 30, 90]}
    table = tabulate(rows, by={"s": tree}, value="x")
    table = replace(table, above=table.value * 0.2, below=table.value * 0.2)
    table = table.with_status(Status.PRIMARY, [["a1"]]).with_status(Status.SECONDARY, [["A"], ["B"], ["b1"]])
    largest = Promise(guard="largest", unions=False)
    strangers = replace(table, respondents=replace(present(table.respondents), owner=None))
    assert [(e.cell, e.by) for e in audit(strangers, largest).exposed] == [("s=a1", "the largest contributor of s=A")]
    assert audit(table, largest).safe


def test_the_largest_owner_knows_what_all_his_respondents_gave() -> None:
    """Of b = 100 two respondents of Q gave 45 each: it is at least 90, so a is at most 30 of 20."""
    firms = [("a", 12, "P"), ("a", 8, "R"), ("b", 45, "Q"), ("b", 45, "Q"), ("b", 10, "S"), *THREE[3:]]
    table = line(firms, "ab")
    up = np.where(np.arange(6) == 0, 11.0, 0.0)
    table = replace(table, above=up, below=np.zeros(6))
    report = audit(table, Promise(guard="largest", unions=False))
    assert [(e.cell, e.upper) for e in report.exposed] == [("s=a", 30.0)]


def test_hidden_cells_of_one_owner_do_not_hide_what_he_has_in_both() -> None:
    """Q is alone in a and in b: their sum is published, and it is his."""
    table = mark(line(THREE, ""), rules.MinCount(2, counted_by="holding"))
    table = replace(table, status=np.where(np.arange(6) == 2, np.uint8(Status.OPEN), table.status))
    assert audit(table).unions == ("parts of s Total",)
    done = suppress(table)
    assert present(done.audit).safe
    assert done.table.hidden.sum() == 3


def test_what_an_owner_gave_to_several_hidden_cells_is_one_contribution_to_their_sum() -> None:
    """60 + 50 of the 170 hidden: no cell breaks the rule of 64 %, nor do the two as strangers, but Q with 110 does."""
    firms = [("a", 60, "Q"), ("a", 40, "R"), ("b", 50, "Q"), ("b", 20, "S"), ("b", 0, "T"), ("c", 90, "U")]
    table = mark(line(firms, ""), rules.Dominance(1, 64, counted_by="holding"))
    table = replace(table, status=np.array([1, 2, 0, 0, 0, 0], dtype=np.uint8))
    assert audit(table, Promise(guard="public")).unions == ("parts of s Total",)
    strangers = replace(table, holdings=replace(present(table.holdings), owner=None))
    assert audit(strangers, Promise(guard="public")).unions == ()


@pytest.mark.parametrize("seed", [1, 2, 6, 7])
def test_owners_who_know_the_records_find_out_nothing_that_the_audit_misses(seed: int) -> None:
    for guard in ("single", "largest"):
        assert owners.compared(seed, guard)[1] == 0
    assert owners.broken(seed, ("single", "largest")[seed % 2])[1] == 0


# --- numbers that only compare ---------------------------------------------------------------------------------------


def files(seed: int) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    n = 400
    return {
        "r": rng.choice(["a1", "a2", "b1", "b2", "b3"], n).tolist(),
        "k": rng.choice(list("uvw"), n, p=[0.9, 0.08, 0.02]).tolist(),
        "x": rng.integers(0, 50, n).tolist(),
        "owner": [f"{int(o):03d}" if o < 150 else None for o in rng.integers(0, 300, n)],
    }


TREE = {"r": Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b", "b2": "b", "b3": "b", "a": "T", "b": "T"})}


def owner_of(rows: dict[str, list[object]], **options: Any) -> np.ndarray:
    table = tabulate(
        rows, by={**TREE, "k": None}, value="x", roles=Roles(holding="owner"), options=TabulationOptions(**options)
    )
    return present(present(table.holdings).owner)


def test_numbers_of_owners_are_the_same_with_any_number_of_threads() -> None:
    one, *more = (owner_of(files(1), threads=threads).tobytes() for threads in (1, 2, 5))
    assert all(other == one for other in more)


def test_numbers_of_owners_tell_nothing_about_their_names() -> None:
    """Distinct amounts, so that no two owners lead together: other names in another order give the same numbers."""
    rows = files(2)
    rows["x"] = [7 * i * i + 3 for i in range(400)]
    renamed = rows | {"owner": [None if o is None else str(999 - int(str(o))) for o in rows["owner"]]}
    assert owner_of(rows).tobytes() == owner_of(renamed).tobytes()


def test_a_cell_list_says_who_leads_in_words_that_are_not_kept(tmp_path: Path) -> None:
    cells = {"s": list("abcde"), "x": [1, 2, 3, 9, 9], "n": [1, 1, 1, 2, 0], "firm": ["Quax", "Rex", "Quax", None, "Z"]}
    table = Table.from_cells(cells, by={"s": REGION}, value="x", count="n", owner="firm")
    assert present(present(table.respondents).owner).tolist() == [0, 1, 0, -1, -1, -1]
    assert persons_of(table).tolist() == [0, 1, 0, -1, -1, -1]
    save_working(table, tmp_path / "w.parquet")
    assert b"Quax" not in (tmp_path / "w.parquet").read_bytes()
    with pytest.raises(BadOption, match="owners without contributor counts"):
        Table.from_cells(cells, by={"s": REGION}, value="x", owner="firm")


def test_sums_that_a_cell_list_leaves_out_have_the_owner_of_the_largest_part() -> None:
    cells = {"s": list("ab"), "x": [8, 6], "n": [2, 1], "big": [5, 6], "firm": ["Q", "R"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", count="n", largest=["big"], owner="firm")
    assert present(present(table.respondents).owner).tolist() == [0, 1, 1]


def test_working_files_keep_owners_and_older_files_have_none(tmp_path: Path) -> None:
    table = line(THREE, "abc")
    save_working(table, tmp_path / "new.parquet")
    (again,) = load_working(tmp_path / "new.parquet").values()
    assert present(present(again.holdings).owner).tobytes() == present(present(table.holdings).owner).tobytes()
    plain = replace(table, holdings=replace(present(table.holdings), owner=None), respondents=Contributors(table.count))
    save_working(plain, tmp_path / "old.parquet")
    (again,) = load_working(tmp_path / "old.parquet").values()
    assert present(again.holdings).owner is None
    assert present(again.respondents).owner is None


# --- pools and responses ---------------------------------------------------------------------------------------------


def two_tables(firms: Sequence[tuple[str, str, float, str]]) -> dict[str, Table]:
    rows = {n: [f[i] for f in firms] for i, n in enumerate(["s", "k", "x", "owner"])}
    by = {"s": Hierarchy.flat("ab"), "k": Hierarchy.flat("uv")}
    roles = Roles(holding="owner")
    return {
        "fine": tabulate(rows, by=by, value="x", roles=roles),
        "coarse": tabulate(rows, by={"s": by["s"]}, value="x", roles=roles),
    }


def test_numbers_of_different_tables_mean_the_same_owner_only_through_a_cell_both_show() -> None:
    firms = [("a", "u", 9.0, "Q"), ("a", "v", 1.0, "R"), ("b", "u", 3.0, "Q"), ("b", "v", 4.0, "S")]
    tables = two_tables(firms)
    owner = present(present(tables["coarse"].holdings).owner)
    other = replace(
        tables["coarse"],
        holdings=replace(present(tables["coarse"].holdings), owner=np.where(owner < 0, owner, owner + 7)),
    )
    for coarse in (tables["coarse"], other):
        pool = Pool.of(tables | {"coarse": coarse})
        found = present(present(pool.holdings).owner)
        # Q leads in (a; u) and in a, which both tables show, and in (b; u)
        assert found[pool.index("a", "u")] == found[pool.index("a", "Total")] == found[pool.index("b", "u")]
        assert found[pool.index("b", "v")] == found[pool.index("b", "Total")] != found[pool.index("a", "u")]


def test_equal_numbers_in_tables_that_share_no_cell_of_theirs_are_different_owners() -> None:
    one = Table.from_cells(
        {"s": list("ab"), "x": [5, 6], "n": [1, 1], "o": ["P", "Q"]}, by={"s": Hierarchy.flat("ab")}, value="x",
        count="n", owner="o",
    )  # fmt: skip
    two = Table.from_cells(
        {"k": list("uv"), "x": [5, 6], "n": [1, 1], "o": ["P", "Q"]}, by={"k": Hierarchy.flat("uv")}, value="x",
        count="n", owner="o",
    )  # fmt: skip
    persons = persons_of(Pool.of({"one": one, "two": two}))
    assert len(set(persons[persons >= 0].tolist())) == 4


def test_responses_protected_together_keep_who_owns_and_who_publishes() -> None:
    firms: dict[str, list[object]] = {
        "s": list("aabbc"), "x": [1, 2, 3, 4, 5], "y": [9, 8, 7, 6, 5], "z": [10] * 5, "owner": list("PQPRQ"),
        "open": ["yes", "no", "yes", "yes", "no"],
    }  # fmt: skip
    roles = Roles(holding="owner", public="open")
    tables = tabulate(firms, by={"s": Hierarchy.flat("abc")}, value=["x", "y", "z"], roles=roles)
    joint = jointly({"x": tables["x"], "y": tables["y"]}, tables["z"])
    for name, table in apart(joint).items():
        people, before = present(table.holdings), present(tables[name].holdings)
        mine, theirs = present(people.owner), present(before.owner)
        assert [(mine == n).tolist() for n in np.unique(mine)] == [(theirs == n).tolist() for n in np.unique(theirs)]
        assert present(people.public_value).tolist() == present(before.public_value).tolist()
        assert present(table.respondents).all_public.tolist() == [False, True, False, False]


# --- where they stand ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_lists_the_wanted_cells_above_some_cells(seed: int) -> None:
    table = by_hand.firms(seed, axes=1 + seed % 3, most=3).table
    rng = np.random.default_rng(seed)
    cells, who = rng.integers(0, table.size, 6), rng.integers(0, 3, 6)
    wanted = rng.random(table.size) < 0.6
    expected = set()
    for person, cell in zip(who.tolist(), cells.tolist(), strict=True):
        for other in np.flatnonzero(wanted).tolist():
            codes = zip(table.hierarchies, table.codes(table.place(cell)), table.codes(table.place(other)), strict=True)
            if all(h.index(up) in _above(h, h.index(low)) for h, low, up in codes):
                expected.add(person * table.size + other)
    assert standing(table, who, cells, wanted).tolist() == sorted(expected)
    few = np.empty(1, dtype=np.int64)
    h = table.hierarchies[0]
    chain, start = h.ancestors
    if len(table.hierarchies) == 1:
        given = (who, cells, np.array([1]), chain, start, np.array([0]), wanted)
        assert _standing_kernels.wanted_above(*given, few) >= len(expected)


def _above(hierarchy: Hierarchy, code: int) -> set[int]:
    return {code} | (_above(hierarchy, hierarchy.parents[code]) if hierarchy.parents[code] >= 0 else set())


def test_an_owner_stands_behind_the_sums_above_each_of_his_cells() -> None:
    tree = Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b", "b2": "b", "c1": "c", "a": "T", "b": "T", "c": "T"})
    rows = {
        "s": ["a1", "a2", "a2", "b1", "b2", "b2", "c1", "c1"],
        "x": [1, 2, 3, 4, 50, 60, 7, 8],
        "o": list("QRSQTUVW"),
    }
    table = tabulate(rows, by={"s": tree}, value="x", roles=Roles(holding="o"))
    every = [[c] for c in tree.codes]
    table = table.with_status(Status.PRIMARY, every)
    people = insiders_of(table, Promise())
    assert people.number == 1
    behind = people.contribute(np.array([0]), np.arange(table.size), table.shape)[:, 0]
    assert {tree.codes[i] for i in np.flatnonzero(behind)} == {"a1", "b1", "a", "b", "T"}
    assert people.cells_of(0)[0].tolist() == [tree.index("a1"), tree.index("b1")]


def test_without_numbers_every_largest_contributor_is_somebody_else() -> None:
    cells = {"s": list("ab"), "x": [8, 6], "n": [2, 1]}
    table = Table.from_cells(cells, by={"s": None}, value="x", count="n")
    assert leaders_of(table, persons_of(table)).tolist() == [3, 1, 5]
