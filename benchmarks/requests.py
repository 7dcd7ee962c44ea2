"""Requests, random and adversarial, answered one after the other, and an attacker who shares nothing with the answers.

    python -m benchmarks.requests --campaigns 100 --requests 100
    python -m benchmarks.requests --campaigns 5 --requests 40 --desk --least 5

Every campaign has firms of its own and a memory of its own. Requests are random, or made from earlier ones: the same
again, the complement, one unit more or less (a threshold moved past one firm), a filter narrowed or widened. At the end
of a campaign the attacker knows which firm is counted where, all published numbers, and what one firm contributes; he
asks a solver (scipy's HiGHS, linear programmes over firms) how much any other firm can contribute. Exact: to the unit.
Too close: the most it can contribute is less than the house's p% above what it does. Of counts he asks the least and
the most units of every group that published counts tell apart. And of all groups whose sum follows from published
numbers he asks for one with fewer firms than the minimum count, in whole numbers.

With ``--desk`` requests are answered at a desk, beside a ledger in a folder; ``--least`` is the minimum count. With
``--rounding give`` rounded values are given where nothing else can be; the attacker knows between which ends they lie.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

import diskret as dk
from diskret.ledger import About
from diskret.requests import Answer, Desk, House, Query, Records, Shown, answer
from diskret.requests.beside import Rounding

P, UNITS = 10.0, 3
COLUMNS = ("region", "sector", "size")
REGIONS = {"N": ["N1", "N2", "N3"], "S": ["S1", "S2"], "W": ["W1"]}
Rows = npt.NDArray[np.bool_]
Published = list[tuple[Rows, float, float]]
"""Which firms a number counts, and between which ends it lies: twice the same where it is exact."""


@dataclass
class Tally:
    """What came of all campaigns."""

    kinds: dict[str, dict[str, int]] = field(default_factory=dict)
    cells: int = 0
    hidden: int = 0
    repeats: int = 0
    rounded: int = 0
    """Answers that are rounded."""
    targets: int = 0
    programmes: int = 0
    exact: int = 0
    close: int = 0
    counted: int = 0
    few: int = 0
    """Groups of too few units whose number is known, or is known to be too small."""
    together: int = 0
    """Campaigns with a group of too few firms whose sum can be computed."""


def firms(rng: np.random.Generator, size: int) -> dict[str, list[Any]]:
    """Firms of very different size."""
    lowest = [code for codes in REGIONS.values() for code in codes]
    employees = np.rint(np.exp(rng.normal(3, 1.3, size))) + 1
    return {
        "region": rng.choice(lowest, size, p=_uneven(rng, len(lowest))).tolist(),
        "sector": rng.choice(["A", "B", "C", "D"], size, p=_uneven(rng, 4)).tolist(),
        "size": np.where(employees < 10, "small", np.where(employees < 50, "middle", "large")).tolist(),
        "employees": employees.tolist(),
        "turnover": np.rint(employees * np.exp(rng.normal(3, 0.8, size))).tolist(),
    }


def _uneven(rng: np.random.Generator, size: int) -> npt.NDArray[np.float64]:
    share: npt.NDArray[np.float64] = rng.dirichlet(np.full(size, 1.5))
    return share


def fresh(rng: np.random.Generator, data: dict[str, list[Any]]) -> Query:
    """A random request."""
    by = tuple(rng.choice(COLUMNS, int(rng.integers(0, 3)), replace=False).tolist())
    where: dict[str, tuple[str, ...]] = {}
    for name in COLUMNS:
        known = sorted(set(data[name])) + (list(REGIONS) if name == "region" else [])
        known = [code for code in known if name != "region" or code in data[name] or _below(code, data)]
        chosen = [code for code in known if rng.random() < 0.5]
        if chosen and rng.random() < 0.35:
            where[name] = tuple(chosen)
    least = {"employees": float(rng.choice(data["employees"]))} if rng.random() < 0.2 else {}
    return Query(by=by, value="turnover" if rng.random() < 0.8 else None, where=where, at_least=least)


def _below(code: str, data: dict[str, list[Any]]) -> bool:
    return any(each in data["region"] for each in REGIONS.get(code, ()))


def adverse(rng: np.random.Generator, data: dict[str, list[Any]], earlier: list[Query]) -> tuple[str, Query]:
    """A request made from an earlier one, as somebody would who wants a difference."""
    before = earlier[int(rng.integers(len(earlier)))]
    kind = str(rng.choice(["repeat", "complement", "one less", "one more", "narrower", "difference"]))
    if kind == "repeat":
        return kind, replace(before, by=tuple(rng.permutation(before.by).tolist()))
    if kind == "complement":
        return kind, replace(before, where=before.without, without=before.where) if before.filtered else before
    if kind in ("one less", "one more"):
        # a threshold just past the smallest firm counted, or just below the largest
        ends = sorted(set(data["employees"]))
        at = int(rng.integers(0, min(3, len(ends))))
        if kind == "one less":
            return kind, replace(before, at_least={"employees": ends[min(at + 1, len(ends) - 1)]})
        return kind, replace(before, at_most={"employees": ends[-1 - at]})
    name = str(rng.choice(COLUMNS))
    code = str(rng.choice(data[name]))
    if kind == "narrower":
        return kind, replace(before, where={**before.where, name: (code,)})
    return kind, replace(before, without={**before.without, name: (code,)})


def run(
    tally: Tally, seed: int, requests: int, size: int, *, least: int = UNITS, folder: Path | None = None,
    rounding: Rounding = "propose",
) -> None:  # fmt: skip
    """One campaign, and the attack on it; at a desk if there is a folder for its ledger."""
    rng = np.random.default_rng(seed)
    data = firms(rng, size)
    tree = dk.Hierarchy.from_nested({"Total": {k: [c for c in v if c in data["region"]] for k, v in REGIONS.items()
                                               if _below(k, data)}})  # fmt: skip
    records = Records.of(data, [*COLUMNS, "employees"], ["turnover"], {"region": tree})
    rules, quick = dk.rules.MinCount(least) | dk.rules.PPercent(P), dk.methods.Moves(effort="quick")
    house = House(rules=rules, method=quick, rounding=rounding)
    desk = None
    if folder is not None:
        about = About(population="firms", period="2024", unit="EUR")
        desk = Desk(records=records, house=house, about=about, ledger=dk.open_ledger(folder, create=True))
    released: dict[str | None, list[Shown]] = {"turnover": [], None: []}
    published: dict[str | None, Published] = {"turnover": [], None: []}
    asked: list[Query] = []
    given: dict[str, Answer] = {}
    while len(asked) < requests:
        kind, query = ("random", fresh(rng, data)) if not asked or rng.random() < 0.4 else adverse(rng, data, asked)
        if not _counted(data, query).any():
            continue
        asked.append(query)
        if query.key() in given:
            # the answer that was recorded is given again, which tells nothing new
            tally.repeats += 1
            done = given[query.key()]
        else:
            done = answer(records, query, house, released[query.value]) if desk is None else desk.answer(query)
            given[query.key()] = done
            tally.rounded += bool(done.rounded)
            if done.table is not None and done.shown is not None:
                released[query.value].append(done.shown)
                published[query.value] += seen(data, done)
                tally.cells += done.table.size
                tally.hidden += int(done.table.hidden.sum())
        of = tally.kinds.setdefault(kind, {})
        of[done.kind] = of.get(done.kind, 0) + 1
    attack_values(tally, np.array(data["turnover"]), published["turnover"])
    attack_counts(tally, size, published[None], least)
    attack_groups(tally, size, published["turnover"], least)


def seen(data: dict[str, list[Any]], done: Answer) -> Published:
    """What an answer shows: for every open cell the firms it counts, and its number."""
    assert done.table is not None
    assert done.given is not None
    columns = done.table.columns()
    inside = _counted(data, done.given)
    found: Published = []
    for row in range(done.table.size):
        if str(columns["status"][row]) in ("primary", "secondary"):
            continue
        rows = inside.copy()
        for name in done.given.by:
            rows &= _has(data, name, str(columns[name][row]))
        number, half = float(columns[done.table.response][row]), done.rounded / 2
        found.append((rows, number - half, number + half))
    return found


def _has(data: dict[str, list[Any]], name: str, code: str) -> Rows:
    """Firms with a code, or one below it, read off the raw data."""
    if code == "Total" or "more (" in code:
        # the total of a filter by this column: the filter itself says whom it counts
        return np.ones(len(data[name]), dtype=np.bool_)
    if "+" in code or "only " in code:
        inside = code.partition(" (")[2].rstrip(")") or code
        parts = [_has(data, name, part) for part in inside.removeprefix("only ").split("+")]
        return np.array(np.any(parts, axis=0), dtype=np.bool_)
    return np.array([each == code or each in REGIONS.get(code, ()) for each in data[name]], dtype=np.bool_)


def _counted(data: dict[str, list[Any]], query: Query) -> Rows:
    inside = np.ones(len(data["region"]), dtype=np.bool_)
    for name, codes in query.where.items():
        inside &= np.any([_has(data, name, code) for code in codes], axis=0)
    for name, codes in query.without.items():
        inside &= ~np.any([_has(data, name, code) for code in codes], axis=0)
    for name, low in query.at_least.items():
        inside &= np.array(data[name]) >= low
    for name, high in query.at_most.items():
        inside &= np.array(data[name]) <= high
    return inside


def _groups(published: Published, size: int) -> tuple[Rows, npt.NDArray[np.int64]]:
    """Firms that no published number tells apart: the numbers as sums of groups, and the group of each firm."""
    rows = np.array([r for r, _, _ in published]) if published else np.zeros((0, size), dtype=np.bool_)
    _, first, group = np.unique(rows.T, axis=0, return_index=True, return_inverse=True)
    return rows[:, first], group.reshape(-1).astype(np.int64)


def _said(rows: Rows, published: Published) -> dict[str, Any]:
    """What is published as equations and bounds over groups, in the words of the solver."""
    low, high = (np.array([each[end] for each in published]) for end in (1, 2))
    sums, exact = rows.astype(float), low == high
    said: dict[str, Any] = {"A_eq": sums[exact], "b_eq": low[exact]} if exact.any() else {}
    if not exact.all():
        said |= {"A_ub": np.vstack([sums[~exact], -sums[~exact]]), "b_ub": np.append(high[~exact], -low[~exact])}
    return said


def attack_values(tally: Tally, truth: npt.NDArray[np.float64], published: Published) -> None:
    """How much anybody who contributes himself learns of the largest contributor of every group."""
    rows, group = _groups(published, truth.size)
    said = _said(rows, published)
    known = [np.sort(truth[group == g])[::-1] for g in range(rows.shape[1])]
    covered = rows.any(axis=0) if len(rows) else np.zeros(rows.shape[1], dtype=np.bool_)
    for target in np.flatnonzero(covered).tolist():
        own = known[target][0]
        if own <= 0:
            continue
        tally.targets += 1
        solutions: list[npt.NDArray[np.float64]] = []
        for insider in [-1, *np.flatnonzero(covered).tolist()]:
            taken, least, most = 0.0, np.zeros(rows.shape[1]), np.full(rows.shape[1], np.inf)
            if insider == target:
                taken = known[target][1] if known[target].size > 1 else -1.0
                if taken < 0:
                    continue
            elif insider >= 0:
                least[insider] = known[insider][0]
                if known[insider].size == 1:
                    most[insider] = least[insider]
            enough = own * (1 + P / 100) + taken - 1e-6 * own
            if any(s[target] >= enough and (s >= least - 1e-7).all() and (s <= most + 1e-7).all() for s in solutions):
                continue
            cost = np.zeros(rows.shape[1])
            cost[target] = -1
            bounds = [(low, None if np.isinf(high) else high) for low, high in zip(least, most, strict=True)]
            done = linprog(cost, **said, bounds=bounds, method="highs")
            tally.programmes += 1
            if done.status == 3:  # nothing limits it
                continue
            assert done.status == 0, done.message
            solutions.append(done.x)
            if done.x[target] < enough:
                tally.close += 1
                low = linprog(-cost, **said, bounds=bounds, method="highs")
                tally.exact += bool(
                    -done.fun - low.fun < 1e-6 * max(1.0, own) and known[target].size <= 1 + (taken > 0)
                )


def attack_groups(tally: Tally, size: int, published: Published, least: int) -> None:
    """Whether fewer firms than the minimum count are a sum and difference of what was published."""
    rows, group = _groups([each for each in published if each[1] == each[2]], size)
    if not len(rows):
        return
    units = np.bincount(group, minlength=rows.shape[1])
    k, m = rows.shape[1], len(rows)
    made = LinearConstraint(np.hstack([-np.eye(k), rows.T.astype(float)]), 0, 0)
    few = LinearConstraint(np.append(units, np.zeros(m))[None], 1, least - 1)
    bounds = Bounds(np.append(np.zeros(k), np.full(m, -np.inf)), np.append(rows.any(axis=0), np.full(m, np.inf)))
    whole = np.append(np.ones(k), np.zeros(m))
    done = milp(np.zeros(k + m), constraints=[made, few], bounds=bounds, integrality=whole)
    assert done.status in (0, 2), done.message
    tally.together += done.status == 0


def attack_counts(tally: Tally, size: int, published: Published, least: int = UNITS) -> None:
    """Of every group of units the least and the most that published counts allow."""
    rows, group = _groups(published, size)
    said = _said(rows, published)
    units = np.bincount(group, minlength=rows.shape[1])
    covered = rows.any(axis=0) if len(rows) else np.zeros(rows.shape[1], dtype=np.bool_)
    for target in np.flatnonzero(covered & (units < least)).tolist():
        tally.counted += 1
        cost = np.zeros(rows.shape[1])
        cost[target] = -1
        done = linprog(cost, **said, bounds=(0, None), method="highs")
        assert done.status == 0, done.message
        tally.few += round(-done.fun) < least


def main() -> None:
    """Run campaigns and print what came of them."""
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("--campaigns", type=int, default=10)
    said.add_argument("--requests", type=int, default=100)
    said.add_argument("--firms", type=int, default=60)
    said.add_argument("--seed", type=int, default=1)
    said.add_argument("--least", type=int, default=UNITS)
    said.add_argument("--desk", action="store_true")
    said.add_argument("--rounding", choices=["give", "propose", "never"], default="propose")
    asked = said.parse_args()
    tally, start = Tally(), time.process_time()
    warnings.simplefilter("ignore", dk.ProtectionWarning)
    for campaign in range(asked.campaigns):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "ledger" if asked.desk else None
            seed = asked.seed * 100_000 + campaign
            run(
                tally, seed, asked.requests, asked.firms, least=asked.least, folder=folder, rounding=asked.rounding
            )  # fmt: skip
        found = f"{tally.exact} exact, {tally.close} too close, {tally.few} few, {tally.together} together"
        print(f"{campaign + 1} campaigns, {time.process_time() - start:.0f} CPU s: {found}", flush=True)
    everything: dict[str, int] = {}
    for kind, of in sorted(tally.kinds.items()):
        for each, number in of.items():
            everything[each] = everything.get(each, 0) + number
        print(f"  {kind:<12}", ", ".join(f"{number} {each}" for each, number in sorted(of.items())))
    total = sum(everything.values())
    print(f"{total:,} requests:", ", ".join(f"{n:,} {k} ({100 * n / total:.1f} %)" for k, n in everything.items()))
    print(f"{tally.cells:,} cells given, {tally.hidden:,} of them hidden; {tally.repeats:,} asked again, "
          f"{tally.rounded:,} answers rounded")  # fmt: skip
    print(f"attacked {tally.targets:,} largest contributors with {tally.programmes:,} programmes: "
          f"{tally.exact} exact, {tally.close} too close")  # fmt: skip
    print(
        f"attacked {tally.counted:,} groups of few units: {tally.few} known to be too few; "
        f"{tally.together} campaigns with too few firms whose sum can be computed"
    )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{time.process_time() - start:.0f} CPU s, {memory:.1f} GB")


if __name__ == "__main__":
    main()
