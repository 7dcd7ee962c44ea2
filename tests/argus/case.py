"""A small house with a batch: records, cells, their metadata, and whatever a test adds."""

from __future__ import annotations

from pathlib import Path

RECORDS = [(r, s, n) for r in "ABC" for s in "123" for n in range(1 if r + s == "B2" else 3)]
MICRO = "".join(f"{r}1{s}{100 + 7 * n + 11 * int(s):5}{1 + n}h{n}{n % 2}{n / 4:.2f}\n" for r, s, n in RECORDS)
MICRO_RDA = """Region 1 2 "XX"
   <RECODEABLE>
   <HIERARCHICAL>
   <HIERLEVELS> 1 1
Size 3 1
   <RECODEABLE>
   <TOTCODE> "Total"
   <DISTANCE> 2 1 1 1 1
Turnover 4 5
   <NUMERIC>
   <DECIMALS> 1
Weight 9 1
   <NUMERIC> <WEIGHT>
Owner 10 2
   <HOLDING>
Asked 12 1
   <REQUEST> "1"
Key 13 4
   <RECORDKEY>
"""
VALUES = [[20, 30, 50], [10, 5, 35], [40, 60, 80]]
LINES = dict(zip("ABC", VALUES, strict=True))
LINES["Total"] = [sum(column) for column in zip(*VALUES, strict=True)]
CELLS = "".join(
    f"{r};{s};{v};{v // 5};{'U' if r + s == 'B2' else 'S'};{v}\n"
    for r, row in LINES.items()
    for s, v in zip([*"123", "Total"], [*row, sum(row)], strict=True)
)
CELLS_RDA = """<SEPARATOR> ";"
Region
   <RECODEABLE>
   <TOTCODE> "Total"
Size
   <RECODEABLE>
   <TOTCODE> "Total"
Turnover
   <NUMERIC>
Count
   <FREQUENCY>
Status
   <STATUS>
Price
   <NUMERIC> <COSTVAR>
"""
OPEN = ('<OPENMICRODATA> "firms.asc"', '<OPENMETADATA> "firms.rda"')
TABLE = '<SPECIFYTABLE> "Region""Size"|"Turnover"||'
RULE = "<SAFETYRULE> FREQ(2,10)|"
READ = "<READMICRODATA>"
BEGIN = (*OPEN, TABLE, RULE, READ)
BEGIN_CELLS = ('<OPENTABLEDATA> "cells.tab"', '<OPENMETADATA> "cells.rda"', TABLE, "<SAFETYRULE>", "<READTABLE>")


def house(folder: Path, *lines: str, name: str = "job.arb") -> Path:
    """A folder with data and a batch of these lines."""
    for file, text in {
        "firms.asc": MICRO, "firms.rda": MICRO_RDA, "cells.tab": CELLS, "cells.rda": CELLS_RDA
    }.items():  # fmt: skip
        (folder / file).write_text(text, encoding="utf-8")
    batch = folder / name
    batch.write_text("\r\n".join(lines), encoding="utf-8", newline="")
    return batch
