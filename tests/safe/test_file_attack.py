"""The attack on an anonymous file says what every possible original says, counted by trying them all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import diskret as dk
from diskret.model.errors import BadOption
from diskret.safe import _cell_kernels
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.control_cells import control_cells
from diskret.safe.file_attack import FileAttack, _Run
from diskret.safe.places import places_in, rows_in
from diskret.safe.published import FileKnowledge, Published
from diskret.tabulation.combinations import Combinations
from tests.safe.conftest import ATTRIBUTES, made_persons

Row = tuple[str, ...]
Cell = tuple[tuple[int, ...], Row]


def tiny(n: int, seed: int) -> dict[str, list[str]]:
    """Persons with two attributes, in which most combinations are rare."""
    random = np.random.default_rng(seed)
    return {
        "a": random.choice(list("xyz"), n, p=[0.5, 0.3, 0.2]).tolist(),
        "b": random.choice(list("pq"), n, p=[0.6, 0.4]).tolist(),
    }


def counted(rows: dict[Row, int], size: int) -> dict[Cell, int]:
    """Every control cell and every combination, by the attributes it is about."""
    found: dict[Cell, int] = {}
    for row, n in rows.items():
        for d in range(1, size + 1):
            for at in combinations(range(size), d):
                cell = at, tuple(row[a] for a in at)
                found[cell] = found.get(cell, 0) + n
    return found


def tally(frame: Any) -> dict[Row, int]:
    found: dict[Row, int] = {}
    for row in zip(*(list(column) for column in frame.values()), strict=True):
        found[row] = found.get(row, 0) + 1
    return found


def possible(anon: Anonymisation, told: Published, *, existed: bool = True) -> Iterator[dict[Row, int]]:
    """All originals over the codes the file shows that fit the file and the figures, one after the other."""
    file = tally(anon.frame)
    universe = list(product(*(sorted({row[a] for row in file}) for a in range(len(anon.attributes)))))
    centre = counted(dict.fromkeys(universe, 0) | file, len(anon.attributes))
    bound = {d: told.bound(d) for d in (1, 2)}
    assert bound[2] is not None
    choices = [
        range(max(int(existed and row in file), file.get(row, 0) - bound[2]), file.get(row, 0) + bound[2] + 1)
        for row in universe
    ]
    for x in product(*choices):
        if sum(x) != anon.objects:
            continue
        rows = dict(zip(universe, x, strict=True))
        cells = counted(rows, len(anon.attributes))
        off = {cell: abs(cells[cell] - n) for cell, n in centre.items()}
        if any(off[cell] > (bound[len(cell[0])] or 0) for cell in cells):
            continue
        met = counted({row: n for row, n in rows.items() if n}, len(anon.attributes))
        fits = all(
            list(counts) == np.bincount([off[c] for c in met if len(c[0]) == d], minlength=len(counts)).tolist()
            for d, counts in told.deviations.items()
        )
        if fits and told.uniques in (None, sum(n == 1 for n in rows.values())):
            yield rows


def by_trying(
    anon: Anonymisation, told: Published, data: dict[str, list[str]], least: int, *, existed: bool = True
) -> tuple[int, int, int, int]:
    """Small counts somebody can name, those with too few values, those known exactly, and the number of originals."""
    originals = [counted(each, 2) for each in possible(anon, told, existed=existed)]
    small = {cell: n for cell, n in counted(tally(data), 2).items() if 0 < n < 3}
    values = {c: {o[c] for o in originals} for c in small if c in originals[0]}
    # a combination of both attributes is a control cell as well, and counts twice
    times = {cell: len(cell[0]) for cell in small}
    narrow = [cell for cell, possible_ in values.items() if len(possible_) < least]
    exact = sum(times[cell] for cell in narrow if len(values[cell]) == 1)
    return sum(times.values()), sum(times[cell] for cell in narrow), exact, len(originals)


def said(found: FileAttack) -> tuple[int, int, int]:
    return found.counts, len(found.exposed), found.pinned


CASES = st.tuples(st.integers(8, 13), st.integers(0, 10_000), st.integers(1, 2), st.integers(1, 2), st.booleans())


@given(CASES)
@settings(max_examples=15)
def test_it_says_what_trying_every_original_says(case: tuple[int, int, int, int, bool]) -> None:
    n, seed, one, two, existed = case
    data = tiny(n, seed)
    anon = dk.anonymise(data, ["a", "b"], seed=seed)
    maxima = anon.quality.maxima
    told = Published(largest={1: max(one, maxima[1]), 2: max(two, maxima[2])})
    found = dk.attack_anonymous(anon, told, FileKnowledge(existed=existed))
    counts, exposed, exact, _ = by_trying(anon, told, data, 3, existed=existed)
    assert said(found) == (counts, exposed, exact)
    assert found.undecided == 0


@given(CASES)
@settings(max_examples=8)
def test_programmes_prove_and_show_nothing_but_the_truth(case: tuple[int, int, int, int, bool]) -> None:
    """Where the originals are too many to visit: what programmes call exposed or safe is so."""
    n, seed, one, two, existed = case
    data = tiny(n, seed)
    anon = dk.anonymise(data, ["a", "b"], seed=seed)
    told = Published(largest={1: max(one, anon.quality.maxima[1]), 2: max(two, anon.quality.maxima[2])})
    with pytest.MonkeyPatch.context() as during:
        during.setattr("diskret.safe.possible.NODES", 0)
        found = dk.attack_anonymous(anon, told, FileKnowledge(existed=existed))
        during.setattr("diskret.safe.file_attack.MOST_ROWS", 0)
        near = dk.attack_anonymous(anon, told, FileKnowledge(existed=existed))
    _, exposed, exact, _ = by_trying(anon, told, data, 3, existed=existed)
    assert found.originals is near.originals is None
    assert exposed - found.undecided <= len(found.exposed) <= exposed
    assert found.pinned <= exact
    assert not near.exposed
    assert near.undecided >= exposed


def test_numbers_of_cells_by_deviation_give_small_counts_back_and_bounds_do_not() -> None:
    """The example of the documentation: file and histogram leave one original."""
    firms = {"industry": ["D.10.1", "D.10.2", "D.10.3"] + ["D.11.1"] * 5}
    groups = ["D.10.1", "D.10.2", "D.10.3"]
    industry = dk.Hierarchy.from_nested({"all": {"D.10": groups, "D.11": ["D.11.1"]}})
    anon = dk.anonymise(firms, {"industry": industry}, seed=1)
    open_ = dk.attack_anonymous(anon, Published.everything(anon))
    assert (open_.originals, open_.pinned, open_.counts) == (1, 6, 6)
    assert {(t.codes, t.values) for t in open_.exposed} == {((g,), (1,)) for g in groups}
    assert dk.attack_anonymous(anon).safe


def test_a_count_has_the_values_that_are_possible_and_not_those_between_them() -> None:
    """Both codes are off by exactly two: one person and five, or five and one."""
    original, shown = {"x": ["a"] + ["b"] * 5}, {"x": ["a"] * 3 + ["b"] * 3}
    told = Published(deviations={1: (0, 0, 2)})
    found = dk.attack_anonymous(shown, told, original=original, attributes=["x"])
    assert {t.values for t in found.exposed} == {(1, 5)}
    assert found.report(internal=True).splitlines()[1] == "  a (x): 1, 5"


@given(n=st.integers(8, 13), seed=st.integers(0, 10_000))
@example(n=9, seed=73)
@settings(max_examples=8)
def test_figures_beyond_bounds_are_weighed_as_by_trying(n: int, seed: int) -> None:
    data = tiny(n, seed)
    anon = dk.anonymise(data, ["a", "b"], seed=seed)
    vanished = {*tally(data)} - {*product(*({*column} for column in anon.frame.values()))}
    told = Published.everything(anon)
    found = dk.attack_anonymous(anon, told)
    if vanished:  # the true original is beyond the codes he knows
        return
    counts, exposed, exact, originals = by_trying(anon, told, data, 3)
    assert said(found) == (counts, exposed, exact)
    assert found.originals == (originals if counts else None)  # without a small count nothing is asked


@given(n=st.integers(20, 200), seed=st.integers(0, 1000), k=st.integers(2, 5))
@settings(max_examples=10)
def test_what_the_public_report_tells_leaves_k_values_for_every_small_count(n: int, seed: int, k: int) -> None:
    anon = dk.anonymise(made_persons(n, seed), ATTRIBUTES, k=k, seed=seed, search=dk.LadderSearch(effort=0.05))
    assert min(anon.bounds.values()) >= k - 1
    found = dk.attack_anonymous(anon)
    assert found.safe
    assert found.least == k


def test_the_file_of_another_program_is_judged_by_both_files() -> None:
    data = tiny(40, 5)
    anon = dk.anonymise(data, ["a", "b"], seed=1)
    here = dk.attack_anonymous(anon, Published(largest={1: 1, 2: 1}))
    there = dk.attack_anonymous(
        anon.frame, Published(largest={1: 1, 2: 1}), original=data, attributes=["a", "b"]
    )  # fmt: skip
    assert said(here) == said(there)
    with pytest.raises(BadOption, match="original and attributes are missing"):
        dk.attack_anonymous(anon.frame)
    with pytest.raises(BadOption, match="39 objects"):
        dk.attack_anonymous({k: v[1:] for k, v in anon.frame.items()}, original=data, attributes=["a", "b"])
    with pytest.raises(BadOption, match="least"):
        dk.attack_anonymous(anon, least=1)
    with pytest.raises(BadOption, match="not controlled"):
        dk.attack_anonymous(
            dk.anonymise(data, ["a", "b"], control=dk.Control(up_to=1)), knowledge=FileKnowledge(tables=[["a", "b"]])
        )


def test_whoever_knows_a_table_from_elsewhere_narrows_it_down() -> None:
    data = tiny(12, 5)
    anon = dk.anonymise(data, ["a", "b"], seed=1)
    known = dk.attack_anonymous(anon, knowledge=FileKnowledge(tables=[["a", "b"]], codes={"a": list("xyz")}))
    small = sum(0 < n < 3 for n in tally(data).values())
    assert known.pinned >= 2 * small > 0
    assert "the counts of a x b" in known.summary()["known"]
    persons = {name: column[:] for name, column in data.items()}
    all_of_them = dk.attack_anonymous(anon, knowledge=FileKnowledge(records=persons, codes={"a": list("xyz")}))
    assert all_of_them.pinned == all_of_them.counts


def test_it_is_the_same_every_time() -> None:
    anon = dk.anonymise(tiny(12, 2), ["a", "b"], seed=1)
    told = Published.everything(anon)
    one, two = (dk.attack_anonymous(anon, told) for _ in range(2))
    assert (one.exposed, one.undecided) == (two.exposed, two.undecided)
    assert not one.safe
    assert one.report(internal=True).count("\n") == min(20, len(one.exposed))


# --- many rows -------------------------------------------------------------------------------------------------------


def knowing_a_person(n: int, seed: int = 3) -> tuple[Anonymisation, FileKnowledge]:
    """A file, and somebody who knows two persons whose combinations vanished: moving objects settles nothing."""
    data = made_persons(n, seed)
    anon = dk.anonymise(data, ATTRIBUTES, seed=1, search=dk.LadderSearch(effort=0.05))
    vanished = anon.codes[(anon.original > 0) & (anon.frequency == 0)][:2]
    names = {name: np.array(h.codes, dtype=object) for name, h in anon.attributes.items()}
    return anon, FileKnowledge(
        records={name: codes[vanished[:, a]] for a, (name, codes) in enumerate(names.items())}, codes={}
    )


def test_a_file_of_many_rows_is_attacked_without_a_number_per_row_and_table(monkeypatch: pytest.MonkeyPatch) -> None:
    anon, knowledge = knowing_a_person(900)
    asked = _cell_kernels.number_places

    def number(places: Any, rank: Any, found: Any) -> None:
        assert len(found) <= 100 < len(anon.codes), "a number for every row of the file"
        asked(places, rank, found)

    monkeypatch.setattr(_cell_kernels, "number_places", number)
    monkeypatch.setattr("diskret.safe.file_attack.MOST_ROWS", 0)
    monkeypatch.setattr("diskret.safe.file_attack.MOST_LOOKED_AT", 12)
    monkeypatch.setattr("diskret.safe.file_attack.NEAR", 80)
    found = dk.attack_anonymous(anon, knowledge=knowledge)
    assert found.safe_counts + len(found.exposed) + found.undecided == found.counts


def test_of_too_many_counts_a_sample_is_looked_at_and_the_rest_is_said_to_be_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    anon, knowledge = knowing_a_person(300)
    monkeypatch.setattr("diskret.safe.file_attack.MOST_ROWS", 0)
    whole = dk.attack_anonymous(anon, knowledge=knowledge)
    looked_at: list[Any] = []
    around = _Run._around

    def watched(run: _Run, target: Any) -> Any:
        looked_at.append(target)
        return around(run, target)

    monkeypatch.setattr(_Run, "_around", watched)
    monkeypatch.setattr("diskret.safe.file_attack.MOST_LOOKED_AT", 40)
    found = dk.attack_anonymous(anon, knowledge=knowledge)
    assert whole.passed_over == 0 < whole.counts - 40 == found.passed_over <= found.undecided
    assert not found.safe
    assert f"{found.passed_over:,} were not looked at: a sample of 40 was" in str(found)
    assert str(found).startswith(("not safe: ", "not shown to be safe: "))
    assert len(looked_at) == 40 == len({(each.table, each.row) for each in looked_at})
    assert {each.table is None for each in looked_at} == {True, False}  # combinations and cells
    assert found.summary() == dk.attack_anonymous(anon, knowledge=knowledge).summary()  # the same sample every time


def test_places_of_one_table_are_those_of_all(persons: dict[str, Any]) -> None:
    """Worked out for one table, they are the cells that the compiled loop numbers, listed tables and counters too."""
    persons = {**persons, "first": np.where(np.arange(900) % 7, "0", "1").astype(object)}
    control = dk.Control(up_to=3, counters={"first": ["region", "job"]})
    anon = dk.anonymise(persons, [*ATTRIBUTES, "first"], control=control, search=dk.LadderSearch(effort=0.01))
    listed: list[int] = []
    for sparse in (4, 0):
        with pytest.MonkeyPatch.context() as during:
            during.setattr("diskret.safe.control_cells.SPARSE", sparse)
            during.setattr("diskret.safe.control_cells.SMALL", 40)
            rows = Combinations(by=anon.attributes, codes=anon.codes, frequency=anon.original)
            cells = control_cells(rows, anon.control.tables)
        listed.append(cells.places.listed.shape[1])
        for t in range(len(cells.tables)):
            place = places_in(cells.places, t, cells.places_size)
            assert np.searchsorted(cells.occurring, place).tolist() == cells.number[:, t].tolist()
    assert 0 < listed[0] < listed[1] < len(anon.control.tables)


def test_rows_are_found_where_they_stand() -> None:
    random = np.random.default_rng(4)
    rows = np.unique(random.integers(0, 5, (400, 6)).astype(np.int32), axis=0)
    wanted = random.integers(-1, 6, (300, 6)).astype(np.int32)
    wanted[::2] = rows[random.integers(0, len(rows), 150)]
    place = {tuple(row): i for i, row in enumerate(rows.tolist())}
    assert rows_in(rows, wanted).tolist() == [place.get(tuple(row), -1) for row in wanted.tolist()]


def test_the_file_wanders_and_does_not_stay_as_close_as_it_could() -> None:
    """The search may have found a closer file on its way: what is given away forgets it."""
    below = 0
    for seed in range(12):
        anon = dk.anonymise(made_persons(400, seed), ["age", "job", "sex"], seed=seed)
        below += any(m < floor for m, floor in zip(anon.quality.maxima.values(), (1, 2, 2), strict=True))
    assert below == 0
