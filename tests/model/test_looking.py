"""Frames and notebooks: what people look at shows nothing that may not leave, unless they say that they mean it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret import Hierarchy, ProtectionWarning, Table
from diskret.model.errors import MissingPackage
from diskret.model.framed import Framed
from diskret.rules import MinCount
from diskret.tabulation.options import Roles

SECRET = 91.0


def marked() -> Table:
    cells = {
        "region": ["N", "N", "S", "S", "W", "W"], "sex": ["m", "w"] * 3, "x": [SECRET, 250, 333, 404, 505, 617],
        "n": [1, 5, 6, 7, 8, 9],
    }  # fmt: skip
    return dk.mark(Table.from_cells(cells, by={"region": None, "sex": None}, value="x", count="n"), MinCount(3))


@pytest.fixture(scope="module")
def done() -> Any:
    return dk.suppress(marked())


def test_frames_of_all_three_packages_hold_the_same_and_no_hidden_value(done: Any) -> None:
    hidden = done.table.hidden.reshape(-1)
    pandas, polars, arrow = done.to_pandas(), done.to_polars(), done.to_arrow()
    for column in (pandas["x"].tolist(), polars["x"].to_list(), arrow["x"].to_pylist()):
        shown = np.array([np.nan if each is None else each for each in column])
        assert np.array_equal(np.isnan(shown), hidden)
        assert np.array_equal(shown[~hidden], done.table.value.reshape(-1)[~hidden])
    assert list(pandas.columns) == polars.columns == arrow.column_names == ["region", "sex", "x"]
    assert polars["x"].null_count() == arrow["x"].null_count == hidden.sum()


def test_internal_frames_hold_all_values_and_statuses(done: Any) -> None:
    frame = done.to_pandas(internal=True)
    assert SECRET in frame["x"].tolist()
    assert {"status", "count"} <= {*frame.columns}


def test_a_table_that_nothing_protects_yet_shows_no_value() -> None:
    with pytest.warns(ProtectionWarning, match="not protected yet"):
        frame = marked().to_pandas()
    assert frame["x"].isna().all()
    assert "404" not in marked()._repr_html_()
    assert "■ P" in marked()._repr_html_()


def test_a_notebook_shows_signs_for_hidden_cells_and_open_values(done: Any) -> None:
    shown = done._repr_html_()
    assert "■ P" in shown
    assert "□ S" in shown
    hidden = {f"{value:,.0f}" for value in done.table.value[done.table.hidden]}
    entries = {part.split("<")[0] for part in shown.split(">")}
    assert not hidden & entries
    assert "617" in entries | hidden


def test_what_is_exposed_is_shown_by_nobody(done: Any) -> None:
    """A pattern that lost a partner still carries its old seal."""
    opened = dk.audit(done.table.with_status(dk.Status.OPEN, [("N", "w"), ("S", "m"), ("S", "w")]))
    assert not opened.safe
    assert "✗" in opened._repr_html_()
    assert "91" not in opened.report()
    assert "lower" not in opened.to_pandas().columns
    assert len(opened.to_pandas(internal=True)) == len(opened.exposed) + len(opened.unions) + len(opened.undecided)


def test_codes_that_look_like_markup_stay_text() -> None:
    table = Table.from_cells({"s": ["<script>", "b"], "x": [1, 2]}, by={"s": None}, value="x")
    assert "<script>" not in table._repr_html_()


def test_a_large_table_says_how_much_is_left_out() -> None:
    codes = [f"{i:03}" for i in range(100)]
    table = Table.from_cells({"s": codes, "x": np.arange(100.0)}, by={"s": Hierarchy.flat(codes)}, value="x")
    assert "61 more cells" in table._repr_html_()


def test_linked_tables_and_anonymous_files_can_be_looked_at_too() -> None:
    anonymous = dk.anonymise({"sex": ["m", "w"] * 10, "age": ["old"] * 11 + ["young"] * 9}, ["sex", "age"])
    assert len(anonymous.to_polars()) == 20
    assert "at least 3 times" in anonymous._repr_html_()
    pool = dk.Pool.of({"one": marked(), "two": marked()})
    assert "Pool" in pool._repr_html_()


def test_noise_does_not_tell_its_perturbation_table_when_printed() -> None:
    counted = dk.tabulate(
        {"s": ["a", "b", "c"] * 9, "k": np.linspace(0, 0.99, 27)}, by={"s": None}, roles=Roles(key="k")
    )
    noise = dk.cellkey.perturb_by_key(counted, dk.cellkey.design_p_table(deviation=3, variance=1))
    assert "PTable" not in repr(noise)
    assert list(noise.to_pandas().columns) == ["s", counted.response]


def test_a_package_that_is_not_there_is_named(done: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingPackage, match="'polars' is not installed"):
        done.to_polars()


def test_every_result_with_a_table_or_records_can_be_looked_at() -> None:
    from diskret.cellkey.cell_key import KeyedNoise
    from diskret.microdata.columns import Protected
    from diskret.perturbation.changed_table import Perturbation

    assert all(issubclass(each, Framed) for each in (KeyedNoise, Protected, Perturbation, Table))
