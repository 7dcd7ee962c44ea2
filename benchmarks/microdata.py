"""Scientific-use files: grouping against microagg1d, noise with pairing, swapping, and the whole job."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from benchmarks.case import Case
from benchmarks.peers import INTERPRETER
from benchmarks.times import seconds
from diskret.job.models import Job
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.microdata.columns import Protected, Records, read_records
from diskret.publication.microdata_files import write_records

SIZES = {"1M": 1_000_000, "10M": 10_000_000}
PEERS = {
    "default": ("auto", 1),
    "exact": ("galil_park", 1),
    "exact-simple": ("simple", 3),
    "prefix-sums": ("simple", 2),
}
EXAMPLE = Path(__file__).parents[1] / "examples" / "panel"
MEANS = "noise on 13,294 units x 30 columns, 5 seeds"


def cases() -> Iterator[Case]:
    """Grouping, noise, swapping, job."""
    for label, n in SIZES.items():
        what = f"microaggregate {label} values, m = 3"
        yield Case(f"microdata-group-{label}", what, "diskret", partial(group, n), partial(column, n), warm, inside)
        for name, how in PEERS.items():
            program = f"microagg1d, {name} ({how[0]}, stable={how[1]})"
            yield Case(f"microdata-group-{label}-{name}", what, program, partial(peer, n, *how), judge=peer_row)
    what = "microaggregate 10M values, m = 4, variance kept"
    keep = partial(group, SIZES["10M"], keep_variance=True)
    yield Case("microdata-variance-10M", what, "diskret", keep, partial(column, SIZES["10M"]), warm, kept)
    what = "microaggregate 13,294 records x 30 columns"
    yield Case("microdata-mdav", what, "diskret, MDAV", mdav, partial(firms, 13_294, 30), warm, facts)
    what = "microaggregate 1M records x 5 columns"
    yield Case(
        "microdata-mdav-1M", what, "diskret, MDAV in blocks", partial(mdav, SIZES["1M"], 5),
        partial(firms, SIZES["1M"], 5), warm, facts,
    )  # fmt: skip
    for pairing in ("none", "exact", "blocks"):
        yield Case(
            f"microdata-noise-13k-{pairing}", MEANS, f"diskret, pairing {pairing}", partial(noises, pairing),
            partial(firms, 13_294, 30), warm, means,
        )  # fmt: skip
    what = "noise on 1M units x 30 columns, two peaks, pairing in blocks"
    million = partial(firms, SIZES["1M"], 30)
    yield Case(
        "microdata-noise-1M", what, "diskret", partial(noise, SIZES["1M"], "blocks", 1), million, warm, mean_error
    )
    what = "swap 1M records over 400 counties, k = 3, rate 5 %"
    yield Case("microdata-swap-1M", what, "diskret", swap, people, warm, facts)
    what = "job: panel of 13,294 units, 4 waves, 30 columns, with report"
    yield Case("microdata-job-noise", what, "diskret, noise", partial(job, "panel"), panel, judge=in_numbers)
    run = partial(job, "microaggregation")
    yield Case("microdata-job-groups", what, "diskret, microaggregation", run, panel, judge=in_numbers)


# --- data ------------------------------------------------------------------------------------------------------------


@cache
def column(n: int) -> np.ndarray:
    return np.random.default_rng(0).lognormal(10, 2, size=n)


@cache
def firms(n: int, columns: int) -> dict[str, np.ndarray]:
    """Correlated skewed columns: one factor for size, one per column."""
    rng = np.random.default_rng(1)
    size = 1.5 * rng.normal(size=n) + 8
    return {f"c{k}": np.exp(size + 0.5 * rng.normal(size=n)) for k in range(columns)}


@cache
def people() -> Records:
    rng = np.random.default_rng(2)
    n = SIZES["1M"]
    county = rng.integers(0, 400, n)
    return read_records(
        {
            "state": county // 25, "county": county, "age": rng.integers(0, 18, n), "sex": rng.integers(0, 2, n),
            "job": np.minimum(rng.geometric(0.15, n), 40),
        }
    )  # fmt: skip


@cache
def panel() -> Path:
    """The example with its data in a folder of its own."""
    spec = importlib.util.spec_from_file_location("make_panel", EXAMPLE / "make_panel.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = Path(tempfile.mkdtemp())
    write_records(read_records(module.make_panel()), folder / "panel.parquet")
    for file in EXAMPLE.glob("*.csv"):
        (folder / file.name).write_bytes(file.read_bytes())
    run_job(_job("panel", folder), folder)  # compiles everything
    return folder


def warm() -> None:
    small = {name: values[:300] for name, values in firms(13_294, 30).items()}
    for options in ({}, {"keep_variance": True}, {"method": "mdav"}):
        dk.microaggregate(small, ["c0"], **options)
    dk.add_noise(
        small, list(small), sd=0.12, shift=0.05, seed=1, options=dk.NoiseOptions(pairing="blocks", nearest=True)
    )
    few = {name: values[:2000] for name, values in people().items()}
    dk.swap_records(few, ["county"], risk=["sex"], similar=[["sex"]], seed=1)


# --- runs ------------------------------------------------------------------------------------------------------------


def group(n: int, **options: Any) -> Protected:
    return dk.microaggregate({"x": column(n)}, ["x"], **(options or {"m": 3}))


def peer(n: int, method: str, stable: int) -> str | dict[str, Any]:
    if not INTERPRETER.exists():
        return "not run: .venv-bench is missing, `make bench` makes it"
    command = [str(INTERPRETER), str(Path(__file__).with_name("microagg_peer.py")), str(n), method, str(stable)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        return f"failed: {(done.stderr.strip().splitlines() or ['no message'])[-1][:80]}"
    return dict(json.loads(done.stdout.splitlines()[-1]))


def mdav(records: int = 13_294, columns: int = 30) -> Protected:
    return dk.microaggregate(firms(records, columns), list(firms(records, columns)), method="mdav")


def noise(n: int, how: Any, seed: int) -> tuple[int, Protected]:
    data = firms(n, 30)
    return n, dk.add_noise(data, list(data), sd=0.13, shift=0.1, seed=seed, options=dk.NoiseOptions(pairing=how))


def noises(how: str) -> list[tuple[int, Protected]]:
    return [noise(13_294, how, seed) for seed in range(5)]


def swap() -> Protected:
    return dk.swap_records(
        people(), ["state", "county"], risk=["age", "sex", "job"], similar=[["age", "sex"], ["sex"]], rate=0.05, seed=1
    )


def _job(name: str, folder: Path) -> Job:
    import tomllib

    return job_from(tomllib.loads((EXAMPLE / f"{name}.toml").read_text(encoding="utf-8")), name, folder)


def job(name: str) -> Mapping[str, Any]:
    result = run_job(_job(name, panel()), panel())
    assert result.microdata is not None
    return dict(result.microdata["utility"])


# --- judging ---------------------------------------------------------------------------------------------------------


def inside(done: Protected) -> str:
    x, y = column(done.frame.rows), done.frame["x"]
    return f"sum of squares inside groups {np.square(x - y).sum():.8g}"


def kept(done: Protected) -> str:
    x, y = column(done.frame.rows), done.frame["x"]
    return f"mean off by {abs(y.mean() / x.mean() - 1):.0e}, variance by {abs(y.var() / x.var() - 1):.0e}"


def peer_row(found: str | dict[str, Any]) -> Mapping[str, str]:
    if isinstance(found, str):
        return {"CPU s": "", "wall s": "", "peak GB": "", "compile s": "", "quality": found}
    return {
        "CPU s": seconds(found["cpu"]), "wall s": "", "peak GB": f"{found['peak']:.2f}", "compile s": "",
        "quality": f"sum of squares inside groups {found['inside']:.8g}; version {found['version']}",
    }  # fmt: skip


def facts(done: Protected) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in done.facts.items() if isinstance(value, int | float))


def errors(done: tuple[int, Protected]) -> np.ndarray:
    n, made = done
    return np.array([abs(made.frame[c].mean() / x.mean() - 1) for c, x in firms(n, 30).items()])


def mean_error(done: tuple[int, Protected]) -> str:
    found = errors(done)
    return f"means off by {100 * found.mean():.3f} %, largest {100 * found.max():.3f} %"


def means(runs: list[tuple[int, Protected]]) -> str:
    found = np.array([errors(run) for run in runs])
    return f"means off by {100 * found.mean():.3f} %, largest {100 * found.max(axis=1).mean():.3f} %"


def in_numbers(found: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in found.items())
