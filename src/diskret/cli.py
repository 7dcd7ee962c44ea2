"""The command line: parse, run a job, show progress, print a summary.

Exit codes: 0 done; 1 an audit found something exposed; 2 the input was refused (the message says what to do); 3 a
mistake in diskret itself; 130 stopped by the user.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

if TYPE_CHECKING:
    from diskret.job.run import JobResult
    from diskret.model.table import Table

EXPOSED, REFUSED, BROKEN, STOPPED = 1, 2, 3, 130
STOPPED_WORDS = "diskret: stopped by the user; nothing half-written is left"

app = typer.Typer(
    name="diskret",
    help="Protect tables and microdata: tell much about all, nothing about one.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="File to write; its ending chooses the format.")]
By = Annotated[list[str], typer.Option("--by", help="Classification: COLUMN, COLUMN=FILE, or COLUMN=2,3 for prefixes.")]
Value = Annotated[list[str] | None, typer.Option("--value", help="Column to add up; none for a frequency table.")]


@app.command()
def run(
    job: Annotated[Path, typer.Argument(help="Job file (TOML).")],
    show: Annotated[bool, typer.Option("--show", help="Print the tables, suppressed cells as marks.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Do what a job file says."""
    from diskret.job.read import read_job
    from diskret.job.run import run_job

    with progress_bar(quiet or json) as progress:
        result = run_job(read_job(job), job.parent, progress)
    report(result, quiet, json, show)
    if result.exposed:
        raise typer.Exit(EXPOSED)


@app.command()
def check(
    job: Annotated[Path, typer.Argument(help="Job file (TOML).")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Do everything a job says except writing: files, codes and sums are checked."""
    from diskret.job.read import read_job
    from diskret.job.run import run_job

    with progress_bar(quiet or json) as progress:
        result = run_job(read_job(job), job.parent, progress, write=False)
    report(result, quiet, json, show=False)


@app.command()
def init(
    data: Annotated[Path, typer.Argument(help="Microdata: .parquet or .csv.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Job file to write.")] = Path("job.toml"),
    delimiter: Annotated[str | None, typer.Option(help="Separator of a text file.")] = None,
    decimal: Annotated[str, typer.Option(help="Decimal sign of a text file.")] = ".",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing job file.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a commented job file for a data file."""
    from diskret.io.files import whole_file
    from diskret.job.template import job_text
    from diskret.model.errors import BadOption

    if decimal not in (".", ","):
        raise BadOption("the decimal sign is a point or a comma", hint="say --decimal . or --decimal ,")
    if os.path.exists(out) and not force:
        raise BadOption(
            "the job file exists already", where=str(out), hint="choose another with --out, or add --force."
        )
    text = job_text(data, out.parent, delimiter, decimal)
    with whole_file(out) as part:
        part.write_text(text, encoding="utf-8")
    if not quiet:
        typer.echo(f"wrote {out}; look through it, then: diskret run {out}")


@app.command()
def tabulate(
    data: Annotated[Path, typer.Argument(help="Microdata: .parquet or .csv.")],
    by: By,
    out: Out,
    value: Value = None,
    weight: Annotated[str | None, typer.Option(help="Column with sampling weights.")] = None,
    holding: Annotated[str | None, typer.Option(help="Column that joins records of one owner.")] = None,
    largest: Annotated[int, typer.Option(min=0, max=100, help="How many largest contributions to keep.")] = 2,
    engine: Annotated[str, typer.Option(help="duckdb, spark, or the URL of a Spark master.")] = "duckdb",
    delimiter: Annotated[str | None, typer.Option(help="Separator of a text file.")] = None,
    decimal: Annotated[str, typer.Option(help="Decimal sign of a text file.")] = ".",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Add microdata up to a working file with all sums (confidential)."""
    classifications = dict(_classification(each) for each in by)
    content: dict[str, Any] = {
        "data": {"microdata": str(data.resolve()), "engine": engine, "decimal": decimal},
        "table": {"by": list(classifications), "value": value or []},
        "classifications": classifications,
        "output": {"working": str(out.resolve())},
    }
    content["data"] |= {"delimiter": delimiter} if delimiter else {}
    content["table"] |= {k: v for k, v in (("weight", weight), ("holding", holding)) if v}
    _run_content(content, quiet, json, largest=largest)


@app.command()
def mark(
    table: Annotated[Path, typer.Argument(help="Working file written by tabulate or run.")],
    out: Out,
    min_count: Annotated[int | None, typer.Option(help="Fewest contributors of an open cell.")] = None,
    p_percent: Annotated[float | None, typer.Option(help="p of the p% rule.")] = None,
    dominance: Annotated[list[str] | None, typer.Option(help="n,k of a dominance rule, such as 2,85.")] = None,
    small_cells: Annotated[int | None, typer.Option(help="Smallest count that may be shown.")] = None,
    small_margin: Annotated[bool, typer.Option("--small-margin", help="Lines with a margin of 1 or 2.")] = False,
    one_category: Annotated[bool, typer.Option("--one-category", help="Lines with all units in one category.")] = False,
    counted_by: Annotated[str, typer.Option(help="respondent or holding.")] = "respondent",
    compare: Annotated[Path | None, typer.Option(help="Plot of the rules' regions (.svg, .html, .png).")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Mark the sensitive cells of a working file; write a working file or, by its ending, a file for the public."""
    rules: dict[str, Any] = {
        "min_count": min_count, "p_percent": p_percent, "small_cells": small_cells, "small_margin": small_margin,
        "one_category": one_category, "counted_by": counted_by, "dominance": [_pair(d) for d in dominance or ()],
    }  # fmt: skip
    output = _output(out) | ({"comparison": str(compare.resolve())} if compare else {})
    given = {k: v for k, v in rules.items() if v is not None}
    _run_content({"data": {"table": str(table.resolve())}, "rules": given, "output": output}, quiet, json, marks=True)


@app.command()
def suppress(
    table: Annotated[Path, typer.Argument(help="Working file with marked cells.")],
    out: Out,
    min_relative_range: Annotated[float, typer.Option(help="Interval over value must be greater.")] = 0.0,
    levels: Annotated[
        bool | None, typer.Option("--levels/--no-levels", help="Intervals as wide as the primary rules demand.")
    ] = None,
    zeros: Annotated[str, typer.Option(help="Which zeros may be suppressed: marked, allowed, forbidden.")] = "marked",
    barriers: Annotated[str, typer.Option(help="Keep margins visible: on or off.")] = "on",
    previous: Annotated[Path | None, typer.Option(help="Working file of the last period.")] = None,
    effort: Annotated[
        str, typer.Option(help="How long to look for a cheaper pattern: quick, default, economy.")
    ] = "default",
    thin: Annotated[bool, typer.Option(help="Open secondaries again that nobody needs.")] = True,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Hide further cells so that no primary cell can be computed back."""
    asked: dict[str, Any] = {
        "min_relative_range": min_relative_range, "levels": levels, "zeros": zeros, "barriers": barriers,
        "effort": effort, "thin": thin,
    }  # fmt: skip
    asked |= {"previous": str(previous.resolve())} if previous else {}
    content = {"data": {"table": str(table.resolve())}, "suppression": asked, "output": _output(out)}
    _run_content(content, quiet, json)


@app.command()
def publish(
    table: Annotated[Path, typer.Argument(help="Working file.")],
    out: Annotated[list[Path], typer.Option("--out", "-o", help="File for the public: .csv .parquet .xlsx .json .px.")],
    sign: Annotated[str, typer.Option("--mark", help="What stands for a suppressed value.")] = "x",
    counts: Annotated[bool, typer.Option("--counts", help="Publish contributor counts too.")] = False,
    language: Annotated[str, typer.Option(help="Language of the legend: en or de.")] = "en",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a working file for the public, suppressed values as marks."""
    files = [str(each.resolve()) for each in out]
    output = {"publish": files, "mark": sign, "counts": counts, "language": language}
    _run_content({"data": {"table": str(table.resolve())}, "output": output}, quiet, json)


@app.command()
def audit(
    table: Annotated[Path, typer.Argument(help="Working file with suppressed cells.")],
    min_relative_range: Annotated[float, typer.Option(help="Interval over value must be greater.")] = 0.0,
    insiders: Annotated[str, typer.Option(help="Who attacks besides the public: single, largest or none.")] = "single",
    certificate: Annotated[
        Path | None, typer.Option(help="File for a certificate that diskret verify checks; confidential.")
    ] = None,
    internal: Annotated[bool, typer.Option("--internal", help="Show intervals; not for publication.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Attack a table with a solver; exit code 1 if anything is exposed."""
    from diskret.auditing.audit import audit as attack
    from diskret.auditing.certificate import certificate_of, write_certificate
    from diskret.model.protection import Protection
    from diskret.publication.working import load_working

    reports = {}
    for name, each in load_working(table).items():
        wanted = Protection(min_relative_range, levels=each.below is not None)
        reports[name] = attack(each, protection=wanted, insiders=cast(Any, insiders), certify=certificate is not None)
    if certificate is not None:
        write_certificate({name: certificate_of(r) for name, r in reports.items()}, certificate)
    if json:
        import json as writer

        typer.echo(writer.dumps({name: r.summary() for name, r in reports.items()}, ensure_ascii=False, indent=2))
    elif not quiet:
        for name, r in reports.items():
            typer.echo(f"{name}: {r.report(internal=internal)}")
        if certificate is not None:
            typer.echo(f"wrote {certificate}")
    if not all(r.safe for r in reports.values()):
        raise typer.Exit(EXPOSED)


@app.command()
def verify(
    table: Annotated[Path, typer.Argument(help="Working file the certificate is about.")],
    certificate: Annotated[Path, typer.Argument(help="Certificate written by audit or run.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check a certificate without a solver: every equation is added up again; exit code 1 if it does not hold."""
    from diskret.auditing.certificate import read_certificate, verify_tables
    from diskret.publication.working import load_working

    found = verify_tables(load_working(table), read_certificate(certificate))
    if json:
        import json as writer

        typer.echo(writer.dumps({name: v.summary() for name, v in found.items()}, ensure_ascii=False, indent=2))
    elif not quiet:
        for name, v in found.items():
            typer.echo(f"{name}: {v.report()}")
    if not all(v.holds for v in found.values()):
        raise typer.Exit(EXPOSED)


@app.command()
def attack(
    released: Annotated[Path, typer.Argument(help="Records that are to be released: .parquet or .csv.")],
    external: Annotated[Path, typer.Option(help="File the attacker has.")],
    key: Annotated[list[str] | None, typer.Option(help="Column that must agree; NAME=OTHER for another name.")] = None,
    value: Annotated[list[str] | None, typer.Option(help="Column that should be close; NAME=OTHER likewise.")] = None,
    unit: Annotated[list[str] | None, typer.Option(help="Column that says who is who in both files.")] = None,
    aligned: Annotated[
        bool, typer.Option("--aligned", help="Both files hold the same units in the same order.")
    ] = False,
    original: Annotated[Path | None, typer.Option(help="File before protection, to judge values by.")] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="Value the attacker wants; those he links by if none.")
    ] = None,
    by: Annotated[list[str] | None, typer.Option(help="Column of the combinations; NAME=20,50 for classes.")] = None,
    method: Annotated[str, typer.Option(help="assignment, single or fellegi_sunter.")] = "assignment",
    scale: Annotated[str, typer.Option(help="log, standard or rank.")] = "log",
    usable_within: Annotated[float, typer.Option(help="Largest relative deviation that is still of use.")] = 0.1,
    cap: Annotated[float, typer.Option(help="Highest risk of a combination.")] = 0.5,
    engine: Annotated[
        str, typer.Option(help="For fellegi_sunter: duckdb, spark, or the URL of a Spark master.")
    ] = "duckdb",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Risk of every combination: .csv or .json.")] = None,
    plot: Annotated[Path | None, typer.Option(help="The same as a plot: .svg, .html, .png.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Link records with an external file; exit code 1 if a combination has too high a risk."""
    named = dict(_renamed(each) for each in [*(key or ()), *(value or ())])
    classes = {n: limits for n, limits in (_limits(each) for each in by or ()) if limits}
    asked: dict[str, Any] = {
        "external": str(external.resolve()), "keys": [_renamed(k)[0] for k in key or ()],
        "values": [_renamed(v)[0] for v in value or ()], "names": {a: b for a, b in named.items() if a != b},
        "unit": unit or [], "aligned": aligned, "targets": target or [], "by": [_limits(b)[0] for b in by or ()],
        "classes": classes, "method": method, "scale": scale, "usable_within": usable_within, "cap": cap,
        "engine": engine,
    }  # fmt: skip
    asked |= {"original": str(original.resolve())} if original else {}
    output = {k: str(p.resolve()) for k, p in (("risks", out), ("risk_plot", plot)) if p}
    content = {"data": {"microdata": str(released.resolve())}, "attack": asked, "output": output}
    if _run_content(content, quiet, json).exposed:
        raise typer.Exit(EXPOSED)


@app.command()
def plan(
    file: Annotated[Path | None, typer.Argument(help="Plan (TOML) with shares; or give --shares.")] = None,
    shares: Annotated[list[str] | None, typer.Option(help="Shares of an attribute: age=0.4,0.3,0.2,0.1")] = None,
    n: Annotated[list[int] | None, typer.Option("--n", "-n", help="Number of persons; several for a curve.")] = None,
    tolerated: Annotated[float | None, typer.Option(help="Tolerated share, such as 0.05: says what to merge.")] = None,
    ordered: Annotated[list[str] | None, typer.Option(help="Attribute whose levels have an order.")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="Attribute that stays as it is.")] = None,
    estimator: Annotated[str | None, typer.Option("--by", help="Plan by orwell or by expected.")] = None,
    worst: Annotated[bool, typer.Option("--worst", help="Compute the true worst case (few cells).")] = False,
    plot: Annotated[Path | None, typer.Option(help="Curves over N: .svg, .html, .png.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Estimate before collection how many persons could be singled out, and which levels to merge."""
    from diskret.job.plan import plan_from, read_plan, run_plan, shares_from_options

    said: dict[str, Any] = {"shares": shares_from_options(shares or ())}
    given = {"n": n, "tolerated": tolerated, "ordered": ordered, "keep": keep, "by": estimator, "worst": worst or None}
    said |= {k: v for k, v in given.items() if v is not None}
    if file is not None:
        before = read_plan(file).model_dump(exclude_unset=True)
        said = before | said | {"shares": before.get("shares", {}) | said["shares"]}
    found = run_plan(plan_from(said, str(file or "the command's options")))
    if plot is not None:
        from diskret.publication.risk_plots import plot_estimate

        plot_estimate(found.estimate, plot)
    if json:
        import json as writer

        typer.echo(writer.dumps(found.summary(), ensure_ascii=False, indent=2))
    elif not quiet:
        typer.echo(found.estimate)
        if found.merges is not None:
            typer.echo(found.merges)
        if plot is not None:
            typer.echo(f"wrote {plot}")


def _renamed(text: str) -> tuple[str, str]:
    name, _, other = text.partition("=")
    return name, other or name


def _limits(text: str) -> tuple[str, list[str]]:
    name, _, limits = text.partition("=")
    return name, [part.strip() for part in limits.split(",")] if limits else []


@app.command()
def anonymise(
    data: Annotated[Path, typer.Argument(help="Microdata, .parquet or .csv; or a job file (.toml) that anonymises.")],
    attribute: Annotated[
        list[str] | None, typer.Option("--attribute", "-a", help="Column, COLUMN=FILE, or COLUMN=2,3 for prefixes.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Anonymous microdata: .parquet or .csv.")] = None,
    k: Annotated[int, typer.Option("--k", help="Fewest objects of a combination that occurs.")] = 3,
    up_to: Annotated[int, typer.Option(help="Control all tables up to this dimension.")] = 3,
    weights: Annotated[int, typer.Option(help="Larger deviations for large cells: variant 1 or 2.")] = 0,
    search: Annotated[str, typer.Option(help="ladder or printed.")] = "ladder",
    effort: Annotated[float | None, typer.Option(help="More or fewer groups tested (ladder).")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds until the best file so far is taken.")] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="File to go on from after an interruption.")] = None,
    quality: Annotated[Path | None, typer.Option(help="Report on the control tables: .json or .txt.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same file.")] = 1,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make microdata k-anonymous so that their tables stay (SAFE). Ctrl-C gives the best file so far."""
    from diskret.model.errors import BadOption

    if data.suffix == ".toml":
        run(data, quiet=quiet, json=json)
        return
    if not attribute or out is None:
        raise BadOption("attributes or output are missing", hint="say --attribute COLUMN ... --out FILE.")
    classifications = dict(_classification(each) for each in attribute)
    asked: dict[str, Any] = {
        "attributes": list(classifications), "k": k, "up_to": up_to, "weights": weights, "search": search, "seed": seed
    }  # fmt: skip
    files = {"checkpoint": None if checkpoint is None else str(checkpoint.resolve())}
    asked |= {n: v for n, v in {"effort": effort, "time_limit": time_limit, **files}.items() if v is not None}
    output = {"microdata": str(out.resolve())} | ({"quality": str(quality.resolve())} if quality else {})
    content = {
        "data": {"microdata": str(data.resolve())},
        "anonymise": asked,
        "classifications": {n: c for n, c in classifications.items() if c},
        "output": output,
    }
    _run_content(content, quiet, json)


def _output(out: Path) -> dict[str, Any]:
    """A working file, or by its ending a file for the public."""
    target = str(out.resolve())
    return {"working": target} if out.suffix == ".parquet" else {"publish": [target]}


def _run_content(content: dict[str, Any], quiet: bool, json: bool, marks: bool = False, **options: Any) -> JobResult:
    """Run a job made from the command's options: one way to do a thing."""
    from diskret.job.read import job_from
    from diskret.job.rules import rules_of
    from diskret.job.run import run_job
    from diskret.model.errors import BadOption

    job = job_from(content, "the command's options", Path())
    if marks and not rules_of(job).rules:
        raise BadOption("no rule to mark by", hint="give at least one, such as --min-count 3 or --p-percent 10.")
    with progress_bar(quiet or json) as progress:
        result = run_job(job, Path(), progress, **options)
    report(result, quiet, json, show=False)
    return result


def _classification(text: str) -> tuple[str, dict[str, Any]]:
    name, _, how = text.partition("=")
    if not how:
        return name, {}
    parts = how.split(",")
    return name, {"prefixes": [int(p) for p in parts]} if all(p.strip().isdecimal() for p in parts) else {
        "hierarchy": str(Path(how).resolve())
    }


def _pair(text: str) -> list[Any]:
    return [part.strip() for part in text.split(",")]


# --- what the user sees ----------------------------------------------------------------------------------------------


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on standard error for whatever takes longer than a second."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    tasks: dict[str, Any] = {}
    start = time.monotonic()

    def say(what: str, done: int, of: int) -> None:
        if time.monotonic() - start < 1.0:
            return
        if not tasks:
            bar.start()
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=of or None)
        bar.update(tasks[what], completed=done, total=of or None)

    try:
        yield say
    finally:
        if tasks:
            bar.stop()


def report(result: JobResult, quiet: bool, json: bool, show: bool) -> None:
    """Print what was done: counts, files, what deserves care."""
    if json:
        import json as writer

        typer.echo(writer.dumps(result.summary(), ensure_ascii=False, indent=2))
        return
    if quiet:
        return
    from rich.console import Console
    from rich.markup import escape

    # Long lines stay whole, so that a path can be copied.
    console = Console(soft_wrap=True)
    if show:
        _show(console, list(result.tables.values()))
    for name, facts in result.summary()["tables"].items():
        statuses = ", ".join(f"{n:,} {s}" for s, n in facts["status"].items())
        console.print(f"[bold]{escape(name)}[/]: {facts['cells']:,} cells, {facts['occupied']:,} occupied: {statuses}")
        for rule, number in facts["rules"].items():
            console.print(f"  {number:,} by {rule}", markup=False)
        attack = facts.get("suppression", {}).get("audit")
        if attack:
            found = f"{attack['exposed']} exposed, {attack['undecided']} undecided"
            safe = attack["exposed"] + attack["undecided"] == 0
            console.print(f"  attacked with a solver: {'nothing is exposed' if safe else found}")
    for step in (result.microdata or {}).get("steps", ()):
        console.print(f"{step['method']}: {step['records']:,} records", markup=False)
    for name, value in (result.microdata or {}).get("utility", {}).items():
        console.print(f"  {name}: {value:,}", markup=False)
    if result.attack is not None:
        console.print(str(result.attack), markup=False)
    if result.anonymisation is not None:
        _show_anonymisation(console, result.anonymisation.summary())
    if result.comparison is not None:
        console.print(str(result.comparison), markup=False)
    for file in result.files:
        console.print(f"wrote {file}", markup=False)
    for warning in result.warnings:
        Console(stderr=True, soft_wrap=True).print(f"care: {warning}", style="yellow", markup=False)


def _show_anonymisation(console: Any, facts: dict[str, Any]) -> None:
    console.print(
        f"{facts['objects']:,} objects in {facts['rows']:,} combinations, each at least {facts['k']} times; "
        f"{facts['control tables']:,} control tables with {facts['control cells']:,} cells"
    )
    for dimension, each in facts["quality"].items():
        console.print(
            f"  {dimension}-dimensional: largest deviation {each['largest deviation']}, "
            f"mean {each['mean deviation']} in {each['cells']:,} cells"
        )


def _show(console: Any, tables: list[Table]) -> None:
    from diskret.publication.text import columns_that_fit, show

    for table in tables:
        console.print(show(table, columns=columns_that_fit(table, console.width)))
        console.print()


def main() -> None:
    """Entry point: every refusal becomes a message and an exit code, never a traceback."""
    from diskret.model.errors import DiskretError

    try:
        app()
    except DiskretError as e:
        typer.echo(f"diskret: {e}\n  more: {e.docs}", err=True)
        raise SystemExit(REFUSED) from None
    except SystemExit as e:
        if e.code == STOPPED:  # Ctrl-C, of which typer makes an exit without a word
            typer.echo(STOPPED_WORDS, err=True)
        raise
    except KeyboardInterrupt:
        typer.echo(STOPPED_WORDS, err=True)
        raise SystemExit(STOPPED) from None
    except Exception as e:
        if os.environ.get("DISKRET_DEBUG"):
            raise
        typer.echo(
            f"diskret: a mistake in diskret itself ({type(e).__name__}); please report it.\n"
            "  what to do: set DISKRET_DEBUG=1 and run again to see where.",
            err=True,
        )
        raise SystemExit(BROKEN) from None
