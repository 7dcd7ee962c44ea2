"""Amounts come out as the decimals that went in, sums included, or are refused: compared with Python's own decimals."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from diskret import System, Table, publish, tabulate
from diskret.microdata.columns import read_records
from diskret.model.errors import NotExact
from diskret.model.exact import from_units, most_units, to_units
from diskret.model.grid import unit_of
from diskret.publication.working import load_working, save_working
from tests.publication.conftest import READERS
from tests.publication.leaving import SDMX

LOST = "90000000000000.01"
"""The nearest double prints as 90000000000000.02."""


def files(folder: Path, codes: list[str], amounts: list[Decimal], scale: int = 9) -> dict[str, Any]:
    """The same amounts as text, as decimals of a database, and as doubles."""
    text = folder / "amounts.csv"
    text.write_text("\n".join(["code,amount", *(f"{c},{a:f}" for c, a in zip(codes, amounts, strict=True))]) + "\n")
    parquet = folder / "amounts.parquet"
    with duckdb.connect() as engine:
        amount = f"CAST(amount AS DECIMAL(30, {scale})) AS amount"
        rows = f"SELECT code, {amount} FROM read_csv('{text}', all_varchar = true)"
        engine.execute(f"COPY ({rows}) TO '{parquet}'")
    return {"text": text, "decimal": parquet, "double": {"code": codes, "amount": [float(a) for a in amounts]}}


@pytest.mark.parametrize("decimals", [0, 2, 6])
def test_sums_are_those_of_decimals_or_refused(decimals: int, tmp_path: Path) -> None:
    draw = random.Random(decimals)
    refused = 0
    for size in (most_units(decimals) // 40, most_units(decimals) * 2):
        amounts = [Decimal(draw.randint(-size, size)).scaleb(-decimals) for _ in range(20)]
        codes = [draw.choice("abc") for _ in amounts]
        for source in files(tmp_path, codes, amounts, decimals).values():
            try:
                table = tabulate(source, by={"code": None}, value="amount")
            except NotExact:
                refused += 1
                assert sum(map(abs, amounts)) * 10**decimals >= most_units(decimals)
                continue
            sums = [sum((a for a, c in zip(amounts, codes, strict=True) if c == code), Decimal()) for code in "abc"]
            assert [Decimal(repr(x)) for x in table.value.tolist()] == [*sums, sum(sums)]
    assert refused == 3


@pytest.mark.parametrize("given", ["text", "decimal", "double"])
def test_amounts_that_doubles_cannot_tell_apart_are_refused(given: str, tmp_path: Path) -> None:
    source = files(tmp_path, ["a", "b"], [Decimal(LOST), Decimal("0.01")])[given]
    for read in (tabulate, Table.from_cells):
        with pytest.raises(NotExact, match="'amount'") as refused:
            read(source, by={"code": None}, value="amount")
        assert "9000" not in str(refused.value)
        assert ("row 1" in refused.value.where) == (given != "double")


def test_cents_in_a_double_that_nobody_can_tell_from_thousandths_are_refused() -> None:
    for amount in (38973407009848.27, 85943052076437.45):
        for read in (tabulate, Table.from_cells):
            with pytest.raises(NotExact):
                read({"code": ["a", "b"], "amount": [amount, 0.25]}, by={"code": None}, value="amount")


@pytest.mark.parametrize("number", ["900000000000000.01", "9007199254740993", LOST])
def test_a_single_number_that_would_lose_its_end_is_refused_with_its_row(number: str, tmp_path: Path) -> None:
    file = tmp_path / "one.csv"
    file.write_text(f"code,amount\na,1\nb,{number}\n")
    for read in (lambda: tabulate(file, by={"code": None}, value="amount"), lambda: read_records(file, ["amount"])):
        with pytest.raises(NotExact) as refused:
            read()
        assert refused.value.where == f"{file}, row 2"


def test_whole_numbers_of_64_bits_that_are_no_doubles_are_refused() -> None:
    with pytest.raises(NotExact):
        tabulate({"code": ["a"], "amount": np.array([2**53 + 1])}, by={"code": None}, value="amount")


def test_whole_numbers_that_end_in_zeros_are_exact_in_their_own_unit() -> None:
    cells = {"code": ["a", "b"], "amount": [0.3e16, 7.1e16]}
    assert Table.from_cells(cells, by={"code": None}, value="amount").value.tolist() == [3e15, 7.1e16, 7.4e16]
    with pytest.raises(NotExact):
        Table.from_cells(cells | {"amount": [9007199254740992.0, 7.1e16]}, by={"code": None}, value="amount")


def test_a_system_of_equations_refuses_them_too() -> None:
    with pytest.raises(NotExact):
        System.of(["a", "b", "c"], [9e13 + 0.01, 0.25, 9e13 + 0.26], [{"a": 1, "b": 1, "c": -1}])


def test_printed_measurements_are_taken_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "measured.csv"
    file.write_text("code,amount\na,98765432101.23456789\na,0.30000000000000004\n")
    assert tabulate(file, by={"code": None}, value="amount").decimals is None


def test_numbers_of_single_precision_mean_the_decimals_they_print_as() -> None:
    table = tabulate({"code": ["a", "a"], "amount": np.array([0.1, 0.2], dtype=np.float32)}, by={"code": None},
                     value="amount")  # fmt: skip
    assert table.value.tolist() == [0.3, 0.3]


@pytest.mark.parametrize("decimals", range(1, 10))
def test_up_to_the_limit_units_and_decimals_are_the_same(decimals: int) -> None:
    draw = random.Random(decimals)
    units = np.array([most_units(decimals) - 1 - draw.randrange(most_units(decimals) // 2) for _ in range(1000)])
    units = units[units % 10 > 0]
    amounts = from_units(units, decimals)
    assert [Decimal(repr(a)) for a in amounts.tolist()] == [Decimal(int(u)).scaleb(-decimals) for u in units]
    assert to_units(amounts, decimals).tolist() == units.tolist()
    assert unit_of(amounts) == -decimals, "what decides sees the last decimal as well"


@pytest.mark.parametrize("ending", [*READERS])
def test_every_format_shows_large_amounts_to_the_cent(ending: str, tmp_path: Path) -> None:
    amounts = [Decimal("5000000000000.01"), Decimal("6000000000000.02"), Decimal("0.01")]
    cells = {"code": ["a", "b", "c"], "amount": [float(a) for a in amounts]}
    table = Table.from_cells(cells, by={"code": None}, value="amount")
    file = tmp_path / f"amounts{ending}"
    publish(table, file, unprotected=True, sdmx=SDMX)
    wanted = dict(zip(table.by["code"].codes, [*amounts, sum(amounts)], strict=True))
    assert {code: Decimal(repr(x)) for (_, code), x in READERS[ending](file, table).items()} == wanted
    save_working({"amount": table}, tmp_path / "kept.parquet")
    assert load_working(tmp_path / "kept.parquet")["amount"].value.tolist() == table.value.tolist()
