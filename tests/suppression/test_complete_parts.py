"""The parts of the fictitious complete table as the text of chapter 7 walks through them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diskret
from diskret import Hierarchy, Knowledge, Promise, Status, Table
from diskret.model.contributors import Contributors
from diskret.suppression.complete.by_complete import search_of
from diskret.suppression.complete.faces import balanced, corners, diametrals, faces_of, first_range, shift
from diskret.suppression.complete.space import FORBIDDEN, IndexSpace
from diskret.suppression.complete.strands import strand_of
from diskret.suppression.methods import Complete
from tests.printed import ReadFile

EXACT = Promise(levels=False, knowledge=Knowledge.none())
RIGID = Complete(deformations=0, thin=False)


def regular(*lengths: int) -> Hierarchy:
    """A classification whose segments are all equally long, the finest level first; codes are tuples of positions."""
    up = {}
    for level in range(len(lengths)):
        for t in product(*(range(1, n + 1) for n in reversed(lengths[level:]))):
            up[".".join(map(str, t))] = ".".join(map(str, t[:-1])) or "all"
    return Hierarchy.from_parents(up)


def tuples_of(space: IndexSpace, code: str) -> tuple[int, ...]:
    return tuple(int(i) for i in space.tuples[space.hierarchy.index(code)])


def code_at(space: IndexSpace, *elementary: int) -> int:
    """The code at a tuple, given as the text does: the highest level first."""
    return int(space.codes_at(np.array([elementary[::-1]]))[0])


@pytest.fixture(scope="module")
def reference(printed_file: ReadFile) -> IndexSpace:
    """The classification of figures 7.1 to 7.3."""
    said = printed_file("ch7-abb71-73-index-reference-table")["table"]
    return IndexSpace.of(Hierarchy.from_levels([str(u) for u in said["user_index"]], said["aggregation_index"]))


def test_index_reference_table(printed_file: ReadFile, reference: IndexSpace) -> None:
    said = printed_file("ch7-abb71-73-index-reference-table")["expected"]
    assert [reference.tuples[:, a].tolist() for a in range(3)] == [said["E1"], said["E2"], said["E3"]]
    assert reference.lengths == tuple(said["max_segment_length"].values())
    assert (reference.codes_at(reference.tuples) == np.arange(16)).all()


# --- candidate ranges ------------------------------------------------------------------------------------------------


def test_candidate_ranges_of_user_index_6(printed_file: ReadFile, reference: IndexSpace) -> None:
    said = printed_file("ch7-candidate-ranges")["expected"]["pivot_6"]
    code = reference.hierarchy.index("6")
    assert list(tuples_of(reference, "6")) == said["tuple"]
    assert first_range(reference, code) == 1
    inside = np.vstack([reference.tuples[code], diametrals(reference, code, 1)])
    assert sorted(inside[:, 0].tolist()) == said["range_1"]["loop"]["E1"]
    assert (inside[:, 1:] == [said["range_1"]["constant"]["E2"], said["range_1"]["constant"]["E3"]]).all()
    kinds = ["forbidden dummy" if c == FORBIDDEN else int(c) + 1 for c in reference.look_up(inside)]
    assert kinds == [6, 7, "forbidden dummy"]
    assert _user_indices(reference, code, 2) == set(said["range_2"]["user_indices"])


def test_candidate_ranges_of_user_index_14(printed_file: ReadFile, reference: IndexSpace) -> None:
    said = printed_file("ch7-candidate-ranges")["expected"]["pivot_14"]
    code = reference.hierarchy.index("14")
    assert list(tuples_of(reference, "14")) == said["tuple"]
    assert first_range(reference, code) == 2
    first, second = diametrals(reference, code, 2), diametrals(reference, code, 3)
    own = reference.tuples[code]
    for a, name in enumerate(("E1", "E2")):
        assert sorted({*first[:, a].tolist(), int(own[a])}) == said["range_1"]["loop"][name]
    for a, name in enumerate(("E1", "E2", "E3")):
        assert sorted({*second[:, a].tolist(), int(own[a])}) == said["range_2"]["loop"][name]
    assert _user_indices(reference, code, 2) == set(said["range_1"]["user_indices"])


def _user_indices(space: IndexSpace, code: int, top: int) -> set[int]:
    """User indices that lie in a candidate range."""
    lines = diametrals(space, code, top)
    values = [sorted({*lines[:, a].tolist(), int(space.tuples[code, a])}) for a in range(space.dimension)]
    found = space.codes_at(np.array(list(product(*values))))
    return {int(c) + 1 for c in found if c >= 0}


def test_partner_sets_in_one_classification(printed_file: ReadFile, reference: IndexSpace) -> None:
    said = printed_file("ch7-candidate-ranges")["expected"]["derived_partner_sets"]
    for pivot, top, key in ((6, 2, "pivot_6_range_2"), (14, 2, "pivot_14_range_1")):
        code = reference.hierarchy.index(str(pivot))
        lines = diametrals(reference, code, top)
        fields = reference.look_up(corners(reference, code, lines, top)[0])
        whole = {tuple(d[:2]): set(f.tolist()) for d, f in zip(lines.tolist(), fields, strict=True)}
        usable = {d for d, f in whole.items() if FORBIDDEN not in f}
        for named in said[key]:
            real = {int(f) - 1 for f in named["fields"] if not isinstance(f, str)}
            assert {c for c in whole[tuple(named["diametral"])] if c >= 0} == real
        assert usable == {tuple(n["diametral"]) for n in said[key]}


# --- strands ---------------------------------------------------------------------------------------------------------


def test_7_5_the_strand_below_a_pivot(printed_file: ReadFile) -> None:
    said = printed_file("ch7-abb75-strand-tracing")
    rows, columns = IndexSpace.of(regular(3, 2)), IndexSpace.of(regular(2, 3, 2))
    primary = np.zeros((len(rows.hierarchy), len(columns.hierarchy)), dtype=bool)
    for i, line in enumerate(said["table"]["grid"]):
        for j, symbol in enumerate(line):
            if symbol in "PE":
                row = code_at(rows, i // 4 + 1, i % 4 + 1)
                primary[row, code_at(columns, 1, j // 3 + 1, j % 3 + 1)] = True
    expected = said["expected"]

    def cell(t: list[int]) -> tuple[int, int]:
        return code_at(rows, *t[:2]), code_at(columns, *t[2:])

    found = strand_of([rows, columns], cell(expected["pivot"]), primary)
    assert found == [cell(t) for t in expected["strand"]]
    assert len(found) == expected["s"]
    free = [d is None for d in expected["diametral_partial"]]
    assert sum(free) == expected["m_prime"]
    assert rows.dimension + columns.dimension == expected["n"] == expected["s"] + expected["m_prime"]


def test_strands_lie_in_the_cuboid_and_are_protected_with_the_pivot() -> None:
    tree = regular(2, 2)
    sums = tree.codes
    value = np.full((len(sums), 3), 10.0)
    by = {"a": tree, "b": Hierarchy.flat(["x", "y"])}
    leaves = [[a, b] for a, leaf in zip(sums, tree.is_leaf, strict=True) if leaf for b in "xy"]
    cells = {"a": [c[0] for c in leaves], "b": [c[1] for c in leaves], "v": [10.0] * len(leaves)}
    table = Table.from_cells(cells, by=by, value="v")
    assert table.value.shape == value.shape
    table = table.with_status(Status.PRIMARY, [["1", "x"], ["1.2", "x"]])
    result = diskret.suppress(table, method=diskret.methods.Complete(thin=False))
    upper, lower = (int(np.ravel_multi_index(table.index(c, "x"), table.shape)) for c in ("1", "1.2"))
    # column by column the lower one comes first; its cuboid does not reach the sum, whose own holds both
    assert all(lower in m.cells for m in result.moves_of("1", "x"))
    assert upper in result.moves_of("1", "x")[0].cells


# --- double cuboids --------------------------------------------------------------------------------------------------


def test_7_4_two_cuboids_protect_the_pivot_and_nothing_below_it(printed_file: ReadFile) -> None:
    """Someone alone in layer 2 can compute what lies below the pivot there, but not the pivot."""
    said = printed_file("ch7-abb74-double-cuboid-subordinate-values-unprotected")
    by = {"row": Hierarchy.flat(["1", "2"], total="3"),
          "column": Hierarchy.from_nested({"all": {"1.3": ["1.1", "1.2"], "2.3": ["2.1", "2.2"]}})}  # fmt: skip
    value, count = np.zeros((3, 7)), np.zeros((3, 7), dtype=np.int64)

    def at(layer: int, row: int, column: int) -> tuple[int, int]:
        name = "all" if layer == 3 else f"{layer}.{column}"
        return by["row"].index(str(row)), by["column"].index(name)

    for layer, row, column in product((1, 2), (1, 2), (1, 2)):
        value[at(layer, row, column)], count[at(layer, row, column)] = 40 + 7 * layer + 3 * row + column, 5
    for layer in (1, 2):
        value[at(layer, 2, 1)], count[at(layer, 2, 1)] = 0, 0
        count[at(layer, 2, 2)] = 1
    for whole in (value, count):
        for layer, row in product((1, 2), (1, 2)):
            whole[at(layer, row, 3)] = whole[at(layer, row, 1)] + whole[at(layer, row, 2)]
        for row in (1, 2):
            whole[at(3, row, 3)] = whole[at(1, row, 3)] + whole[at(2, row, 3)]
        whole[2] = whole[0] + whole[1]
    status = np.zeros((3, 7), dtype=np.uint8)
    for t in said["table"]["secret"]:
        status[at(*t)] = Status.SECONDARY
    pivot = at(*said["table"]["pivot"])
    status[pivot] = Status.PRIMARY
    table = Table(by, "x", value, status, Contributors(count))
    flat = int(np.ravel_multi_index(pivot, table.shape))
    both = search_of(table, EXACT, RIGID).secured(flat)
    layers = [{int(c) % 7 // 3 + 1 for c in cuboid.cells if int(c) % 7 < 6} for cuboid in both]
    assert sorted(map(sorted, layers)) == [[1], [2]]
    below = [at(*t) for t in said["table"]["subordinate_primaries"]]
    for cell in below:
        status[cell] = Status.PRIMARY
    again = replace(table, status=status)
    search = search_of(again, EXACT, RIGID)
    assert not search.secured(int(np.ravel_multi_index(below[0], table.shape)))
    exposed = {e.index for e in diskret.audit(again, diskret.Promise(knowledge=Knowledge.none())).exposed}
    assert exposed == set(below)
    assert not diskret.audit(
        diskret.suppress(again, diskret.Promise(knowledge=Knowledge.none()), diskret.methods.Complete()).table,
        diskret.Promise(knowledge=Knowledge.none()),
    ).exposed


# --- deformation -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bent(printed_file: ReadFile) -> tuple[dict[str, Any], IndexSpace, IndexSpace]:
    said = printed_file("ch7-abb76-cuboid-deformation")
    return said, IndexSpace.of(regular(3, 2)), IndexSpace.of(regular(2, 3))


def _box(rows: np.ndarray, columns: np.ndarray) -> list[list[int]]:
    """Fields of a cuboid as the text writes them: row block, row, column block, column."""
    return sorted([*r[::-1].tolist(), *c[::-1].tolist()] for r in rows for c in columns)


def test_7_6_two_shifts_around_zeros(bent: tuple[dict[str, Any], IndexSpace, IndexSpace]) -> None:
    said, rows, columns = bent
    expected = said["expected"]
    pivot, diametral = expected["pivot"], np.array(expected["diametral"])
    r, r_signs = corners(rows, code_at(rows, *pivot[:2]), diametral[None, 1::-1], 2)
    c, c_signs = corners(columns, code_at(columns, *pivot[2:]), diametral[None, :1:-1], 2)
    assert _box(r[0], c[0]) == sorted(expected["start_cuboid"])
    zero = expected["offending_field"]
    assert [i + 1 for i, star in enumerate(_stars(rows, columns, zero)) if star] == expected[
        "star_indices_of_offending"
    ]
    first, second = expected["attempt_1"], expected["attempt_2"]
    one = np.array([first["normal_value"]]), np.array([first["from"]])
    (after,), _ = shift(rows, r, 1, 0, *one, by=first["to"] - first["from"])
    moved = [f for f in _box(after, c[0]) if f not in expected["start_cuboid"]]
    assert moved == sorted(first["moved_to"])
    two = np.array([second["normal_value"]]), np.array([second["from"]])
    (last,), _ = shift(columns, c, 1, 0, *two, by=second["to"] - second["from"])
    assert _box(after, last) == sorted(expected["final_cuboid"])
    signs = {(*t[::-1], *u[::-1]): s * z
             for (t, s), (u, z) in product(zip(after.tolist(), r_signs[0].tolist(), strict=True),
                                           zip(last.tolist(), c_signs[0].tolist(), strict=True))}  # fmt: skip
    assert signs == {tuple(f["field"]): 1 if f["sign"] == "+" else -1 for f in expected["signs_final"]}
    assert sum(_symbol(said, f).startswith("0") for f in _box(after, last)) == expected["zeros_left"]


def _stars(rows: IndexSpace, columns: IndexSpace, field: list[int]) -> list[bool]:
    """Which indices of a field lead to star sums, in the order of the text."""
    r, c = np.array([field[1::-1]]), np.array([field[:1:-1]])
    return [bool(s.is_star(t, a)[0]) for s, t in ((rows, r), (columns, c)) for a in (1, 0)]


def _symbol(said: dict[str, Any], field: list[int]) -> str:
    block, row, strip, column = field
    symbol: str = said["table"]["grid"][(block - 1) * 4 + row - 1][(strip - 1) * 3 + column - 1]
    return symbol


def test_7_6_the_search_finds_the_deformed_cuboid_only_if_two_shifts_are_allowed(
    bent: tuple[dict[str, Any], IndexSpace, IndexSpace],
) -> None:
    said, rows, columns = bent
    grid = np.array([[_symbol(said, [rb, r, cb, c]) for cb, c in product((1, 2, 3, 4), (1, 2, 3))]
                     for rb, r in product((1, 2, 3), (1, 2, 3, 4))])  # fmt: skip
    assert grid.shape == (12, 12)
    expected = {frozenset(_codes(rows, columns, f) for f in said["expected"]["final_cuboid"])}
    pivot = said["expected"]["pivot"]
    row, column = code_at(rows, *pivot[:2]), code_at(columns, *pivot[2:])
    for deformations, there in ((1, False), (2, True)):
        built = set()
        row_faces, column_faces = (faces_of(s, c, 2, deformations) for s, c in ((rows, row), (columns, column)))
        for (i, a), (j, b) in product(enumerate(row_faces.sets()), enumerate(column_faces.sets())):
            if row_faces.bends[i] + column_faces.bends[j] <= deformations:
                built.add(frozenset(product([row, *a], [column, *b])))
        assert (expected <= built) is there


def _codes(rows: IndexSpace, columns: IndexSpace, field: list[int]) -> tuple[int, int]:
    return code_at(rows, *field[:2]), code_at(columns, *field[2:])


def test_7_7_a_face_of_two_segments_straight_and_shifted() -> None:
    """a against c, then a against d (the printed traces are compared in test_complete_sentences)."""
    space = IndexSpace.of(Hierarchy.from_nested({"all": {"AB": ["a", "b"], "CD": ["c", "d"]}}))
    a, b, whole, c, d, other = range(6)
    faces = faces_of(space, a, 2, 1)
    straight, shifted = ({whole: 1, x: -1, other: -1} for x in (c, d))
    bends = {frozenset(f.items()): int(n) for f, n in zip(faces.sets(), faces.bends, strict=True)}
    assert bends[frozenset(straight.items())] == 0
    assert bends[frozenset(shifted.items())] == 1
    assert b not in straight


def test_sets_without_forbidden_dummies_add_up_and_those_with_one_do_not(
    trees: st.SearchStrategy[dict[str, str]],
) -> None:
    """Two forbidden dummies of one segment may cancel; a smaller range then holds the same codes."""

    @settings(max_examples=40)
    @given(trees)
    def check(pairs: dict[str, str]) -> None:
        space = IndexSpace.of(Hierarchy.from_parents(pairs))
        for code in range(len(space.hierarchy)):
            for top in range(first_range(space, code), space.dimension + 1):
                lines = diametrals(space, code, top)
                if len(lines) > 2000:
                    continue
                tuples, signs = corners(space, code, lines, top)
                codes = space.look_up(tuples)
                forbidden = (codes == FORBIDDEN).sum(axis=1)
                fine = balanced(space, np.maximum(codes, -1), signs)
                assert fine[forbidden == 0].all()
                assert not fine[forbidden == 1].any()

    check()
