"""Risk: measures on files beside pycanon, special uniques, linkage of 100,000 x 100,000, the worst case."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from benchmarks.case import Case
from benchmarks.peers import INTERPRETER
from benchmarks.times import seconds
from diskret.risk import fellegi_sunter

SHARED = Path(__file__).parents[2] / "shared" / "data" / "micro"
DATA = Path(__file__).parent / "data"
MISSING = "not run: the files of shared/data are not here"
KEYS, SENSITIVE = ["sex", "age", "race", "marital-status", "education"], ["occupation", "salary-class"]
SIZES = {"adult": 30_162, "100k": 100_000, "1M": 1_000_000, "10M": 10_000_000}
PEER_SIZES = ("adult", "100k")
LIMIT = 600


def cases() -> Iterator[Case]:
    """Us at every size, the peer where it finishes."""
    for label, rows in SIZES.items():
        what = f"k, l, t of {label} ({rows:,} records, 5 keys, 2 sensitive attributes)"
        prepare = partial(people, label)
        yield Case(f"risk-anonymity-{label}", what, "diskret", partial(anonymity, label), prepare, warm_anonymity)
        if label in PEER_SIZES:
            yield Case(f"risk-anonymity-{label}-pycanon", what, "pycanon", partial(peer, label), prepare, judge=_judge)
    what = "special uniques, 8 keys, {} records"
    for label in ("adult", "100k"):
        yield Case(
            f"risk-special-{label}", what.format(f"{SIZES[label]:,}"), "diskret", partial(special, label),
            partial(people, label), warm_special,
        )  # fmt: skip
    yield Case("risk-models", "individual risk and six models of uniqueness, 1 M records", "diskret", models,
               partial(people, "1M"), warm_special)  # fmt: skip
    for method in ("assignment", "single", "fellegi_sunter"):
        for industries, words in ((17, "221 blocks"), (1, "13 blocks")):
            if method == "fellegi_sunter" and industries == 1:
                continue
            what = f"link 100,000 x 100,000 firms by 3 values, {words}"
            run = partial(linkage, method, industries)
            warm = partial(linkage, method, industries, 2_000)
            make = partial(firms, 100_000, industries)
            yield Case(f"risk-link-{method}-{industries}", what, f"diskret, {method}", run, make, warm)
    yield Case(
        "risk-link-splink-17", "link 100,000 x 100,000 firms by 3 values, 221 blocks", "splink weighs all pairs",
        partial(by_splink, 17), partial(firms, 100_000, 17), partial(by_splink, 17, 2_000), beside_splink,
    )  # fmt: skip
    for method in ("assignment", "single"):
        run = partial(linkage, method, 170, 1_000_000)
        make, warm = partial(firms, 1_000_000, 170), partial(linkage, method, 17, 2_000)
        what = "link 1,000,000 x 1,000,000 firms by 3 values, 2,210 blocks"
        yield Case(f"risk-link-1M-{method}", what, f"diskret, {method}", run, make, warm, limit=3600)
    yield Case("risk-worst-case", "worst cases of the printed tables (96 integer programmes)", "diskret", worst_cases)


# --- people ----------------------------------------------------------------------------------------------------------


@cache
def people(label: str) -> Path | None:
    """Adult as it is, or drawn from it with seeded noise on the age, so that larger files have more classes."""
    source = SHARED / "adult.parquet"
    if not source.exists():
        return None
    if label == "adult":
        return source
    path = DATA / f"adult-{label}.parquet"
    if not path.exists():
        import duckdb

        DATA.mkdir(exist_ok=True)
        con = duckdb.connect()
        con.execute("SET threads = 1")
        con.execute("SELECT setseed(0.5)")
        columns = con.execute(f"DESCRIBE SELECT * FROM '{source}'").fetchall()
        aged = ", ".join(
            f'CAST(a."{c[0]}" AS INTEGER) + CAST(floor(random() * 7) AS INTEGER) - 3 AS age'
            if c[0] == "age"
            else f'a."{c[0]}"'
            for c in columns
        )
        times = -(-SIZES[label] // 30_162)
        con.execute(
            f"COPY (SELECT {aged} FROM '{source}' a, range({times}) LIMIT {SIZES[label]}) TO '{path}' (FORMAT parquet)"
        )
    return path


def anonymity(label: str) -> str:
    """All measures."""
    path = people(label)
    if path is None:
        return MISSING
    found = dk.measure_anonymity(path, keys=KEYS, sensitive=SENSITIVE)
    worst = max(d.t_equal for d in found.sensitive.values())
    beta, delta = (max(getattr(d, n) for d in found.sensitive.values()) for n in ("beta", "delta"))
    least = min(d.distinct for d in found.sensitive.values())
    return f"{found.classes:,} classes, k {found.k}, l {least}, t {worst:.4f}, beta {beta:.2f}, delta {delta:.4f}"


def warm_anonymity() -> None:
    dk.measure_anonymity({"a": ["x", "y"], "b": [1, 2]}, keys=["a"], sensitive=["b"])


def peer(label: str) -> str | dict[str, Any]:
    """pycanon in a process of its own, by the interpreter of .venv-bench."""
    path = people(label)
    if path is None:
        return MISSING
    if not INTERPRETER.exists():
        return "not run: .venv-bench is missing, `make bench` makes it"
    command = [
        str(INTERPRETER),
        str(Path(__file__).with_name("pycanon_peer.py")),
        str(path),
        json.dumps([KEYS, SENSITIVE]),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"stopped after {LIMIT} s"
    if done.returncode != 0:
        return f"failed: {(done.stderr.strip().splitlines() or ['no message'])[-1][:80]}"
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _judge(found: str | dict[str, Any]) -> Mapping[str, str]:
    empty = {"CPU s": "", "wall s": "", "peak GB": "", "compile s": ""}
    if isinstance(found, str):
        return {**empty, "quality": found}
    taken = {"CPU s": seconds(found["cpu"]), "peak GB": f"{found['peak']:.2f}", "quality": found["quality"]}
    return {**empty, **taken}


def special(label: str) -> str:
    """Minimal sample uniques over eight keys."""
    path = people(label)
    if path is None:
        return MISSING
    keys = [*KEYS, "native-country", "workclass", "occupation"]
    found = dk.measure_risk(path, keys=keys).special
    assert found is not None
    return f"{found.records:,} records, {sum(found.by_size):,} minimal sets {found.by_size}"


def models() -> str:
    """Everything but special uniques."""
    path = people("1M")
    if path is None:
        return MISSING
    found = dk.measure_risk(path, keys=KEYS, population=20_000_000, special=False)
    return ", ".join(f"{name} {u.sample:,.0f}" for name, u in found.uniques.items())


def warm_special() -> None:
    dk.measure_risk({"a": ["x", "y", "z"], "b": ["1", "2", "2"], "c": [1, 1, 2]}, keys=["a", "b", "c"], population=30)


# --- firms -----------------------------------------------------------------------------------------------------------


@cache
def firms(n: int, industries: int, noise: float = 0.1) -> tuple[dict[str, Any], dict[str, Any]]:
    """Released and external firms: size classes, regions, industries, three correlated values with noise."""
    generator = np.random.default_rng(1)
    employees = np.exp(generator.normal(4, 1.2, n))
    root = np.linalg.cholesky(0.8 * np.ones((3, 3)) + 0.2 * np.eye(3))
    values = np.exp(generator.normal(size=(n, 3)) @ root.T * 0.6 + np.log(employees)[:, None] + 4)
    shifted = values * np.exp(generator.normal(0, noise, values.shape))
    size = np.searchsorted([20, 50, 100, 250, 500, 1000], employees, side="right").astype(str).astype(object)
    region = np.where(generator.random(n) < 0.8, "West", "East").astype(object)
    industry = generator.integers(0, industries, n).astype(str).astype(object)
    order = generator.permutation(n)
    external = {"id": np.arange(n), "region": region, "size": size, "industry": industry}
    withheld = region.copy()
    withheld[employees >= 1000] = None
    released = {"id": order, "region": withheld[order], "size": size[order], "industry": industry[order]}
    for j in range(3):
        external[f"x{j}"], released[f"x{j}"] = values[:, j], shifted[order, j]
    return released, external


def linkage(method: Any, industries: int, n: int = 100_000) -> str:
    """The whole attack: reading, blocking, linking, judging."""
    keys, values = ["region", "size", "industry"], ["x0", "x1", "x2"]
    found = dk.attack(
        *firms(n, industries), keys=keys, values=values, unit="id", options=dk.LinkageOptions(method=method)
    )
    return (
        f"{found.blocks} blocks, {found.optimal:,} units assigned optimally, "
        f"true match rate {found.true_match_rate:.3f}, "
        f"{len(found.exceeding)} of {len(found.combinations)} combinations above the cap"
    )


def by_splink(industries: int, n: int = 100_000) -> Any:
    """The same attack, the pairs of all blocks weighed and written down by splink; its model is learned as ours is."""
    original = fellegi_sunter.link_by_probability
    fellegi_sunter.link_by_probability = partial(original, compiled=False)
    try:
        return fellegi_sunter_attack(industries, n)
    finally:
        fellegi_sunter.link_by_probability = original


def fellegi_sunter_attack(industries: int, n: int = 100_000) -> Any:
    """Whom somebody finds by probabilities."""
    return dk.attack(
        *firms(n, industries), keys=["region", "size", "industry"], values=["x0", "x1", "x2"], unit="id",
        options=dk.LinkageOptions(method="fellegi_sunter"),
    )  # fmt: skip


def beside_splink(found: Any) -> str:
    """Whether our loop makes the same pairs of units from the same pairs of records."""
    ours = fellegi_sunter_attack(17)
    other = int((ours.partner != found.partner).sum())
    return f"true match rate {found.true_match_rate:.3f}; {other:,} units have another partner by our loop"


def worst_cases() -> str:
    """Every case of the audit of the ORWELL coefficient."""
    golden = Path(__file__).parents[1] / "tests" / "golden" / "deanon"
    tables = {t["table"]: t for t in json.loads((golden / "tables_1_9.json").read_text(encoding="utf-8"))["tables"]}
    rows = json.loads((golden / "worst_case_audit.json").read_text(encoding="utf-8"))["rows"]
    agree = below = 0
    for row in rows:
        for name, fixed in (("margins_by_sex", [("sex", "education"), ("sex", "age")]), ("oneway_margins", [])):
            shares = tables[row["table"]]["distribution"]
            case = dk.estimate_reidentifiable(shares, n=row["N"], worst=True, fixed=fixed).at(row["N"]).worst
            assert case is not None
            agree += (case.most, case.fewest) == (row[f"max_singles_{name}"], row[f"min_singles_{name}"])
            below += case.most > row["EZ_OR"]
    return f"{agree} of {2 * len(rows)} as in the audit; ORWELL below the maximum in {below}"
