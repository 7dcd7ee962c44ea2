"""Hierarchies with several groupings: every sum of every grouping, filled, listed and checked."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret import Hierarchy, Roles, Table, tabulate
from diskret.io.hierarchies import read_hierarchy
from diskret.io.hrc import hrc_text
from diskret.model import errors
from diskret.model.errors import ProtectionWarning
from diskret.perturbation.merging import propose_merging
from diskret.rules.magnitude import MinCount
from diskret.suppression.complete.raising import raise_table

STATES = Hierarchy.from_parents({"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "DE", "B": "DE"})
TYPES = {"town": ["a1", "b1"], "rural": ["a2", "b2"], "DE": ["town", "rural"]}
REGION = Hierarchy.from_groupings(STATES, TYPES, {"coast": ["a1", "b2"]}, labels={"coast": "at the sea"})


def finest(hierarchy: Hierarchy) -> dict[str, set[str]]:
    """The finest codes behind every code, from the equations of all groupings."""
    found = {c: {c} if leaf else set() for c, leaf in zip(hierarchy.codes, hierarchy.is_leaf, strict=True)}
    for _ in hierarchy.codes:
        for parents in (hierarchy.parents, *hierarchy.further):
            for code, parent in zip(hierarchy.codes, parents, strict=True):
                if parent >= 0:
                    found[hierarchy.codes[parent]] |= found[code]
    return found


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    leaves = [f"l{i}" for i in range(draw(st.integers(2, 6)))]
    parents = {leaf: f"s{draw(st.integers(0, 1))}" for leaf in leaves}
    parents |= dict.fromkeys(set(parents.values()), "T")
    tree = Hierarchy.from_parents(parents)
    contents = {c: {x for x in leaves if x == c or parents[x] == c} for c in tree.codes[:-1]}
    groupings = []
    for number in range(draw(st.integers(1, 4))):
        parts: list[str] = []
        for code in draw(st.permutations(sorted(contents))):
            if not any(contents[code] & contents[p] for p in parts) and draw(st.booleans()):
                parts.append(code)
        if parts:
            groupings.append({f"x{number}": parts})
            contents[f"x{number}"] = set().union(*(contents[p] for p in parts))
    return Hierarchy.from_groupings(tree, *groupings)


def test_further_sums_stand_before_the_total_and_know_their_parts() -> None:
    assert REGION.codes == ("a1", "a2", "A", "b1", "b2", "B", "town", "rural", "coast", "DE")
    assert REGION.parts("coast") == ("a1", "b2")
    assert REGION.parts("DE") == ("A", "B")
    assert REGION.labels[REGION.index("coast")] == "at the sea"
    assert REGION.overlapping
    assert not STATES.overlapping
    assert REGION.levels[REGION.index("DE")] == STATES.depth


def test_groupings_can_be_added_one_after_the_other() -> None:
    again = Hierarchy.from_groupings(
        Hierarchy.from_groupings(STATES, TYPES), {"coast": ["a1", "b2"]}, labels={"coast": "at the sea"}
    )
    assert again == REGION


@given(hierarchies())
def test_in_one_grouping_a_code_adds_to_one_sum_and_all_of_them_agree(hierarchy: Hierarchy) -> None:
    inside = finest(hierarchy)
    for parents in hierarchy.groupings:
        for number in np.unique(parents[parents >= 0]).tolist():
            parts = [hierarchy.codes[i] for i in np.flatnonzero(parents == number)]
            assert sum(len(inside[p]) for p in parts) == len(inside[hierarchy.codes[number]])
    chains, start = hierarchy.ancestors
    for i, code in enumerate(hierarchy.codes):
        above = [hierarchy.codes[c] for c in chains[start[i] : start[i + 1]]]
        assert above[0] == code
        assert len(set(above)) == len(above)
        if hierarchy.is_leaf[i]:
            assert set(above) == {c for c in hierarchy.codes if code in inside[c]}


@settings(max_examples=30, deadline=None)
@given(hierarchies(), st.data())
def test_tables_from_cells_and_from_microdata_hold_every_sum(hierarchy: Hierarchy, data: st.DataObject) -> None:
    leaves = [c for c, leaf in zip(hierarchy.codes, hierarchy.is_leaf, strict=True) if leaf]
    records = data.draw(
        st.lists(
            st.tuples(st.sampled_from(leaves), st.sampled_from("mw"), st.integers(0, 999), st.integers(0, 3)),
            min_size=1, max_size=20,
        )
    )  # fmt: skip
    inside = finest(hierarchy)
    by = {"r": hierarchy, "s": Hierarchy.flat("mw")}
    columns = {k: [r[i] for r in records] for i, k in enumerate(["r", "s", "x", "owner"])}
    table = tabulate(columns, by=by, value="x", largest=2, roles=Roles(holding="owner"))
    added: dict[tuple[str, str], float] = defaultdict(float)
    for r, s, x, _ in records:
        added[r, s] += x
    given_cells = {"r": [r for r, _ in added], "s": [s for _, s in added], "x": list(added.values())}
    listed = Table.from_cells(given_cells, by=by, value="x")
    assert np.array_equal(table.value, listed.value)
    assert table.largest is not None
    assert table.holdings is not None
    for i, code in enumerate(hierarchy.codes):
        for j, sex in enumerate(("m", "w", "Total")):
            behind = [(x, o) for r, s, x, o in records if r in inside[code] and sex in (s, "Total")]
            assert table.value[i, j] == sum(x for x, _ in behind)
            assert table.count[i, j] == len(behind)
            assert table.holdings.count[i, j] == len({o for _, o in behind})
            assert table.largest[i, j].tolist() == sorted([0, 0, *(x for x, _ in behind)], reverse=True)[:2]
    everything = table.equations(np.ones(table.size, dtype=np.bool_))
    assert (everything.times(table.value.reshape(-1)) == 0).all()
    sums = sum(np.unique(p[p >= 0]).size for p in hierarchy.groupings)
    assert everything.rows == sums * 3 + len(hierarchy)


def test_given_sums_of_all_groupings_are_checked() -> None:
    cells = {"r": ["a1", "a2", "b1", "b2", "coast"], "x": [1, 2, 4, 8, 9]}
    assert Table.from_cells(cells, by={"r": REGION}, value="x").value[REGION.index("town")] == 5
    with pytest.raises(errors.WrongSum, match="1 sum of"):
        Table.from_cells({**cells, "x": [1, 2, 4, 8, 10]}, by={"r": REGION}, value="x")


def test_lines_and_their_names_say_which_grouping() -> None:
    cells = {"r": ["a1", "a2", "b1", "b2"], "x": [1, 2, 4, 8]}
    table = Table.from_cells(cells, by={"r": REGION}, value="x")
    whole = int(REGION.index("DE"))
    lines = {tuple(REGION.codes[c] for c in line.cells) for line in table.lines(whole)}
    assert lines == {("A", "B"), ("town", "rural")}
    system = table.equations(np.ones(table.size, dtype=np.bool_))
    named = [table.line_name(int(a), int(c)) for a, c in zip(system.axis, system.sum_cell, strict=True)]
    assert len(set(named)) == system.rows
    assert "parts of r DE by grouping 2 of r" in named


def test_somebody_alone_is_one_person_in_all_groupings() -> None:
    cells = {"r": ["a1", "a2", "b1", "b2"], "x": [1, 2, 4, 8], "n": [1, 0, 0, 3]}
    table = Table.from_cells(cells, by={"r": REGION}, value="x", count="n")
    persons = table.one_person(table.count == 1)
    assert {REGION.codes[c] for c in np.flatnonzero(persons == REGION.index("a1"))} == {"a1", "A", "town"}


def test_what_needs_one_tree_refuses_by_name() -> None:
    cells = {"r": ["a1", "a2", "b1", "b2"], "x": [1, 2, 4, 8]}
    table = Table.from_cells(cells, by={"r": REGION}, value="x")
    assert not table.product
    with pytest.raises(errors.BadOption, match="overlapping groupings"):
        table.refuse_without_product("the cuboid method")
    for needs_a_tree in (REGION.elementary_indices, lambda: hrc_text(REGION), lambda: raise_table(table)):
        with pytest.raises(errors.BadOption, match="overlapping groupings"):
            needs_a_tree()
    with pytest.raises(errors.BadOption, match="overlapping groupings"):
        propose_merging(table, "r", MinCount(3))


def test_files_keep_all_groupings(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(REGION.describe()))
    assert read_hierarchy(tmp_path / "r.json") == REGION
    lines = ["code,parent,parent2,parent3,label", "a1,A,town,coast,", "a2,A,rural,,", "A,DE,,,", "b1,B,town,,",
             "b2,B,rural,coast,", "B,DE,,,", "town,,DE,,", "rural,,DE,,", "coast,,,,at the sea", "DE,,,,"]  # fmt: skip
    (tmp_path / "r.csv").write_text("\n".join(lines))
    assert read_hierarchy(tmp_path / "r.csv") == REGION


WRONG: dict[str, tuple[type[errors.DiskretError], dict[str, list[str]]]] = {
    "a part nobody knows": (errors.BadOption, {"x": ["a1", "c1"]}),
    "no parts": (errors.EmptyData, {"x": []}),
    "parts that overlap": (errors.DuplicateCode, {"x": ["a1", "A"]}),
    "another content": (errors.BrokenLevels, {"A": ["a1", "b1"]}),
    "not all of the total": (errors.BrokenLevels, {"town": ["a1", "b1"], "DE": ["town"]}),
    "a circle": (errors.HierarchyCycle, {"x": ["y"], "y": ["x"]}),
    "the total as a part": (errors.BadOption, {"x": ["DE"]}),
}


@pytest.mark.parametrize("how", WRONG)
def test_groupings_that_cannot_be_are_refused(how: str) -> None:
    kind, grouping = WRONG[how]
    with pytest.raises(kind):
        Hierarchy.from_groupings(STATES, grouping)


@given(hierarchies())
def test_whatever_was_made_can_be_restored_and_nothing_else(made: Hierarchy) -> None:
    kept = made.codes, made.parents, made.labels, made.further
    assert Hierarchy.restored(*kept) == made
    for parents in ((*made.parents[:-1], 0), (len(made), *made.parents[1:]), (0, *made.parents[1:])):
        with pytest.raises(errors.BrokenLevels, match="not those of a hierarchy"):
            Hierarchy.restored(made.codes, parents, made.labels, made.further)


# --- codes under two sums of a .hrc file -----------------------------------------------------------------------------


def from_hrc(text: str) -> Hierarchy:
    with pytest.warns(ProtectionWarning, match="stand under other sums too"):
        return Hierarchy.from_hrc(text)


def test_a_sum_that_only_regroups_codes_of_others_is_a_further_sum() -> None:
    area = from_hrc("EU\n@DE\n@PL\nother\n@UK\n@CH\nEuro\n@DE\n")
    assert area.parts("Total") == ("EU", "other")
    cells = {"a": ["DE", "PL", "UK", "CH"], "x": [1, 2, 4, 8]}
    table = Table.from_cells(cells, by={"a": area}, value="x")
    assert table.value[table.index("Euro")] == 1
    assert table.value[-1] == 15


def test_of_two_ways_to_group_the_same_codes_the_first_makes_up_the_total() -> None:
    both = from_hrc("N\n@n1\n@n2\nS\n@s1\ntown\n@n1\n@s1\nrural\n@n2\n")
    assert both.parts("Total") == ("N", "S")
    assert both.parts("town") == ("n1", "s1")
    deeper = from_hrc("N\n@n1\n@n2\nS\n@s1\nby size\n@town\n@@n1\n@@s1\n@rural\n@@n2\n")
    assert deeper.parts("by size") == ("town", "rural")
    first = from_hrc("Euro\n@DE\nEU\n@DE\n@PL\n")
    assert first.parts("Total") == ("EU",)


def test_sums_may_be_regrouped_with_their_parts_or_without() -> None:
    text = "Europe\n@NL\n@@NL1\n@@NL2\n@BE\n@DE\nBenelux\n@NL\n@@NL1\n@@NL2\n@BE\n"
    for each in (text, text.replace("Benelux\n@NL\n@@NL1\n@@NL2\n", "Benelux\n@NL\n")):
        assert from_hrc(each).parts("Benelux") == ("NL", "BE")
