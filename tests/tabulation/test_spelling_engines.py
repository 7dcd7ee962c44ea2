"""Codes, owners and names of columns are normalised by every engine in the same way."""

from __future__ import annotations

import unicodedata

from diskret import tabulate
from diskret.tabulation.options import Roles, TabulationOptions

NFD = unicodedata.normalize("NFD", "Köln")


def test_every_engine_makes_one_code_and_one_owner_of_what_looks_alike(engine: object) -> None:
    firms = {
        f"{NFD}er Bezirk": ["Köln", NFD, "Kö\u200bln", "It's\\n\u00a0x", "It's\\n x", "Bonn\u00a0"],
        "turnover": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "owner": ["Köln", NFD, "c", "d", "e", "f"],
    }
    table = tabulate(
        firms, by={"Kölner Bezirk": None}, value="turnover", roles=Roles(holding="owner"),
        options=TabulationOptions(normalise=True, engine=engine),
    )  # fmt: skip
    assert table.by["Kölner Bezirk"].codes == ("Bonn", "It's\\n x", "Köln", "Total")
    assert table.value.tolist() == [6.0, 9.0, 6.0, 21.0]
    assert table.holdings is not None
    assert table.holdings.count.tolist() == [1, 2, 2, 5]
