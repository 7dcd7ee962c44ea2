"""Run another program on a shared table: `python peer.py PROGRAM FOLDER TABLE`, by the interpreter that has it.

Stands alone: nothing of diskret is imported here. Prints as JSON what it took and the numbers of the rows it
suppressed. Reading the table into the program is not timed.
"""

from __future__ import annotations

import csv
import gzip
import json
import resource
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

P = 0.1


def cpu() -> float:
    """CPU seconds of this process and its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def level(row: dict[str, str]) -> float:
    """Protection level of the p% rule, zero for cells that are not primary."""
    value, top1, top2 = int(row["value"]), int(row["top1"]), int(row["top2"])
    return P * top1 - (value - top1 - top2) if row["primary"] == "1" else 0.0


def tau_argus(
    dims: list[dict[str, Any]], rows: list[dict[str, str]], singles: bool
) -> tuple[Callable[[], Any], Callable[[], list[int]]]:
    """The modular approach on the finished table; statuses and protection levels are given."""
    from pytauargus.batch import Suppress
    from pytauargus.engine import run_batch
    from pytauargus.result import parse_simple_tab

    folder = Path(tempfile.mkdtemp())
    meta = ['<SEPARATOR> ","', "<SAFE> S", "<UNSAFE> U", "<PROTECT> P"]
    for dim in dims:
        name = dim["name"]
        lines = ["@" * (depth - 1) + code for code, depth in zip(dim["codes"], dim["levels"], strict=True) if depth]
        (folder / f"{name}.hrc").write_text("\n".join(lines) + "\n")
        meta += [name, "<RECODEABLE>", "<TOTCODE> Total"]
        if max(dim["levels"]) > 1:
            meta += ["<HIERARCHICAL>", f'<HIERCODELIST> "{folder / name}.hrc"', '<HIERLEADSTRING> "@"']
    meta += ["value", "<NUMERIC>", "<DECIMALS> 0", "freq", "<FREQUENCY>", "top1", "<MAXSCORE>", "top2", "<MAXSCORE>"]
    meta += ["status", "<STATUS>", "low", "<NUMERIC> <LOWERPL>", "high", "<NUMERIC> <UPPERPL>"]
    (folder / "table.rda").write_text("\n".join(meta) + "\n")
    numbers = {}
    with (folder / "table.tab").open("w") as file:
        for i, row in enumerate(rows):
            codes = tuple(dim["codes"][int(row["i" + dim["name"]])] for dim in dims)
            numbers[codes] = i
            if row["value"] != "0":
                room = f"{level(row):.6f}"
                fields = [row["value"], row["freq"], row["top1"], row["top2"], "SU"[int(row["primary"])], room, room]
                file.write(",".join([*codes, *fields]) + "\n")
    names = [dim["name"] for dim in dims]
    quoted = "".join(f'"{name}"' for name in names)
    batch = f'<OPENTABLEDATA> "{folder / "table.tab"}"\n<OPENMETADATA> "{folder / "table.rda"}"\n'
    batch += f'<SPECIFYTABLE> {quoted}|"value"||\n<SAFETYRULE>\n<READTABLE>\n'
    (folder / "table.arb").write_text(batch)
    engine = run_batch(folder / "table.arb")

    def result() -> list[int]:
        engine.write_intermediate_table(0, str(folder / "out.tab"), simple=True)
        cells = parse_simple_tab(folder / "out.tab", names, "value")
        return [numbers[tuple(str(c[n]) or "Total" for n in names)] for c in cells if c["status"] == "M"]

    command = Suppress("MOD", 1, mod_max_time=10, mod_singleton=singles, mod_singleton_multi=singles)
    return lambda: engine.suppress(command), result


def gconfid(
    dims: list[dict[str, Any]], rows: list[dict[str, str]], _: bool
) -> tuple[Callable[[], Any], Callable[[], list[int]]]:
    """Cells and sums as two frames; the sensitivity is the protection level, cost is the value (the default)."""
    import gconfid as program
    import pandas as pd

    filled = {i: row for i, row in enumerate(rows) if row["value"] != "0"}
    place = {tuple(int(row["i" + d["name"]]) for d in dims): i for i, row in filled.items()}
    sums: dict[tuple[int, ...], list[int]] = {}
    for at, i in place.items():
        for axis, dim in enumerate(dims):
            parent = dim["parents"][at[axis]]
            if parent >= 0:
                whole = (*at[:axis], parent, *at[axis + 1 :])
                sums.setdefault((axis, *whole), [-place[whole] - 1]).append(i + 1)
    entries = [(k + 1, abs(c), 1 if c > 0 else -1) for k, cells in enumerate(sums.values()) for c in cells]
    cells = pd.DataFrame(
        {
            "CellId": [i + 1 for i in filled],
            "TotalNoise": [float(row["value"]) for row in filled.values()],
            "Sensitivity": [level(row) or -1.0 for row in filled.values()],
            "Status": ["S" if row["primary"] == "1" else "V" for row in filled.values()],
            "Type": "C",
        }
    )
    constraints = pd.DataFrame(entries, columns=["ConstraintId", "CellId", "Coefficient"])
    found: list[Any] = []

    def run() -> None:
        found.append(program.Suppression(incell=cells, inconstraint=constraints, trace=False))

    def result() -> list[int]:
        out = found[0].outsuppress.to_pandas()
        hidden = out[(out["OutStatus"] == "X") & (out["Status"] != "S")]
        return [int(c) - 1 for c in hidden["CellId"]]

    return run, result


def main() -> None:
    """Set up, run timed, report."""
    wanted, folder, table = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    dims = json.loads((folder / f"{table}.dims.json").read_text())
    with gzip.open(folder / f"{table}.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    package = wanted.split("-")[0]
    run, result = (gconfid if package == "gconfid" else tau_argus)(dims, rows, wanted.endswith("-singles"))
    start = cpu()
    run()
    used = cpu() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"cpu": used, "peak": peak, "version": version(package), "secondary": result()}))


if __name__ == "__main__":
    main()
