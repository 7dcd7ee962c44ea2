"""Nothing that is secret stands in anything that is for everybody, in no format, by no way, in no spelling.

Tables and records with distinctive secret numbers go through every way out of the house. What comes out is unpacked and
searched by `tests/leaks.py`. A new format or a new kind of job joins `JOBS`; what the page sends is searched the same
way in `tests/web/test_confidential.py`, what a refusal says in `tests/cli/test_confidential.py`.
"""

from __future__ import annotations

import base64
import io
import json
import struct
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from typer.testing import CliRunner

import diskret as dk
from diskret.auditing.certificate import certificate_of
from diskret.cli import app
from diskret.job.outcome import JobResult
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.job.write import job_as_text
from diskret.model.table import Table
from diskret.publication import publish as publishing
from diskret.publication.axes import axis_of
from diskret.publication.text import table_text
from diskret.suppression.result import Suppression
from tests.leaks import Secrets, of_this_machine

PARAMETERS = (17.317319, 0.7391283, 0.1237193)
SEED = 918273645546372
NAMES = ("Quaxenberg", "Zwiebelfisch", "Honigkuchen")
"""Respondents, whose names are in the records and nowhere else."""
TABLES = [
    f"t.{each}"
    for each in ("csv", "xlsx", "parquet", "json", "px", "sdmx.csv", "sdmx.xml", "arrow", "dta", "sav", "xpt")
]
SDMX = {"dataflow": "XX:FIRMS(1.0)", "indicator": "INDICATOR"}

FIRMS: dict[str, Any] = {
    "data": {"microdata": "firms.csv"}, "table": {"by": ["nace", "region"], "value": ["turnover"]},
    "classifications": {"nace": {"prefixes": [1]}},
    "rules": {"min_count": 4, "p_percent": PARAMETERS[0]},
}  # fmt: skip
SUPPRESSED = FIRMS | {"promise": {"min_relative_range": PARAMETERS[1]}, "suppression": {"method": "moves"}}
JOBS: dict[str, dict[str, Any]] = {
    "suppressed": SUPPRESSED | {
        "output": {
            "publish": TABLES, "sdmx": SDMX, "title": "Firms", "report": "r.html", "internal_report": "i.html",
            "date": "2001-02-03",  # otherwise the internal report tells the day the data were written
        },
    },
    "in German, with intervals": SUPPRESSED | {
        "output": {
            "publish": TABLES, "sdmx": SDMX, "intervals": True, "interval_digits": 2, "language": "de",
            "report": "r.pdf",
        },
    },
    "beside a ledger": SUPPRESSED | {
        "ledger": {"folder": "ledger", "name": "Firms 2024", "population": "firms", "period": "2024"},
        "output": {"publish": TABLES, "sdmx": SDMX, "report": "r.html"},
    },
    "perturbed": FIRMS | {
        "perturbation": {"seed": SEED}, "output": {"publish": TABLES, "sdmx": SDMX, "report": "r.html"},
    },
    "rounded": FIRMS | {
        "perturbation": {"method": "rounding", "base": 1000, "rounding": "deterministic"},
        "output": {"publish": TABLES, "sdmx": SDMX},
    },
    "with noise by keys": FIRMS | {"cell_key": {"key": "rkey"}, "output": {"publish": TABLES, "sdmx": SDMX}},
    "a scientific-use file": {
        "data": {"microdata": "firms.csv"},
        "microdata": {
            "values": ["turnover"], "seed": SEED,
            "steps": [
                {"do": "drop", "columns": ["owner", "rkey"]}, {"do": "noise", "sd": PARAMETERS[2], "shift": 0.05},
            ],
        },
        "output": {"records": "t.csv", "report": "r.html"},
    },
    "the same in Parquet": {
        "data": {"microdata": "firms.csv"},
        "microdata": {
            "values": ["turnover"], "seed": SEED,
            "steps": [{"do": "drop", "columns": ["owner", "rkey"]}, {"do": "microaggregate", "m": 3}],
        },
        "output": {"records": "t.parquet", "report": "r.html", "language": "de"},
    },
    "an anonymous file": {
        "data": {"microdata": "firms.csv"}, "anonymise": {"attributes": ["nace", "region"], "effort": 0.1},
        "output": {"microdata": "t.csv", "report": "r.html"},
    },
    "the same in Parquet, in German": {
        "data": {"microdata": "firms.csv"}, "anonymise": {"attributes": ["nace", "region"], "effort": 0.1},
        "output": {"microdata": "t.parquet", "report": "r.html", "language": "de"},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def firms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records whose numbers are long, so that finding one of them means something."""
    folder, rng = tmp_path_factory.mktemp("Quaxenberg-and-sons"), np.random.default_rng(7)
    lines = ["nace,region,turnover,owner,rkey"]
    for i in range(130):
        nace = rng.choice(["10", "11", "20", "21", "30"], p=[0.4, 0.3, 0.2, 0.06, 0.04])
        key, owner = rng.random(), f"{NAMES[i % 3]} {i:03}"
        lines.append(f"{nace},{rng.choice(list('NESW'))},{rng.integers(10**8, 9 * 10**8) / 100},{owner},{key:.15f}")
    (folder / "firms.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def contributions(firms: Path) -> list[float]:
    rows = (firms / "firms.csv").read_text(encoding="utf-8").splitlines()[1:]
    return [float(number) for row in rows for number in row.split(",")[2::2]]


def kept_by(table: Table) -> Iterator[float]:
    """Every number that is known about a table beside the open values."""
    known = [table.value[table.hidden], table.below, table.above, table.weight]
    known += [people.largest for people in (table.respondents, table.holdings) if people is not None]
    yield from (
        float(x) for array in known if array is not None for x in np.ravel(array) if np.isfinite(x) and x > 1000
    )


def done_quietly(firms: Path, folder: Path, said: dict[str, Any]) -> tuple[JobResult, list[str]]:
    """A job done in a folder of its own, with what it warned of."""
    folder.mkdir()
    content = said | {"data": {"microdata": str(firms / "firms.csv")}}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = run_job(job_from(content, "here", folder), folder)
    return done, [str(each.message) for each in caught]


def secrets_of(firms: Path, tables: list[Table], told: list[Table]) -> Secrets:
    shown = [float(x) for table in told for x in table.value[~table.hidden] if x]
    numbers = [*contributions(firms), *(x for table in tables for x in kept_by(table)), *PARAMETERS, float(SEED)]
    return Secrets.of(numbers, [*NAMES, str(SEED), *of_this_machine(firms)], told=shown)


def told_by(name: str, done: JobResult, warned: list[str], folder: Path) -> Iterator[tuple[str, bytes]]:
    """Everything that is for everybody after a job, or said on the screen."""
    for file in done.files:
        yield f"{name}: {file.name}", file.read_bytes()
    summary = done.summary() | {"files": [file.name for file in done.files]}
    yield f"{name}: summary", json.dumps(summary, default=str).encode()
    yield f"{name}: warnings", "\n".join([*warned, *done.warnings]).encode()
    for table in done.tables.values():
        yield f"{name}: text", table_text(table, rows=1000, columns=1000).encode()
        yield f"{name}: in a word", repr(table).encode()
    for suppression in done.suppressions.values():
        hidden = np.argwhere(suppression.table.hidden)[:4].tolist()
        found = [suppression.explanation(*suppression.table.codes(tuple(at))) for at in hidden]
        yield f"{name}: explanations", "\n".join(word for each in found for word in each.words("de")).encode()
        yield f"{name}: explained", json.dumps([each.plain() for each in found]).encode()


@pytest.mark.parametrize("name", JOBS)
def test_no_secret_stands_in_what_a_job_leaves_for_everybody(firms: Path, tmp_path: Path, name: str) -> None:
    done, warned = done_quietly(firms, tmp_path / "job", JOBS[name])
    tables = list(done.tables.values())
    if done.suppressions:
        assert all(table.hidden.any() for table in tables)
    secrets = secrets_of(firms, tables, tables)
    assert len(secrets.digits) > 500
    everything = list(told_by(name, done, warned, tmp_path))
    assert len(everything) >= 4
    assert [leak for what, content in everything for leak in secrets.found_in(what, content)] == []


def looked_at(firms: Path) -> Iterator[tuple[str, object]]:
    """Results as somebody looks at them who works in a notebook."""
    file, rules = firms / "firms.csv", dk.rules.MinCount(4) | dk.rules.PPercent(PARAMETERS[0])
    table = dk.tabulate(file, by={"nace": None, "region": None}, value="turnover")
    yield "a table", table
    marked = dk.mark(table, rules)
    yield "a marked table", marked
    done = dk.suppress(marked, dk.Promise(min_relative_range=PARAMETERS[1]))
    assert done.audit is not None
    yield "what was suppressed", done
    yield "its audit", done.audit
    exposed = dk.audit(marked)
    assert not exposed.safe
    yield "an audit that found something", exposed
    for name, report in (("safe", done.audit), ("exposed", exposed)):
        yield f"a certificate, {name}", certificate_of(report)
        yield f"what it proves, {name}", dk.verify(report.table, certificate_of(report))
    changed = dk.perturb(marked)
    yield "changed values", changed
    yield "the attack on them", dk.perturbation.attack_perturbed(changed)
    yield "merging", dk.perturbation.propose_merging(marked, "region", rules)
    yield "linked tables", dk.Pool.of({"one": marked, "two": marked})
    yield (
        "a comparison of rules",
        dk.rules.compare_rules(table, rules),
    )
    yield "an anonymous file", dk.anonymise(file, ["nace", "region"])
    yield "whose records it holds", dk.rematch(file, dk.anonymise(file, ["nace", "region"]))
    yield "its risk", dk.measure_risk(file, keys=["nace", "region", "owner"])
    yield "its anonymity", dk.risk.measure_anonymity(file, keys=["nace"], sensitive=["turnover"])
    coarse = dk.coarsen(file, [dk.microdata.Drop(columns=("owner",))])
    yield "coarser records", coarse
    grouped = dk.microdata.microaggregate(coarse.frame, ["turnover"])
    yield "grouped records", grouped
    yield "what that cost", dk.microdata.measure_utility(coarse.frame, grouped.frame, ["turnover"])
    yield "an attack on records", dk.risk.attack(grouped.frame, file, keys=["nace"], values=["turnover"])


@pytest.mark.filterwarnings("ignore")
def test_no_secret_stands_in_what_a_notebook_keeps(firms: Path) -> None:
    """A notebook keeps the HTML of a result, and what stands for it in plain text."""
    results = dict(looked_at(firms))
    tables = [each for each in results.values() if isinstance(each, Table)]
    done = results["what was suppressed"]
    assert isinstance(done, Suppression)
    # whatever is merely changed or grouped is published: only what stands in no published table is secret
    told = [done.table, cast(Any, results["changed values"]).table]
    secrets = secrets_of(firms, [*tables, done.table], told)
    for name, result in results.items():
        for view in (repr(result), str(result), cast(Any, result)._repr_html_()):
            assert secrets.found_in(name, view.encode()) == []


def test_no_secret_stands_in_what_the_commands_say(firms: Path, tmp_path: Path) -> None:
    content = JOBS["suppressed"] | {"data": {"microdata": str(firms / "firms.csv")}, "output": {"working": "w.parquet"}}
    job = job_from(content, "here", tmp_path)
    (tmp_path / "job.toml").write_text(job_as_text(job))
    (table,) = run_job(job, tmp_path).tables.values()
    secrets, work = secrets_of(firms, [table], [table]), str(tmp_path / "w.parquet")
    commands = (
        ["run", str(tmp_path / "job.toml"), "--show"], ["audit", work, "--json"], ["compare-runs", work, work],
        ["publish", work, "-o", str(tmp_path / "t.csv"), "--counts"],
        ["report", work, "-o", str(tmp_path / "r.html")],
    )  # fmt: skip
    for words in commands:
        said = CliRunner().invoke(app, words)
        assert said.exit_code == 0, said.output
        shown = said.output.replace(str(tmp_path), "").replace(tmp_path.name, "")
        assert secrets.found_in(words[0], shown.encode()) == []
    for name in ("t.csv", "r.html"):
        assert secrets.found_in(name, (tmp_path / name).read_bytes()) == []
    # a job file holds parameters, which makes it confidential, but nothing of the data
    values = Secrets.of([*contributions(firms), *kept_by(table)], NAMES)
    assert values.found_in("job.toml", (tmp_path / "job.toml").read_bytes().replace(str(firms).encode(), b"")) == []


# --- the search finds what somebody would leak -----------------------------------------------------------------------

HIDDEN = 123456.78


def a_workbook(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("docProps/app.xml", content)
    return file.getvalue()


def a_parquet(column: Any, footer: dict[bytes, bytes]) -> bytes:
    file = io.BytesIO()
    table = pa.table({"x": column}).replace_schema_metadata(footer)
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def a_transport_file() -> bytes:
    with tempfile.NamedTemporaryFile(suffix=".xpt") as file:
        pyreadstat.write_xport(pd.DataFrame({"x": [1.0, HIDDEN]}), file.name)
        return Path(file.name).read_bytes()


LEAKS: dict[str, bytes] = {
    "plain.csv": b"a,123456.78\n",
    "in cents.csv": b"a,12345678\n",
    "in millions.csv": b"a,0.12345678\n",
    "with groups.csv": b"a,123,456.78\n",
    "in German.html": b"<td>123.456,78</td>",
    "with narrow blanks.html": "<td>123\u202f456,78</td>".encode(),
    "with entities.html": b"<td>&#49;2345&#54;.78</td>",
    "rounded.json": b'{"x": 123457}',
    "with an exponent.json": b'{"x": 1.2345678e5}',
    "as a fraction.bin": b"...." + struct.pack("<d", HIDDEN),
    "as a short fraction.bin": b"." + struct.pack("<f", HIDDEN),
    "as a whole number.bin": b"..." + struct.pack("<q", 12345678),
    "turned around.bin": b"." + struct.pack(">d", HIDDEN),
    "wide.txt": "x 123456.78".encode("utf-16"),
    "in base64.svg": b"data:image/svg+xml;base64," + base64.b64encode(b"<svg>123456.78</svg>"),
    "in a workbook.xlsx": a_workbook(b"<Company>123456.78</Company>"),
    "in a column.parquet": a_parquet([1.0, HIDDEN, 2.0], {}),
    "in short fractions.parquet": a_parquet(np.array([HIDDEN], dtype=np.float32), {}),
    "in a footer.parquet": a_parquet([1.0], {b"note": b"123456.78"}),
    "in numbers of other machines.xpt": a_transport_file(),
    "in a page.pdf": b"<< >> stream\n" + zlib.compress(b"BT (123,456.78) Tj ET") + b"\nendstream",
    "a respondent.csv": b"a,Quaxenberg 003\n",
    "a respondent.xlsx": a_workbook(b"<creator>Quaxenberg</creator>"),
}


@pytest.mark.parametrize("name", LEAKS)
def test_the_search_finds_a_leak_in_every_disguise(name: str) -> None:
    secrets = Secrets.of([HIDDEN], ["Quaxenberg"])
    assert secrets.found_in(name, LEAKS[name])
    assert not Secrets.of([87654.321], ["Zwiebelfisch"]).found_in(name, LEAKS[name])


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".json", ".px", ".parquet"])
def test_a_writer_that_leaks_is_caught(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = {"s": ["a", "b", "c"], "x": [HIDDEN, 7654321.09, 5.0], "st": ["primary", "secondary", "open"]}
    table = dk.Table.from_cells(cells, by={"s": None}, value="x", status="st")
    honest = publishing.WRITERS[ending]

    def leaking(release: Any, options: Any, path: Path) -> None:
        """Tells a hidden value where hardly anybody looks: in the label of a code."""
        by = {"s": axis_of(dk.Hierarchy.flat(["a", "b", "c"], labels={"c": f"({HIDDEN:,.2f})"}))}
        honest(type(release)(by=by, measures=release.measures, care=release.care), options, path)

    secrets = Secrets.of(table.value[table.hidden])
    leaks: list[bool] = []
    for write in (honest, leaking):
        monkeypatch.setitem(publishing.WRITERS, ending, write)
        dk.publish(table, tmp_path / f"t{ending}", unprotected=True)
        leaks.append(bool(secrets.found_in(f"t{ending}", (tmp_path / f"t{ending}").read_bytes())))
    assert leaks == [False, True]


def test_working_files_hold_what_is_looked_for(firms: Path, tmp_path: Path) -> None:
    """What is confidential is found where it belongs: the search reads what it is given."""
    said = JOBS["suppressed"] | {"output": {"working": "w.parquet", "certificate": "c.json", "plain": "p.json"}}
    done, _ = done_quietly(firms, tmp_path / "job", said)
    (table,) = done.tables.values()
    secrets = Secrets.of(kept_by(table))
    for name in ("w.parquet", "p.json"):
        assert secrets.found_in(name, (tmp_path / "job" / name).read_bytes())
