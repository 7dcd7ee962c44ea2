"""Every file that diskret reads: a valid sample, how it is made wrong, and what is done with what comes out.

A new reader joins the campaign by one line in `READERS`. What is read is used: a wrong file that is taken for a right
one must not bring down what comes after.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import shutil
import tomllib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import diskret as dk
from benchmarks.mutations import Mutation, crc, in_arrays, in_json, in_parts, in_plain_text, other_value
from diskret.auditing.certificate import certificate_of
from diskret.auditing.certificate_files import plain_promise, read_promise
from diskret.auditing.plain import write_plain
from diskret.cellkey.cell_key import perturb_by_key
from diskret.io.cell_list import read_cell_list
from diskret.io.columns import copy_columns
from diskret.io.hierarchies import read_hierarchy
from diskret.io.hrc import read_codelist
from diskret.io.mappings import read_mapping
from diskret.io.metadata import classification, source
from diskret.io.rda import read_metadata
from diskret.job.plan import read_plan, run_plan
from diskret.job.read import read_job
from diskret.job.recognise import recognise
from diskret.job.run import run_job
from diskret.ledger.about import About
from diskret.model.damage import reading
from diskret.model.source import open_source
from diskret.publication import working
from diskret.publication.argus.write import write_safe_file
from diskret.publication.working import load_working, save_working
from diskret.web import worker
from diskret.web.routes.exports import made_export
from diskret.web.routes.run_control import repaired
from diskret.web.run_differences import compared
from diskret.web.run_files import read_json, write_json
from diskret.web.run_folders import Runs
from diskret.web.table_runs import findings, load
from diskret.web.workspace import Workspace

MANY = 400
"""Cells beyond which a table that was read is only looked at."""
FIRMS = {
    "region": ["N1", "N2", "S1", "N1", "N2", "S1", "S1", "N1"],
    "size": ["1", "2", "1", "2", "1", "2", "1", "1"],
    "turnover": [10.5, 2.0, 7.25, 100.0, 3.5, 40.0, 1.25, 9.0],
}
TREE = {"All": {"N": ["N1", "N2"], "S": ["S1"]}}
RULES = dk.MinCount(2) | dk.PPercent(10)
TOOL = Path(__file__).parents[1] / "tools" / "check_certificate.py"


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A kind of file: ``make`` writes a valid one into a folder and names it, ``use`` reads it and goes on."""

    make: Callable[[Path], Path]
    use: Callable[[Path], object]
    mutate: Mutation = in_plain_text


@cache
def table() -> dk.Table:
    region = dk.Hierarchy.from_nested(TREE)
    made = dk.tabulate(FIRMS, by={"region": region, "size": None}, value="turnover", largest=2)
    return dk.suppress(dk.mark(made, RULES)).table


# --- samples ---------------------------------------------------------------------------------------------------------


def written(name: str, text: str, **beside: str) -> Callable[[Path], Path]:
    """A sample that is text, with other files beside it (a double underscore stands for the point)."""

    def make(folder: Path) -> Path:
        for other, content in {name: text, **{n.replace("__", "."): t for n, t in beside.items()}}.items():
            (folder / other).write_text(content, encoding="utf-8")
        return folder / name

    return make


def records(ending: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        columns = {name: np.array(each, dtype=object if name != "turnover" else float) for name, each in FIRMS.items()}
        copy_columns(columns, "SELECT * FROM leaving", folder / f"firms{ending}", ending=ending)
        return folder / f"firms{ending}"

    return make


def workbook(folder: Path) -> Path:
    import xlsxwriter

    with xlsxwriter.Workbook(folder / "firms.xlsx") as book:
        sheet = book.add_worksheet("Firms")
        sheet.write_row(0, 0, list(FIRMS))
        for row, values in enumerate(zip(*FIRMS.values(), strict=True), start=1):
            sheet.write_row(row, 0, values)
    return folder / "firms.xlsx"


def office(folder: Path) -> Path:
    """A workbook with a title, names over merged cells and a note."""
    import xlsxwriter

    with xlsxwriter.Workbook(folder / "office.xlsx") as book:
        sheet = book.add_worksheet("Firms")
        sheet.write(0, 0, "Turnover of firms")
        for column, name in enumerate(FIRMS):
            sheet.merge_range(2, column, 3, column, name)
        for row, values in enumerate(zip(*FIRMS.values(), strict=True), start=4):
            sheet.write_row(row, 0, values)
        sheet.write(20, 0, "Source: own survey of firms")
    return folder / "office.xlsx"


def libre_office(folder: Path) -> Path:
    import zipfile

    spaces = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text"))
    records = [list(FIRMS), *zip(*FIRMS.values(), strict=True)]
    rows = "".join(
        "<table:table-row>" + "".join(_ods_cell(value) for value in record) + "</table:table-row>" for record in records
    )
    sheet = f"<office:body><table:table table:name='Firms'>{rows}</table:table></office:body>"
    with zipfile.ZipFile(folder / "firms.ods", "w") as file:
        file.writestr("content.xml", f"<office:document-content {spaces}>{sheet}</office:document-content>")
    return folder / "firms.ods"


def _ods_cell(value: object) -> str:
    kind = f"office:value-type='float' office:value='{value}'" if isinstance(value, float) else ""
    return f"<table:table-cell {kind}><text:p>{value}</text:p></table:table-cell>"


def statistical(ending: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        import pandas as pd
        import pyreadstat

        write = pyreadstat.write_dta if ending == ".dta" else pyreadstat.write_sav
        write(pd.DataFrame(FIRMS), str(folder / f"firms{ending}"))
        return folder / f"firms{ending}"

    return make


def tabular(folder: Path) -> Path:
    write_safe_file(table(), folder / "t.tab", report=False)
    return folder / "t.tab"


def tabular_metadata(folder: Path) -> Path:
    return tabular(folder).with_suffix(".rda")


def equations(folder: Path) -> Path:
    lines = [
        "0",
        "3",
        "0 7 7 s 0 20 0 0 0",
        "1 3 3 u 0 20 1 2 0",
        "2 4 4 s 0 20 0 0 0",
        "1",
        "0 3 : 0 (-1) 1 (1) 2 (1)",
    ]
    (folder / "small.jj").write_text("\n".join(lines))
    return folder / "small.jj"


def p_table(folder: Path) -> Path:
    dk.write_p_table(dk.design_p_table(deviation=2, variance=1), folder / "p.txt")
    return folder / "p.txt"


def certificate(folder: Path) -> Path:
    report = dk.audit(table())
    dk.write_certificate({"turnover": certificate_of(report)}, folder / "c.json")
    write_plain(table(), folder / "t.json")
    (folder / "promise.json").write_text(json.dumps(plain_promise(report.promise)))
    return folder / "c.json"


def working_file(folder: Path) -> Path:
    save_working(table(), folder / "w.parquet")
    return folder / "w.parquet"


def checkpoint(folder: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _anonymised(folder / "run.npz", until=3)
    return folder / "run.npz"


def run_folder(file: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        records(".csv")(folder)
        run = folder / ".diskret-runs" / "20260101-120000-abcd"
        run.mkdir(parents=True)
        status = {"id": run.name, "name": "x", "kind": "job", "of": "", "state": "running", "started": 1.0}
        write_json(run / "status.json", status | {"progress": {"what": "starting", "done": 0, "of": 0}})
        write_json(run / "job.json", tomllib.loads(JOB))
        worker.main(run, "job")
        if not file.startswith("result/"):
            return run / file
        # a run of an earlier diskret does not say how large its files are: else a changed one is not even opened
        write_json(run / "status.json", {k: v for k, v in read_json(run / "status.json").items() if k != "files"})
        return run / file

    return make


JOB = """\
[data]
microdata = "firms.csv"
[table]
by = ["region", "size"]
value = "turnover"
[rules]
min_count = 2
p_percent = 10
[suppression]
method = "moves"
[output]
publish = ["out.csv"]
"""
PLAN = """\
n = [100, 200]
tolerated = 0.05
ordered = ["age"]
[shares]
age = { "under 20" = 0.2, "20-40" = 0.3, "over 40" = 0.5 }
[[joint]]
attributes = ["sex", "education"]
shares = [[0.2, 0.2, 0.1], [0.25, 0.15, 0.1]]
"""
RDA = """\
Region 1 2 99
  <RECODEABLE>
  <TOTCODE> "NL"
  <CODELIST> "region.cdl"
  <HIERCODELIST> "region.hrc"
  <HIERLEADSTRING> "@"
Size 3 1
  <RECODEABLE>
  <HIERLEVELS> 1
Turnover 4 6
  <NUMERIC>
  <DECIMALS> 1
"""
HRC = "N\n@N1\n@N2\nS\n@S1\n"
REGROUPED = 'Total\n@N\n@@N1\n@@"N2"\n@S\n@@S1\n@towns\n@@N1\n@@S1\n'
KEYED = (
    RDA
    + """\
  <CKM> T(2)
  <INCLUDEZEROS> N
  <SCALING> F(0.03,0.3,100,3,0.5)
Key 10 1
  <RECORDKEY>
  <PFILE> "p.txt"
  <PFILE_CONT> "p.txt"
"""
)
UNCOUNTED = """\
   <SEPARATOR> ";"
Region
    <RECODEABLE>
    <TOTCODE> Total
X
    <NUMERIC>
X_Cost
    <NUMERIC> <COSTVAR>
Top1
    <MAXSCORE>
Top2
    <MAXSCORE>
Status
    <STATUS>
Low
    <NUMERIC> <LOWERPL>
High
    <NUMERIC> <UPPERPL>
"""
INTERMEDIATE = """\
"Total"; 1.100,5; 1.100,5; 500,0; 300,0; S; 1; 1
"      1"; 600,0; 600,0; 500,0; 100,0; U; 50; 50
"      2"; 400,5; 400,5; 300,0; 100,5; M; 0; 0
"      3"; 100,0; 100,0; 40,0; 30,0; S; 1; 1
"""


# --- what is done with them ------------------------------------------------------------------------------------------


def use_table(made: dk.Table) -> None:
    """Mark, protect, attack and publish a small table."""
    repr(made)
    if made.size > MANY:
        return
    rule = dk.MinCount(2) if made.counted else dk.PPercent(10)
    marked = dk.mark(made, rule) if made.respondents is not None else made
    done = dk.suppress(marked)
    dk.audit(done.table, done.promise, moves=done.moves)


def use_hierarchy(hierarchy: dk.Hierarchy) -> None:
    hierarchy.describe()
    if len(hierarchy) > MANY:
        return
    leaves = [c for c, leaf in zip(hierarchy.codes, hierarchy.is_leaf.tolist(), strict=True) if leaf]
    cells = {"c": leaves, "x": list(range(1, len(leaves) + 1)), "n": [1, *[5] * (len(leaves) - 1)]}
    use_table(dk.Table.from_cells(cells, by={"c": hierarchy}, value="x", count="n"))


def use_records(path: Path) -> None:
    recognise(path)
    use_table(dk.tabulate(path, by={"region": None, "size": None}, value="turnover", largest=2))


def use_cells(path: Path) -> None:
    use_table(dk.Table.from_cells(path, by={"region": None, "size": None}, value="turnover"))


def use_observations(path: Path) -> None:
    by = {"region": None, "size": None}
    use_table(dk.Table.from_cells(path, by=by, value="OBS_VALUE", status="CONF_STATUS", total="_T"))


def use_metadata(path: Path) -> None:
    metadata = read_metadata(path)
    data = open_source(source(metadata, path.with_name("firms.asc")))
    for variable in metadata.variables[:5]:
        found = data.query(f"SELECT DISTINCT {data.code(variable.name)} FROM {data.view}")
        use_hierarchy(classification(metadata, variable.name, [code for (code,) in found if code is not None]))


def use_job(path: Path) -> None:
    """Read a job; run it if it asks for no more than the one it was made from."""
    job = read_job(path)
    if job.kind == "table":
        run_job(job, path.parent, None, write=False)


def use_p_table(path: Path) -> None:
    found = dk.read_p_table(path)
    str(found)
    counts: dict[str, list[Any]] = {"s": ["a", "b", "c"], "n": [1, 2, 300], "rkey": [0.1, 0.5, 0.9]}
    records = {name: [each[i] for i in (0, 1, 1, *[2] * 30)] for name, each in counts.items()}
    made = dk.tabulate(records, by={"s": None}, roles=dk.Roles(key="rkey"))
    perturb_by_key(made, found)


def use_certificate(path: Path) -> None:
    for found in dk.read_certificate(path).values():
        dk.verify(table(), found).report(internal=True)


def use_promise(path: Path) -> None:
    (found,) = dk.read_certificate(path.with_name("c.json")).values()
    dk.verify(table(), found, read_promise(path)).report(internal=True)


def compile_all() -> None:
    """Values and counts protected once: compiling is not the fault of the input that needs a loop first."""
    records = {"a": list("xxyyzzzz"), "b": list("klklkkll"), "x": [1.0, 2, 3, 4, 5, 6, 7, 8]}
    for value in ("x", None):
        use_table(dk.tabulate(records, by={"a": None, "b": None}, value=value))


def use_working(path: Path) -> None:
    for each in load_working(path).values():
        use_table(each)
        dk.publish(each, path.with_name("out.csv"), unprotected=True)


def use_run(path: Path) -> None:
    runs = Runs(Workspace.at(next(p for p in path.parents if p.name == ".diskret-runs").parent))
    for status in runs.all():
        content = runs.content(status["id"])
        with runs.result(status["id"]) as result:
            audits, tables = findings(result), load(result)
            with reading("job.json"):
                repaired(content, "table.parquet")
        compared(tables, tables, (audits, audits), internal=True)
        made_export(result, content, runs.workspace.root, ".csv")
        for each in tables.values():
            use_table(each.table)
            [move.interval(int(move.cells[0]), 1.0) for move in each.moves]


def _anonymised(path: Path, until: int = 10**9) -> None:
    """A short search that keeps checkpoints, or goes on from one."""
    random = np.random.default_rng(1)
    data = {name: random.integers(0, 4, 60).astype(str) for name in "abc"}
    rounds = [0]

    def say(what: str, done: int, of: int) -> None:
        rounds[0] += what == "annealing"
        if rounds[0] > until:
            raise KeyboardInterrupt

    options = dk.AnonymiseOptions(checkpoint=path, progress=say, threads=1, time_limit=3.0)
    dk.anonymise(data, attributes=["a", "b", "c"], k=3, search=dk.LadderSearch(effort=0.02), seed=1, options=options)


@cache
def _tool() -> Any:
    spec = importlib.util.spec_from_file_location("check_certificate", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def use_tool(path: Path) -> None:
    """The checker that shares no code: it must say 0, 1 or 2, and nothing else."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = _tool().main([str(path.with_name("t.json")), str(path.with_name("c.json"))])
    if code not in (0, 1, 2):
        raise AssertionError(f"the checker ended with {code}")


# --- sealed files ----------------------------------------------------------------------------------------------------


Opened = tuple[Any, dict[str, Any]]
"""What a working file says about itself, and its columns."""


def opened(path: Path) -> Opened:
    """A working file taken apart, by other code than diskret's own."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        found = connection.execute(f"SELECT key, value FROM parquet_kv_metadata('{path}')").fetchall()
        texts = {bytes(key).decode(): bytes(value).decode() for key, value in found}
        columns = connection.execute(f"SELECT * FROM read_parquet('{path}')").fetchnumpy()
    return json.loads(texts[working.KEY]), {name: np.ma.getdata(each).copy() for name, each in columns.items()}


def sealed(head: Any, arrays: dict[str, Any], path: Path) -> Path:
    """A working file put together, with the seal that belongs to it."""
    text = json.dumps(head)
    footer = {working.KEY: text, working.SEAL: crc(text, list(arrays.values()))}
    copy_columns(arrays, "SELECT * FROM leaving", path, footer=footer)
    return path


def resealed(content: bytes, random: Random) -> bytes:
    """A working file with another description or other numbers, and the seal that belongs to them."""
    if random.random() < 0.2:
        return in_plain_text(content, random)
    folder = Path(_scratch())
    (folder / "in.parquet").write_bytes(content)
    head, arrays = opened(folder / "in.parquet")
    if random.random() < 0.7:
        for _ in range(random.choice((1, 1, 2))):
            head = other_value(head, random)
    else:
        array = random.choice(list(arrays.values()))
        ends = np.iinfo(array.dtype) if array.dtype.kind != "f" else None
        low, high = (ends.min, ends.max) if ends else (np.nan, 1e308)
        array[random.randrange(array.size)] = random.choice((low, high, 0, 1, 7))
    return sealed(head, arrays, folder / "out.parquet").read_bytes()


@cache
def _scratch() -> str:
    import atexit
    import tempfile

    folder = tempfile.mkdtemp(prefix="fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


CELLS = "region,size,turnover\nN1,1,10\nN1,2,20.5\nN2,1,3\nN2,2,4\nTotal,Total,37.5\n"
MESSAGE = (
    '<?xml version="1.0"?><m:StructureSpecificData xmlns:m="m"><m:DataSet><Obs region="N1" size="1" OBS_VALUE="10"'
    ' CONF_STATUS="A"/><Series region="N2"><Obs size="1" OBS_VALUE="2.5" CONF_STATUS="D"/></Series>'
    '<Obs region="_T" size="_T" OBS_VALUE="12.5" CONF_STATUS="F"/></m:DataSet></m:StructureSpecificData>'
)
CSV = "code;parent;parent2;label\nN1;N;x;north 1\nN2;N;y;\nS1;S;x;\nN;All;;\nS;All;;\n"
LEVELS = "code,level\nN1,1\nN2,1\nN,2\nS1,1\nS,2\nAll,3\n"
BESIDE = {
    "region__hrc": HRC,
    "region__cdl": "N1,North one\nS,South\n",
    "firms__asc": "N11  10.5\nS12   2.0\nN21   7.5\n",
}

TITLED = "Turnover of firms\n\nregion;size;turnover\nN1;1;1.234,5\nN2;2;7,5\nN1;2;9\n__________\nSource: survey\n"
SMALL = "region,size,turnover\nN1,1,5\nN2,2,7\nN1,2,9\n"

ARB = r"""// a batch
<LOGBOOK> "C:\log.txt"
<OPENMICRODATA> "\\house\firms.asc"
<OPENMETADATA> "firms.rda"
<SPECIFYTABLE> "region""size"|"turnover"||-1
<SAFETYRULE> FREQ(2,10)|NK(1,85)|
<READMICRODATA>
<SUPPRESS> MOD(1,5,1,1,0)
"""
GRC = '// sizes\nsmall : 1, 2 - 3\n"l arge" : 10 -\n<MISSING> 99\n'
HST = '// by hand\n"N1";"1";u\nN1;1;pl;2;3\nS1;2;p\n;2;c;12\nN;;m\n'


def use_recoding(path: Path) -> None:
    sizes = ["1", "2", "3", "10", "11", "99"]
    cells = {"size": sizes, "x": [5, 7, 9, 4, 3, 1]}
    found = dk.read_recoding(path).of(dk.Hierarchy.flat(sizes), "size", ["99"])
    use_table(dk.closed(dk.Table.from_cells(cells, by={"size": found.tree}, value="x"), {"size": found}))


def use_apriori(path: Path) -> None:
    region = dk.Hierarchy.from_nested({"T": {"N": ["N1", "N2"], "S": ["S1"]}})
    cells = {"r": ["N1", "N2", "S1", "S1"], "s": ["1", "2", "1", "2"], "x": [5, 7, 9, 4]}
    table = dk.Table.from_cells(cells, by={"r": region, "s": None}, value="x")
    for errors in ("ignore", "refuse"):
        said = dk.read_apriori(path, errors=errors)
        dk.write_apriori(dk.apply_apriori(table, said, expand=True, errors=errors), path.with_suffix(".out"))


COUNTED = About(population="firms", period="2024")


def ledger_file(name: str) -> Callable[[Path], Path]:
    """A file of a ledger that remembers one table twice, the second time by other regions."""

    def make(folder: Path) -> Path:
        shutil.rmtree(folder / "ledger", ignore_errors=True)
        ledger = dk.open_ledger(folder / "ledger", create=True)
        ledger.add(table(), COUNTED, name="one", on="2025-01-01")
        done = dk.suppress(table(), ledger=ledger.about(COUNTED))
        assert done.beside is not None
        ledger.add(done.table, COUNTED, name="two", on="2025-01-01", settled=done.beside.audit)
        return folder / "ledger" / name

    return make


def use_ledger(path: Path) -> object:
    """Open it for reading and for writing, hold it against its hashes, and check a table beside it."""
    folder = path.parent if path.parent.name == "ledger" else path.parent.parent
    dk.open_ledger(folder, read_only=True).verify()
    ledger = dk.open_ledger(folder)
    return ledger.check(table(), COUNTED)


READERS: dict[str, Reader] = {
    "csv": Reader(make=records(".csv"), use=use_records),
    "cells": Reader(make=written("cells.csv", CELLS), use=use_cells),
    "parquet": Reader(make=records(".parquet"), use=use_records),
    "xlsx": Reader(make=workbook, use=use_records, mutate=in_parts),
    "titled csv": Reader(make=written("firms.csv", TITLED), use=use_records),
    "office xlsx": Reader(make=office, use=use_records, mutate=in_parts),
    "ods": Reader(make=libre_office, use=use_records, mutate=in_parts),
    "dta": Reader(make=statistical(".dta"), use=use_records),
    "sav": Reader(make=statistical(".sav"), use=use_records),
    "sdmx-ml": Reader(make=written("cells.xml", MESSAGE), use=use_observations),
    "toml": Reader(make=written("job.toml", JOB, firms__csv=SMALL), use=use_job),
    "json": Reader(
        make=written("region.json", json.dumps(TREE)), use=lambda p: use_hierarchy(read_hierarchy(p)), mutate=in_json
    ),
    "lists": Reader(
        make=written("region.json", json.dumps(dk.Hierarchy.from_nested(TREE).describe())),
        use=lambda p: use_hierarchy(read_hierarchy(p)), mutate=in_json,
    ),
    "parents": Reader(make=written("region.csv", CSV), use=lambda p: use_hierarchy(read_hierarchy(p))),
    "levels": Reader(make=written("region.csv", LEVELS), use=lambda p: use_hierarchy(read_hierarchy(p))),
    "hrc": Reader(make=written("region.hrc", HRC), use=lambda p: use_hierarchy(read_hierarchy(p))),
    "regrouped hrc": Reader(
        make=written("region.hrc", REGROUPED), use=lambda p: use_hierarchy(read_hierarchy(p))
    ),
    "cdl": Reader(make=written("region.cdl", "1,small\n2,large, and more\n"), use=read_codelist),
    "grc": Reader(make=written("size.grc", GRC), use=use_recoding),
    "hst": Reader(make=written("own.hst", HST), use=use_apriori),
    "mapping": Reader(make=written("m.csv", "code,class\n10,1\n11,1\n15,2\n"), use=read_mapping),
    "rda": Reader(make=written("firms.rda", RDA, **BESIDE), use=use_metadata),
    "keyed rda": Reader(make=written("firms.rda", KEYED, **BESIDE), use=use_metadata),
    "arb": Reader(
        make=written("job.arb", ARB, firms__rda=RDA, **BESIDE), use=lambda p: dk.run_argus(p, out=p.parent / "out")
    ),
    "tab": Reader(make=tabular, use=lambda p: use_table(read_cell_list(p, p.with_suffix(".rda")))),
    "tab metadata": Reader(make=tabular_metadata, use=lambda p: use_table(read_cell_list(p.with_suffix(".tab"), p))),
    "intermediate": Reader(
        make=written("t.csv", INTERMEDIATE, t__rda=UNCOUNTED),
        use=lambda p: use_table(read_cell_list(p, p.with_suffix(".rda"), sums="keep")),
    ),
    "jj": Reader(make=equations, use=lambda p: dk.suppress(dk.read_jj(p))),
    "p-table": Reader(make=p_table, use=use_p_table),
    "plan": Reader(make=written("plan.toml", PLAN), use=lambda p: run_plan(read_plan(p)).summary()),
    "certificate": Reader(make=certificate, use=use_certificate, mutate=in_json),
    "promise": Reader(make=lambda f: certificate(f).with_name("promise.json"), use=use_promise, mutate=in_json),
    "working": Reader(make=working_file, use=use_working, mutate=resealed),
    "checkpoint": Reader(make=checkpoint, use=_anonymised, mutate=in_arrays),
    "run status": Reader(make=run_folder("status.json"), use=use_run, mutate=in_json),
    "run job": Reader(make=run_folder("job.json"), use=use_run, mutate=in_json),
    "run findings": Reader(make=run_folder("result/findings.json"), use=use_run, mutate=in_json),
    "run moves": Reader(make=run_folder("result/moves-0.npz"), use=use_run, mutate=in_arrays),
    "ledger entry": Reader(make=ledger_file("entries/000001.parquet"), use=use_ledger),
    "ledger index": Reader(make=ledger_file("index.duckdb"), use=use_ledger),
    "ledger moves": Reader(make=ledger_file("settled/000002.parquet"), use=use_ledger),
    "ledger head": Reader(make=ledger_file("ledger.json"), use=use_ledger, mutate=in_json),
    "checker": Reader(make=certificate, use=use_tool, mutate=in_json),
    "checker table": Reader(make=lambda f: certificate(f).with_name("t.json"), use=use_tool, mutate=in_json),
}  # fmt: skip
