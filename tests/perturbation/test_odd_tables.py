"""Cell keys and merging on tables that are empty, tiny, negative, ragged, or sensitive all over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import diskret as dk
from diskret.cellkey.options import Scaling
from diskret.model.contributors import Contributors
from tests import by_hand

COUNTS = dk.design_p_table(deviation=5, variance=2, smallest=3)
VALUES = dk.design_p_table(deviation=5, variance=1, step=0.5, cells=(1, 5))


def one_cell(*codes: str) -> dk.Table:
    shape = (len(codes) + 1,)
    people = Contributors(np.ones(shape, dtype=np.int64), np.full((*shape, 3), [5.0, 0, 0]))
    status = np.zeros(shape, dtype=np.uint8)
    return dk.Table({"s": dk.Hierarchy.flat(codes)}, "x", np.full(shape, 5.0), status, people, positive=True)


def nobody() -> dk.Table:
    table = by_hand.firms(1).table
    people = Contributors(np.zeros_like(table.count), np.zeros((*table.shape, 3)))
    return replace(table, value=np.zeros(table.shape), respondents=people)


def sensitive() -> dk.Table:
    table = by_hand.firms(5, empty=0.0).table
    return replace(table, status=np.full(table.shape, dk.Status.PRIMARY, dtype=np.uint8))


TABLES: dict[str, Callable[[], dk.Table]] = {
    "usual": lambda: by_hand.firms(1).table,
    "three classifications": lambda: by_hand.firms(2, axes=3, trees=(0, 2, 3)).table,
    "ragged depth": lambda: by_hand.firms(3, trees=(0, 4)).table,
    "negative values": lambda: by_hand.firms(4, negative=True).table,
    "all cells empty": nobody,
    "one record": lambda: one_cell("a"),
    "depth 1": one_cell,
    "everything sensitive": sensitive,
}


def keyed(table: dk.Table) -> dk.Table:
    key = dk.draw_keys(table.size, 1).reshape(table.shape) * (table.count > 0)
    return replace(table, key=key)


@pytest.mark.parametrize("name", TABLES)
def test_noise_of_values_leaves_zeros_signs_and_its_input_alone(name: str) -> None:
    table, again = keyed(TABLES[name]()), keyed(TABLES[name]())
    noisy = dk.perturb_by_key(table, VALUES, scaling=Scaling())
    assert table.value.tobytes() == again.value.tobytes()
    assert (noisy.table.value[table.empty] == 0).all()
    assert np.isfinite(noisy.table.value).all()
    if table.positive:
        assert noisy.table.value.min(initial=0.0) >= 0
    assert noisy.table.value.tobytes() == dk.perturb_by_key(again, VALUES, scaling=Scaling()).table.value.tobytes()


@pytest.mark.parametrize("name", TABLES)
def test_noise_of_counts_and_the_attack_on_it_run_on_every_table(name: str) -> None:
    table = keyed(TABLES[name]())
    counts = replace(table, value=table.count.astype(np.float64), frequency=True, positive=True, decimals=0)
    noisy = dk.perturb_by_key(counts, COUNTS)
    found = dk.attack_cell_keys(noisy)
    assert (noisy.table.value[table.count == 0] == 0).all()
    assert (found.lower <= counts.value).all()
    assert (found.upper >= counts.value).all()
    assert noisy.summary()["cells"] == table.size


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("ordered", [True, False])
def test_merging_gives_an_additive_table_and_leaves_only_what_the_total_shows(name: str, ordered: bool) -> None:
    table = replace(TABLES[name](), status=np.zeros(TABLES[name]().shape, dtype=np.uint8))
    for classification in table.names:
        found = dk.propose_merging(table, classification, dk.MinCount(3), ordered=ordered)
        axis = table.names.index(classification)
        left = np.moveaxis(found.after.status == dk.Status.PRIMARY, axis, 0)
        parts = found.hierarchy.part_index[-1]
        # if all codes under the total had to become one, that one is the total again
        assert parts.size <= 1 or not left[:-1].any()
        total = np.moveaxis(found.after.value, axis, 0)
        assert np.allclose(total[-1], np.moveaxis(table.value, axis, 0)[-1])
        known = table.by[classification]
        assert set(found.recode) == {c for c, leaf in zip(known.codes, known.is_leaf, strict=True) if leaf}
