"""Rows that are called totals in columns nobody classifies by: they count as records, and every sum doubles.

Where a table is made, totals among its codes are asked about (`totals`). A column that the table does not show may hold
them as well, and so may files of records; there a warning tells of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from diskret.model.engine import literal
from diskret.model.errors import ProtectionWarning
from diskret.model.source import Relation
from diskret.model.total_names import ALONE, SURE

MOST_ROWS = 100_000
"""Rows looked at: lists with totals are short, and records many."""


def warn_of_total_rows(data: Relation, names: Sequence[str]) -> None:
    """Warn of columns in which some rows, and not all, are called totals.

    >>> from diskret.model.source import open_source
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn_of_total_rows(open_source({"region": ["N", "S", "Insgesamt"], "sex": ["all"] * 3}), ["region", "sex"])
    >>> [str(each.message).partition(":")[0] for each in told]
    ["column 'region' calls 1 of its rows 'Insgesamt'"]
    """
    texts = [name for name in names if data.is_text(name)]
    if not texts:
        return
    listing = ", ".join(literal(name) for name in sorted({*SURE, *ALONE, "_t"}))
    asked = []
    for name in texts:
        code = data.code(name)
        called = f"CASE WHEN lower({code}) IN ({listing}) THEN {code} END"
        asked += [f"count({code})", f"count({called})", f"min({called})"]
    some = f"(SELECT * FROM {data.view} LIMIT {MOST_ROWS}) AS {data.view}"
    (row, *_) = data.query(f"SELECT {', '.join(asked)} FROM {some}")
    for name, filled, called, code in zip(texts, row[::3], row[1::3], row[2::3], strict=True):
        if 0 < called < filled:
            warnings.warn(
                f"column {name!r} calls {called} of its rows {code!r}: rows count as records; if they are totals of "
                "the others, all sums and counts are doubled, so take them out",
                ProtectionWarning,
                stacklevel=3,
            )
