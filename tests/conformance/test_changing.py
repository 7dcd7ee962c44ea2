"""What every method keeps to that changes values, whatever the table: a new method joins by one line in `METHODS`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from diskret import (
    CuboidOptions,
    Hierarchy,
    MinCount,
    ProtectionWarning,
    Scaling,
    Status,
    Table,
    adjust,
    design_p_table,
    mark,
    perturb,
    perturb_by_key,
    round_table,
)
from diskret.cellkey.cell_key import KeyedNoise
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption, ChangeOutOfReach
from diskret.perturbation.changed_table import Perturbation
from tests import by_hand
from tests.frozen import content, frozen
from tests.worlds import world

Changed = Perturbation | KeyedNoise
Method = Callable[[Table, int], Changed]
METHODS: dict[str, Method] = {
    "cuboids": lambda table, seed: perturb(table, seed=seed),
    "cuboids, normal errors": lambda table, seed: perturb(
        table, options=CuboidOptions(distribution="normal"), seed=seed
    ),
    "adjustment": lambda table, seed: adjust(table),
    "adjustment, squares": lambda table, seed: adjust(table, distance="L2", directions="up"),
    "controlled rounding": lambda table, seed: round_table(table, 3, seed=seed),
    "random rounding": lambda table, seed: round_table(table, 3, method="random", seed=seed),
    "nearest multiple": lambda table, seed: round_table(table, 3, method="deterministic", seed=seed),
    "cell keys": lambda table, seed: by_key(table, seed),
}
ADDITIVE = {"cuboids", "cuboids, normal errors", "adjustment", "adjustment, squares", "controlled rounding"}
NOISE = design_p_table(deviation=2, variance=1)
SIZES = design_p_table(deviation=2, variance=1, step=0.5, cells=(1, 5))


def by_key(table: Table, seed: int) -> KeyedNoise:
    """With keys drawn for the cells: the seed decides them, as it decides those of records."""
    keyed = replace(table, key=np.random.default_rng(seed).random(table.shape))
    if table.frequency:
        return perturb_by_key(keyed, NOISE)
    return perturb_by_key(keyed, SIZES, scaling=Scaling(weights=(1.0,)))


def marked(table: Table) -> Table:
    return mark(table, MinCount(3), special_cases=False)


def nobody() -> Table:
    table = by_hand.firms(1).table
    people = Contributors(np.zeros_like(table.count))
    return replace(table, value=np.zeros(table.shape), respondents=people)


def one_cell(*codes: str) -> Table:
    by = {"s": Hierarchy.flat(codes)}
    shape = (len(codes) + 1,)
    people = Contributors(np.ones(shape, dtype=np.int64))
    return Table(by, "x", np.full(shape, 5.0), np.zeros(shape, dtype=np.uint8), people, positive=True)


TABLES: dict[str, Callable[[], Table]] = {
    "usual": lambda: marked(by_hand.firms(1).table),
    "three classifications": lambda: marked(by_hand.firms(2, axes=3, trees=(0, 2, 3)).table),
    "ragged depth on both sides": lambda: marked(by_hand.firms(3, trees=(0, 4)).table),
    "negative values": lambda: marked(by_hand.firms(4, negative=True).table),
    "all cells empty": nobody,
    "one record": lambda: marked(one_cell("a")),
    "depth 1": lambda: marked(one_cell()),
    "everything sensitive": lambda: replace(
        by_hand.firms(5, empty=0.0).table, status=np.full(by_hand.firms(5).table.shape, Status.PRIMARY, dtype=np.uint8)
    ),
    "hidden before": lambda: by_hand.hide(by_hand.firms(6).table, 6, 0.2, 0.2),
    "counts": lambda: by_hand.counts(7),
}


def quietly(method: str, table: Table, seed: int = 1) -> Changed:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        return METHODS[method](table, seed)


NO_CONTRIBUTIONS = ("all cells empty", "one record", "depth 1")
CASES = [(m, t) for m in METHODS for t in TABLES if m != "cell keys" or t not in NO_CONTRIBUTIONS]
every = pytest.mark.parametrize(("method", "name"), CASES)
both = pytest.mark.parametrize("method", METHODS)
tables = pytest.mark.parametrize("name", TABLES)


@every
def test_input_is_untouched_and_the_seed_decides(method: str, name: str) -> None:
    table = frozen(TABLES[name]())
    before = content(table)
    one, two = quietly(method, table), quietly(method, table)
    assert content(table) == before
    assert content(one.table) == content(two.table)


@every
def test_zeros_stay_and_positive_stays_positive(method: str, name: str) -> None:
    table = TABLES[name]()
    after = quietly(method, table).table.value
    if not (table.value < 0).any():
        assert (after >= 0).all()
        assert (after[table.value == 0] == 0).all()
    assert np.array_equal(after, np.rint(after))


@pytest.mark.parametrize("method", sorted(ADDITIVE))
@tables
def test_sums_hold(method: str, name: str) -> None:
    after = quietly(method, TABLES[name]()).table
    for whole, parts in by_hand.equations(after):
        assert after.value[whole] == sum(after.value[p] for p in parts)


@every
def test_nothing_is_hidden_and_the_table_says_it_is_changed(method: str, name: str) -> None:
    done = quietly(method, TABLES[name]())
    assert not done.table.hidden.any()
    assert done.table.altered
    assert done.summary()["cells"] == done.table.size


@both
def test_what_is_said_about_a_change_shows_no_values(method: str) -> None:
    table = TABLES["usual"]()
    before = replace(table, value=table.value * 1_000_003)
    done = quietly(method, before, seed=987_654_321)
    said = str(done.summary()) + (str(done) if isinstance(done, KeyedNoise) else repr(done))
    if isinstance(done, Perturbation):
        said += done.explain(*table.codes(tuple(int(i) for i in np.argwhere(table.status == Status.PRIMARY)[0])))
    for number in {*before.value.reshape(-1).tolist(), *done.table.value.reshape(-1).tolist()} - {0.0}:
        assert f"{number:.0f}" not in said
    assert "987654321" not in said


@both
def test_what_was_changed_is_not_changed_again(method: str) -> None:
    """Two changes of one table, compared, would tell more than one."""
    changed = quietly(method, TABLES["counts"]()).table
    with pytest.raises(BadOption, match="changed already") as told:
        METHODS[method](changed, 2)
    assert told.value.hint


@pytest.mark.parametrize("method", sorted(ADDITIVE))
def test_sums_of_overlapping_groupings_and_systems_hold_or_are_refused_at_once(method: str) -> None:
    for kind in ("groupings", "pool", "system"):
        given = world(kind, 3)
        if method.startswith("adjustment") and kind == "system":
            with pytest.raises(ChangeOutOfReach):  # two of its primary cells stand in sums with zeros alone
                METHODS[method](given.cells, 1)
        elif not method.startswith("cuboids"):
            after = quietly(method, given.cells).table.value.reshape(-1)
            assert all(sum(f * after[c] for c, f in e.items()) == 0 for e in given.equations)
            assert (after % 3 == 0).all() or method != "controlled rounding"
        else:
            with pytest.raises(BadOption) as told:
                METHODS[method](given.cells, 1)
            assert told.value.hint
