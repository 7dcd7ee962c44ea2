"""A made-up panel of the cost-structure survey: four waves, 13,294 enterprises, 30 columns of numbers.

Run `python examples/panel/make_panel.py`; it writes panel.parquet beside itself. The same seed gives the same panel.
Sizes, industries, cost shares and their movement over the years look like a survey of manufacturing; no number is real.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb
import numpy as np

WAVES = (1999, 2000, 2001, 2002)
LANDS = {
    "Baden-Württemberg": 20, "Bayern": 19, "Berlin": 3, "Brandenburg": 2, "Bremen": 1, "Hamburg": 2, "Hessen": 8,
    "Mecklenburg-Vorpommern": 1, "Niedersachsen": 9, "Nordrhein-Westfalen": 24, "Rheinland-Pfalz": 5, "Saarland": 1,
    "Sachsen": 5, "Sachsen-Anhalt": 3, "Schleswig-Holstein": 3, "Thüringen": 4,
}  # fmt: skip
DIVISIONS = {
    10: 0.3, 11: 0.1, 14: 2, 15: 11, 16: 0.2, 17: 3, 18: 2, 19: 1, 20: 4, 21: 3, 22: 8, 23: 0.2, 24: 5, 25: 8, 26: 6,
    27: 4, 28: 16, 29: 15, 30: 0.6, 31: 6, 32: 2, 33: 5, 34: 3, 35: 1, 36: 5, 37: 0.5,
}  # fmt: skip
SHARES = {
    "own_products": 0.85, "trade_turnover": 0.1, "other_turnover": 0.03, "stock_begin": 0.1, "stock_end": 0.1,
    "materials": 0.4, "energy": 0.02, "trade_goods": 0.07, "wages": 0.22, "social_statutory": 0.045,
    "social_other": 0.01, "temporary_work": 0.006, "contract_processing": 0.03, "repairs": 0.015, "rents": 0.02,
    "other_costs": 0.08, "taxes": 0.01, "subsidies": 0.003, "depreciation": 0.035, "interest": 0.012,
    "rd_expenditure": 0.02, "exports": 0.25, "investments": 0.04, "insurance": 0.004, "advertising": 0.012,
}  # fmt: skip
"""Columns that are a share of the turnover."""
OFTEN_ZERO = {
    "trade_turnover": 0.45, "other_turnover": 0.3, "temporary_work": 0.5, "contract_processing": 0.35, "rents": 0.1,
    "subsidies": 0.8, "rd_expenditure": 0.6, "exports": 0.3, "social_other": 0.1, "trade_goods": 0.45,
}  # fmt: skip


def make_panel(units: int = 13_294, seed: int = 1999) -> dict[str, np.ndarray]:
    """Columns of the panel in long form: unit, year, land, industry, two columns to drop, 30 of numbers."""
    rng = np.random.default_rng(seed)
    waves = len(WAVES)
    land = rng.choice(np.array(list(LANDS), dtype=object), units, p=_shares(LANDS))
    division = rng.choice(np.array(list(DIVISIONS)), units, p=_shares(DIVISIONS))
    industry = division * 100 + rng.integers(1, 9, units) * 10 + rng.integers(0, 4, units)
    staff = 20 + np.exp(rng.normal(3.4, 1.25, units))
    growth = np.cumsum(rng.normal(0.0, 0.06, (waves, units)), axis=0)
    employees = np.maximum(np.round(staff * np.exp(growth)), 5.0)
    productivity = rng.normal(4.6, 0.45, units) + 0.004 * (division - 25) + 0.06 * np.log(staff)
    turnover = employees * np.exp(productivity + np.cumsum(rng.normal(0.01, 0.07, (waves, units)), axis=0))
    columns = {"employees": employees, "turnover": turnover}
    columns["part_time"] = np.round(employees * rng.beta(1.2, 9, units) * np.exp(rng.normal(0, 0.1, (waves, units))))
    for name, share in SHARES.items():
        own = rng.normal(np.log(share), 0.45, units)
        columns[name] = turnover * np.exp(own + rng.normal(0, 0.08, (waves, units)))
        if name in OFTEN_ZERO:
            never = rng.random(units) < OFTEN_ZERO[name]
            columns[name][:, never] = 0.0
            columns[name][rng.random((waves, units)) < 0.02] = 0.0
    columns["gross_production"] = turnover * np.exp(rng.normal(0.01, 0.03, (waves, units)))
    has_research = columns["rd_expenditure"] > 0
    columns["rd_staff"] = np.where(has_research, np.ceil(columns["rd_expenditure"] / 90), 0.0)
    there = _present(rng, units, waves)
    panel: dict[str, np.ndarray] = {
        "unit": np.tile(np.arange(100_001, 100_001 + units), waves),
        "year": np.repeat(WAVES, units),
        "land": np.tile(land, waves),
        "industry": np.tile(industry.astype(str).astype(object), waves),
        "active_owners": np.tile(rng.integers(0, 4, units), waves),
        "workers_and_salaried": np.maximum(employees - 1, 1).ravel(),
    }
    for name, values in columns.items():
        decimals = 0 if name in ("employees", "part_time", "rd_staff") else 1
        panel[name] = np.round(values, decimals).ravel()
    return {name: values[there.ravel()] for name, values in panel.items()}


def _present(rng: np.random.Generator, units: int, waves: int) -> np.ndarray:
    """In which waves a unit exists: most in all, some enter late or leave early."""
    first = np.where(rng.random(units) < 0.06, rng.integers(1, waves, units), 0)
    last = np.where(rng.random(units) < 0.06, rng.integers(0, waves - 1, units), waves - 1)
    last = np.maximum(first, last)
    year = np.arange(waves)[:, None]
    return (year >= first) & (year <= last)


def _shares(weights: dict[object, float]) -> np.ndarray:  # type: ignore[type-arg]
    total = np.array(list(weights.values()), dtype=float)
    return total / total.sum()


def main() -> None:
    """Write the panel as Parquet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=13_294)
    parser.add_argument("--seed", type=int, default=1999)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("panel.parquet"))
    asked = parser.parse_args()
    panel = make_panel(asked.units, asked.seed)
    connection = duckdb.connect()
    connection.register("panel", panel)
    connection.execute(f"COPY panel TO '{asked.out}' (FORMAT parquet)")
    print(f"wrote {asked.out}: {len(panel['unit']):,} records of {asked.units:,} enterprises")


if __name__ == "__main__":
    main()
