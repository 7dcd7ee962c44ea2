"""What every method that changes values keeps to, whatever the table: a new method joins by one line in `METHODS`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pytest

from diskret import CuboidOptions, Hierarchy, MinCount, ProtectionWarning, Status, Table, mark, perturb, round_table
from diskret.model.contributors import Contributors
from diskret.perturbation.changed_table import Perturbation
from tests import by_hand

Method = Callable[[Table, int], Perturbation]
METHODS: dict[str, Method] = {
    "cuboids": lambda table, seed: perturb(table, seed=seed),
    "cuboids, normal errors": lambda table, seed: perturb(
        table, options=CuboidOptions(distribution="normal"), seed=seed
    ),
    "controlled rounding": lambda table, seed: round_table(table, 3, seed=seed),
    "random rounding": lambda table, seed: round_table(table, 3, method="random", seed=seed),
    "nearest multiple": lambda table, seed: round_table(table, 3, method="deterministic", seed=seed),
}
ADDITIVE = {"cuboids", "cuboids, normal errors", "controlled rounding"}


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


def quietly(method: str, table: Table, seed: int = 1) -> Perturbation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        return METHODS[method](table, seed)


both = pytest.mark.parametrize("method", METHODS)
tables = pytest.mark.parametrize("name", TABLES)


@both
@tables
def test_input_is_untouched_and_the_seed_decides(method: str, name: str) -> None:
    table, again = TABLES[name](), TABLES[name]()
    one, two = quietly(method, table), quietly(method, table)
    for field in fields(table):
        if isinstance(getattr(table, field.name), np.ndarray):
            assert np.array_equal(getattr(table, field.name), getattr(again, field.name))
    if table.respondents is not None:
        assert np.array_equal(table.count, again.count)
    assert np.array_equal(one.table.value, two.table.value)


@both
@tables
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


@both
@tables
def test_nothing_is_hidden_and_the_table_says_it_is_changed(method: str, name: str) -> None:
    done = quietly(method, TABLES[name]())
    assert not done.table.hidden.any()
    assert done.table.altered in ("perturbed", "rounded")
    assert done.summary()["cells"] == done.before.size
    assert done.method in repr(done)


@both
def test_explanations_and_summaries_show_no_values(method: str) -> None:
    table = TABLES["usual"]()
    done = quietly(method, replace(table, value=table.value * 1_000_003), seed=987_654_321)
    codes = table.codes(tuple(int(i) for i in np.argwhere(table.status == Status.PRIMARY)[0]))
    said = done.explain(*codes) + repr(done) + str(done.summary())
    for number in {*done.before.value.reshape(-1).tolist(), *done.table.value.reshape(-1).tolist()} - {0.0}:
        assert f"{number:.0f}" not in said
    assert "987654321" not in said
