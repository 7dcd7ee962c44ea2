"""Commands that a page shows without what they print run as they stand, in a folder with the files that they name."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from tests.argus.case import BEGIN, house
from tests.docs.walk import Reader
from tests.serving import serving

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TEXT = re.compile(r"^```text[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"^```toml\n# (\w+\.toml)\n(.*?)^```", re.DOTALL | re.MULTILINE)
ENDLESS = "serve"
"""What runs until it is ended; the tests of the page start it."""
BY = "--by industry=industries.hrc --by region=regions.csv --value turnover"


def commands_in(page: Path) -> Iterator[list[str]]:
    """Our commands in blocks of plain text, without the remarks behind them."""
    for block in TEXT.findall(page.read_text(encoding="utf-8")):
        for line in re.findall(r"^diskret (\S.*)$", re.sub(r"\s*\\\n\s*", " ", block), re.MULTILINE):
            words = shlex.split(re.split(r" {3,}", line)[0], comments=True)
            if words[0] != ENDLESS:
                yield ["diskret", *words]


PAGES = {page.relative_to(DOCS).as_posix(): page for page in sorted(DOCS.rglob("*.md"))}
SHOWN = [name for name, page in PAGES.items() if list(commands_in(page))]


# --- the files that a page names --------------------------------------------------------------------------------------


def marked(reader: Reader, *names: str) -> None:
    """The example's table, marked, as working files."""
    for command in (
        f"tabulate firms.csv {BY} --out t.parquet",
        "mark t.parquet --min-count 3 --p-percent 10 --out m.parquet",
    ):
        ran(reader, command)
    for name in names:
        shutil.copy(reader.folder / "m.parquet", reader.folder / name)


def protected(reader: Reader, *names: str) -> None:
    marked(reader)
    ran(reader, "suppress m.parquet --out s.parquet")
    for name in names:
        shutil.copy(reader.folder / "s.parquet", reader.folder / name)


def ran(reader: Reader, command: str) -> None:
    reader.code = 0
    said = reader.done(["diskret", *shlex.split(command)])
    assert reader.code == 0, f"{command}\n{said}"


def batch(reader: Reader) -> None:
    """A batch of tau-ARGUS that writes an intermediate file, and jobs that read what it wrote."""
    house(reader.folder, *BEGIN, "<SUPPRESS> MOD(1,5,1,0,0)", '<WRITETABLE> (1,5,,"out.csv")')
    ran(reader, "argus job.arb --out old")
    for when in ("old", "new"):
        job = f'[data]\ncells = "{when}/out.csv"\nmetadata = "{when}/out.rda"\n[output]\nworking = "{when}.parquet"\n'
        (reader.folder / f"{when}.toml").write_text(job, encoding="utf-8")


def certified(reader: Reader) -> None:
    protected(reader, "table.parquet")
    (reader.folder / "job.toml").write_text("[promise]\n", encoding="utf-8")


def next_year(reader: Reader) -> None:
    """The example as data of other years, and a pool with a table of the north and one of the south."""
    folder = reader.folder
    duckdb.sql(
        f"COPY (FROM read_csv('{folder / 'firms.csv'}', all_varchar = true)) TO '{folder / 'firms-2024.parquet'}'"
    )
    ran(reader, "init firms.csv --out old.toml")
    ran(reader, "run old.toml --out earlier")
    (folder / "earlier" / "firms.working.parquet").rename(folder / "2023.working.parquet")
    text = (folder / "old.toml").read_text(encoding="utf-8")
    (folder / "quarter.toml").write_text(text.replace("out/firms.", "out/{data}."), encoding="utf-8")
    for name in ("north", "south"):
        shutil.copy(folder / "firms.csv", folder / f"{name}-2024.csv")
    tables = "".join(
        f'[tables.{name}]\nby = ["{by}"]\nvalue = "turnover"\ndata.microdata = "firms.csv"\n'
        for name, by in (("north", "industry"), ("south", "region"))
    )
    (folder / "pool.toml").write_text(f"{tables}[rules]\nmin_count = 3\n[suppression]\n", encoding="utf-8")


def promised(reader: Reader) -> None:
    marked(reader, "marked.parquet")
    (reader.folder / "office.toml").write_text('[promise]\nguard = "largest"\n', encoding="utf-8")


def ledger(reader: Reader) -> None:
    """A yearbook, a bulletin of somebody else, a new table, and what they count."""
    folder = reader.folder
    regions = '{"DE": {"05": ["051", "052"], "09": ["091", "092"]}}'
    (folder / "tree.json").write_text(regions, encoding="utf-8")
    (folder / "zones.csv").write_text(
        "code,parent\n051,wet\n091,wet\n052,dry\n092,dry\nwet,DE\ndry,DE\n", encoding="utf-8"
    )
    records = [f"{code},{10 + 7 * i}" for code in ("051", "052", "091", "092") for i in range(5)]
    (folder / "r.csv").write_text("\n".join(["region,turnover", *records]) + "\n", encoding="utf-8")
    (folder / "bulletin.csv").write_text("region,turnover\nwet,240\ndry,240\nDE,480\n", encoding="utf-8")
    (folder / "about.toml").write_text('population = "firms"\nperiod = "2024"\n', encoding="utf-8")
    for name in ("yearbook", "new"):
        ran(reader, "tabulate r.csv --by region=tree.json --value turnover --out t.parquet")
        ran(reader, "mark t.parquet --min-count 3 --out m.parquet")
        ran(reader, f"suppress m.parquet --out {name}.working.parquet")


def desk(reader: Reader) -> None:
    """A house with a ledger, and tables made from its records."""
    folder = reader.folder
    rows = [f"{r},{s},{10 + i * 5},{100 + 13 * i}" for r in ("n1", "n2", "s1") for s in "CDE" for i in range(12)]
    (folder / "firms.csv").write_text("\n".join(["region,sector,employees,turnover", *rows]) + "\n", encoding="utf-8")
    (folder / "regions.csv").write_text("code,parent\nn1,N\nn2,N\nN,DE\ns1,DE\n", encoding="utf-8")
    value = sum(100 + 13 * i for i in range(12))
    cells = [f"{r},{value},12,243,230" for r in ("n1", "n2", "s1")]
    (folder / "table1.csv").write_text(
        "\n".join(["region,turnover,firms,largest,second", *cells]) + "\n", encoding="utf-8"
    )


def zones(reader: Reader) -> None:
    """Persons with a district and a grid cell each, and where those are."""
    people = ["A,3"] * 15 + ["A,5"] * 5 + ["B,5"] * 10 + ["B,9"] * 8 + ["B,4"] * 2 + ["C,4"] * 10 + ["C,6"] * 20
    (reader.folder / "people.csv").write_text("\n".join(["district,grid", *people]) + "\n", encoding="utf-8")
    places = [f"{code},{x},{x % 3}" for x, code in enumerate("ABC35946")]
    (reader.folder / "zones.csv").write_text("\n".join(["code,x,y", *places]) + "\n", encoding="utf-8")


def persons(reader: Reader) -> None:
    """Persons with three attributes, and an anonymous file of them made elsewhere."""
    folder = reader.folder
    duckdb.sql(
        f"COPY (SELECT region, age, sex FROM read_csv('{folder / 'care.csv'}', all_varchar = true)) "
        f"TO '{folder / 'persons.parquet'}'"
    )
    duckdb.sql(f"COPY (FROM '{folder / 'persons.parquet'}') TO '{folder / 'persons.csv'}'")
    ran(reader, "anonymise persons.csv --attribute region=regions.csv --attribute age --out anonymous.csv --steps 100")


def register(reader: Reader) -> None:
    for path in (reader.folder / "risk").glob("*.csv"):
        shutil.copy(path, reader.folder)


def yours(reader: Reader) -> None:
    for name in ("yours.csv", "daten.csv"):
        shutil.copy(reader.folder / "firms.csv", reader.folder / name)


STAGES: dict[str, Callable[[Reader], None]] = {
    "argus.md": batch,
    "certificate.md": certified,
    "coming_from_tau_argus.md": batch,
    "de/start/table.md": yours,
    "ledger.md": ledger,
    "jobs.md": next_year,
    "perturbation.md": lambda reader: marked(reader, "work.parquet"),
    "promise.md": promised,
    "requests.md": desk,
    "risk.md": register,
    "safe.md": persons,
    "start/table.md": yours,
    "zonings.md": zones,
}


def test_a_stage_is_set_for_pages_with_commands_only() -> None:
    assert set(STAGES) <= set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_every_command_of_the_page_runs(name: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for folder in (".", "examples"):
        ran(reader, f"examples {folder}")
    for file, text in NAMED.findall(PAGES[name].read_text(encoding="utf-8")):
        (tmp_path / file).write_text(text, encoding="utf-8")
    if name in STAGES:
        STAGES[name](reader)
    for words in commands_in(PAGES[name]):
        reader.code = 0
        said = reader.done(words)
        assert reader.code in (0, 1), f"{shlex.join(words)}\n{said}"
        assert "Traceback" not in said


JOB = """{"job": {"data": {"microdata": "firms.csv"}, "table": {"by": ["region"], "value": "turnover"},
"rules": {"min_count": 3}, "suppression": {}, "output": {"publish": ["table.csv"]}}}"""


@pytest.mark.skipif(not shutil.which("curl") or not shutil.which("bash"), reason="curl is not installed")
def test_the_requests_by_curl_run(tmp_path: Path) -> None:
    (block,) = [text for text in TEXT.findall(PAGES["api.md"].read_text(encoding="utf-8")) if "\ncurl " in text]
    shutil.copy(ROOT / "examples" / "firms.csv", tmp_path)
    (tmp_path / "job.json").write_text(JOB, encoding="utf-8")
    with serving(tmp_path / "protected"):
        done = subprocess.run(
            ["bash", "-e", "-c", block.replace("curl -K", "curl --noproxy '*' -fsS -K")], cwd=tmp_path,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"state":"running"' in done.stdout.replace(" ", "")
