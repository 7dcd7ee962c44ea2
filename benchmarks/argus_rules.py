"""`python -m benchmarks.argus_rules [TABLES]`: primary cells and protection levels beside tau-ARGUS' own engine.

Random small microdata are judged by random combinations of safety rules, by the engine of tau-ARGUS (pytauargus) and by
diskret, and compared cell for cell. Values are not negative here: what differs where they are stands in docs/rules.md.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from diskret.rules.rule import AnyOf, CountedBy

WIDTHS = {"r": 1, "s": 2, "x": 7, "y": 7, "w": 5, "h": 3, "q": 1}
MISSING = {"r": "9", "s": "99"}
Pairs = Sequence[tuple[int, ...]]
UNSAFE = range(3, 10)
"""Statuses of primary cells."""
LEAST = 1.0
"""The engine's smallest protection level of a cell whose value is not zero; ours reaches below to zero at most."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A safety rule as a batch says it: pairs and triples for respondents and for holdings; zeros are not used."""

    dominance: Sequence[tuple[int, int]] = ()
    pq: Sequence[tuple[int, int, int]] = ()
    count: tuple[int, int] = (0, 0)
    request: tuple[int, int, int, int] = (0, 0, 0, 0)
    holding_dominance: Sequence[tuple[int, int]] = ()
    holding_pq: Sequence[tuple[int, int, int]] = ()
    holding_count: tuple[int, int] = (0, 0)
    zeros: int | None = None
    weighted: bool = False
    missing_safe: bool = False
    shadow: bool = False

    @property
    def holdings(self) -> bool:
        """Whether holdings are judged."""
        return bool(self.holding_dominance or self.holding_pq or self.holding_count[0])

    def rules(self) -> AnyOf:
        """The same in our words; the program knows one margin for both counts, the larger one."""
        made: list[Any] = []
        levels: tuple[CountedBy, CountedBy] = ("respondent", "holding")
        margin = max(self.count[1], self.holding_count[1])
        for level, pairs, triples, (least, _) in (
            (levels[0], self.dominance, self.pq, self.count),
            (levels[1], self.holding_dominance, self.holding_pq, self.holding_count),
        ):
            made += [dk.rules.Dominance(n, k, level) for n, k in pairs]
            made += [dk.rules.PQ(p, q, level, n) for p, q, n in triples]
            if least:
                weighted = self.weighted and level == "respondent"
                made.append(dk.rules.MinCount(least, True, level, margin, weighted))
        if any(self.request):
            made.append(dk.rules.Request(self.request[:2], *self.request[2:]))
        if self.zeros is not None:
            made.append(dk.rules.ZeroCells(self.zeros))
        return AnyOf(tuple(made))


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one program says of each cell (by its codes, none for a total): whether it is primary, and its levels."""

    primary: dict[tuple[str, ...], bool]
    above: dict[tuple[str, ...], float]
    below: dict[tuple[str, ...], float] = field(default_factory=dict)


Records = dict[str, list[Any]]


def records(rng: random.Random) -> Records:
    """Small microdata, units of one holding beside each other."""
    count = rng.randint(5, 60)
    holdings = sorted(rng.randint(1, max(2, count // 2)) for _ in range(count))

    def size() -> int:
        return 0 if rng.random() < 0.15 else int(rng.paretovariate(0.7) * 10) % 900000

    return {
        "r": [rng.choice("1239") for _ in range(count)],
        "s": [rng.choice(["01", "02", "03", "99"]) for _ in range(count)],
        "x": [size() for _ in range(count)], "y": [size() for _ in range(count)],
        "w": [rng.choice([1.0, 1.0, 1.5, 2.0, 7.25]) for _ in range(count)], "h": holdings,
        "q": [rng.choice("0012") for _ in range(count)],
    }  # fmt: skip


def asked(rng: random.Random) -> Asked:
    """A random combination of safety rules."""

    def dominance() -> list[tuple[int, int]]:
        return (
            [(rng.randint(1, 4), rng.randint(40, 95)) for _ in range(rng.randint(1, 2))] if rng.random() < 0.4 else []
        )

    def pq() -> list[tuple[int, int, int]]:
        some = [(rng.randint(1, 40), rng.choice([100, 100, 60]), rng.randint(1, 3)) for _ in range(rng.randint(1, 2))]
        return some if rng.random() < 0.5 else []

    def count() -> tuple[int, int]:
        return (rng.randint(2, 6), rng.choice([0, 10, 30])) if rng.random() < 0.5 else (0, 0)

    weighted = rng.random() < 0.25
    owned = not weighted and rng.random() < 0.4
    request = (rng.choice([0, 20, 60]), rng.choice([0, 30]), rng.choice([0, 3]), 10)
    return Asked(
        dominance=dominance(), pq=pq(), count=count(),
        request=request if rng.random() < 0.25 else (0, 0, 0, 0),
        holding_dominance=dominance() if owned else (), holding_pq=pq() if owned else (),
        holding_count=count() if owned else (0, 0), zeros=rng.choice([None, None, 0, 10]), weighted=weighted,
        missing_safe=rng.random() < 0.3, shadow=rng.random() < 0.3,
    )  # fmt: skip


def ours(data: Records, rule: Asked) -> Found:
    """Judged by diskret."""
    roles = dk.Roles(
        weight="w" if rule.weighted else None, holding="h" if rule.holdings else None,
        shadow="y" if rule.shadow else None, asked=("q", ["1", "2"]) if any(rule.request) else None,
    )  # fmt: skip
    options = dk.TabulationOptions(weighted_counts=rule.weighted)
    table = dk.tabulate(data, by=["r", "s"], value="x", largest=5, roles=roles, options=options)
    safe = {name: [code] for name, code in MISSING.items()} if rule.missing_safe else None
    if rule.rules().rules:
        table = dk.mark(table, rule.rules(), missing=safe, min_level=LEAST, signed=True, special_cases=False)
    levels = [np.zeros(table.shape) if level is None else level for level in (table.below, table.above)]
    found = {codes(table, at): at for at in np.ndindex(*table.shape)}
    return Found(
        primary={c: bool(table.hidden[at]) for c, at in found.items()},
        below={c: float(levels[0][at]) for c, at in found.items()},
        above={c: float(levels[1][at]) for c, at in found.items()},
    )


def codes(table: dk.Table, at: tuple[int, ...]) -> tuple[str, ...]:
    """Codes of a cell, nothing for a total."""
    return tuple("" if code == h.total else code for code, h in zip(table.codes(at), table.hierarchies, strict=True))


def theirs(data: Records, rule: Asked) -> Found:
    """Judged by the engine of tau-ARGUS."""
    from pytauargus._tauargus import TauArgus

    engine = TauArgus()
    engine.clean_all()
    engine.set_in_file_info(True, "")
    engine.set_number_var(len(WIDTHS))
    begin = 1
    for number, (name, width) in enumerate(WIDTHS.items()):
        code = MISSING.get(name, "")
        engine.set_variable(
            index=number, b_pos=begin, n_pos=width, n_dec=2 if name == "w" else 0, n_missing=1 if code else 0,
            missing1=code, missing2="", total_code="Total", is_peeper=name == "q", peeper_code1="1", peeper_code2="2",
            is_categorical=name in MISSING, is_numeric=name in "xyw", is_weight=name == "w", is_hierarchical=False,
            is_holding=name == "h", is_record_key=False,
        )  # fmt: skip
        begin += width
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.asc"
        rows = zip(*(data[name] for name in WIDTHS), strict=True)
        lines = ["".join(f"{each!s:>{w}}" for each, w in zip(row, WIDTHS.values(), strict=True)) for row in rows]
        path.write_text("\n".join(lines) + "\n")
        done, error, line, _ = engine.explore_file(str(path))
        assert done, (error, line)
        engine.set_number_tab(1)
        at = {name: number for number, name in enumerate(WIDTHS)}
        requests = any(rule.request)
        assert engine.set_table(
            index=0, explanatory_vars=[at["r"], at["s"]], is_frequency=False, response_var=at["x"],
            shadow_var=at["y"] if rule.shadow else at["x"], cost_var=-2, cellkey_var=-1, ckm_type="N", ckm_topk=1,
            lam=1.0, max_scaled_cost=20000.0, peep_var=at["q"] if requests else -1, missing_as_safe=rule.missing_safe,
        )  # fmt: skip
        assert engine.set_table_safety(**_safety(rule))
        done, error, _ = engine.compute_tables()
        assert done, error
    return _read(engine)


def _safety(rule: Asked) -> dict[str, Any]:
    """Parameters in the order of the engine: two for respondents, two for holdings."""

    def four(
        own: Sequence[tuple[int, ...]], holdings: Sequence[tuple[int, ...]], place: int, nothing: int = 0
    ) -> list[int]:
        empty = [nothing, nothing]
        return [*([each[place] for each in own] + empty)[:2], *([each[place] for each in holdings] + empty)[:2]]

    margins = [rule.count[1], rule.holding_count[1]]
    if margins[0] < margins[1] and rule.holding_count[0]:
        margins[0] = margins[1]  # as the program does before it calls the engine
    first, second, least, margin = rule.request
    return {
        "index": 0, "dominance_rule": bool(rule.dominance or rule.holding_dominance),
        "dominance_number": four(rule.dominance, rule.holding_dominance, 0),
        "dominance_k": four(rule.dominance, rule.holding_dominance, 1),
        "pq_rule": bool(rule.pq or rule.holding_pq), "pq_p": four(rule.pq, rule.holding_pq, 0),
        "pq_q": four(rule.pq, rule.holding_pq, 1, 100), "pq_n": four(rule.pq, rule.holding_pq, 2),
        "min_freq": [rule.count[0] or 1, rule.holding_count[0] or 1], "peep_percentage": [first, second, 0, 0],
        "peep_marge": [margin, 0], "peep_min_freq": [least, 0], "apply_peep": any(rule.request),
        "apply_weight": rule.weighted, "weight_on_safety_rule": rule.weighted, "apply_holding": rule.holdings,
        "apply_zero_rule": rule.zeros is not None, "empty_as_non_structural": False, "ns_empty_safety_range": 10,
        "zero_safety_range": float(rule.zeros or 0), "manual_safety_perc": 20, "cell_holding_freq_safety_perc": margins,
    }  # fmt: skip


def _read(engine: Any) -> Found:
    names = [[_code(engine, var, i) for i in range(engine.get_var_number_of_codes(var)[0])] for var in (0, 1)]
    primary: dict[tuple[str, ...], bool] = {}
    below: dict[tuple[str, ...], float] = {}
    above: dict[tuple[str, ...], float] = {}
    for i, j in product(*(range(len(each)) for each in names)):
        number = i * len(names[1]) + j
        place = (names[0][i], names[1][j])
        primary[place] = engine.get_table_cell_status(0, number) in UNSAFE
        below[place], above[place] = engine.get_table_cell_protection_levels(0, number)
    return Found(primary=primary, below=below, above=above)


def _code(engine: Any, var: int, number: int) -> str:
    return "" if number == 0 else engine.get_var_code(var, number)[2].strip()


def differences(data: Records, rule: Asked) -> Iterator[str]:
    """What the two say differently: another primary cell, or a level of ours that is smaller than theirs."""
    mine, other = ours(data, rule), theirs(data, rule)
    for cell, primary in mine.primary.items():
        if primary != other.primary.get(cell, False):
            yield f"{'ours' if primary else 'theirs'} only: {cell}"
        elif primary:
            for side in ("below", "above"):
                own, their = getattr(mine, side)[cell], getattr(other, side)[cell]
                if own < their * (1 - 1e-9):
                    yield f"level {side} {own:g} under {their:g}: {cell}"


def main() -> None:
    """Judge many random tables, and say where the two differ."""
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    cells, primaries, found = 0, 0, Counter[str]()
    for seed in range(tables):
        rng = random.Random(seed)
        data, rule = records(rng), asked(rng)
        other = theirs(data, rule)
        cells, primaries = cells + len(other.primary), primaries + sum(other.primary.values())
        for each in differences(data, rule):
            found[each.split(":")[0].split(" ")[0]] += 1
            print(f"table {seed}: {each} {rule}")
    print(f"{tables} tables, {cells} cells, {primaries} primary by tau-ARGUS, differences: {dict(found) or 'none'}")


if __name__ == "__main__":
    main()
