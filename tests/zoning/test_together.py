"""Three zonings at once, against every way to distribute the units of small ones."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from diskret.cli import app
from diskret.model.errors import BadOption, UnknownCode
from diskret.zoning import Combinations, Zoning, find_differences, find_together
from diskret.zoning.together import Together

ZONES = ("district", "grid", "school")
ONLY_TOGETHER = {"district": list("BAABBAAA"), "grid": list("CCCBBBCB"), "school": list("BAAABABB")}


def people(seed: int, size: int = 9) -> dict[str, list[str]]:
    """A few persons in two or three zones of each kind."""
    rng = np.random.default_rng(seed)
    return {name: rng.choice(list("ABC")[: 2 + (seed + i) % 2], size).tolist() for i, name in enumerate(ZONES)}


def most_by_hand(found: Together) -> list[int]:
    """By going through all whole numbers that have the published totals: the most of every combination."""
    where = found.combinations
    rows = [(name, code, at == z) for name, codes, at in zip(where.names, where.codes, where.at, strict=True)
            for z, code in enumerate(codes) if code not in where.withheld.get(name, ())]  # fmt: skip
    totals = [(inside, where.units[inside].sum()) for _, _, inside in rows]
    most = np.zeros(where.units.size, dtype=np.int64)

    def fill(at: int, so_far: np.ndarray, left: int) -> None:
        if at == where.units.size:
            if left == 0 and all(so_far[inside].sum() == total for inside, total in totals):
                np.maximum(most, so_far, out=most)
            return
        if any(so_far[:at][inside[:at]].sum() > total for inside, total in totals):
            return
        for amount in range(left + 1):
            so_far[at] = amount
            fill(at + 1, so_far, left - amount)
        so_far[at] = 0

    fill(0, np.zeros(where.units.size, dtype=np.int64), int(where.units.sum()))
    return most.tolist()


@pytest.mark.parametrize(("seed", "withheld"), [*product(range(4), [{}]), (1, {"grid": ["A"], "school": ["B"]})])
def test_what_is_known_to_be_too_few_is_what_no_distribution_allows(seed: int, withheld: dict[str, list[str]]) -> None:
    found = find_together(Combinations.of(people(seed), ZONES, withheld))
    units = found.combinations.units
    assert not found.undecided.size
    by_hand = [c for c, most in enumerate(most_by_hand(found)) if units[c] < 3 and most < 3]
    assert sorted(found.exposed.tolist()) == by_hand


def test_three_zonings_give_away_what_no_two_of_them_do() -> None:
    """Every pair of the three is safe, all totals together are not."""
    data = ONLY_TOGETHER
    pairs = [find_differences(Zoning.of(data, a, b)) for a, b in (ZONES[:2], ZONES[1:], (ZONES[0], ZONES[2]))]
    assert all(pair.safe for pair in pairs)
    found = find_together(Combinations.of(data, ZONES))
    assert found.exposed.size
    assert all(found.because)


def test_the_command_says_what_only_all_of_them_give_away(tmp_path: Path) -> None:
    data = ONLY_TOGETHER
    rows = [",".join(ZONES), *(",".join(each) for each in zip(*(data[n] for n in ZONES), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    asked = ["zonings", str(tmp_path / "people.csv"), *(word for name in ZONES for word in ("--zone", name))]
    done = CliRunner().invoke(app, [*asked, "--out", str(tmp_path / "found.json")])
    assert done.exit_code == 1
    assert "by the totals of" in done.output
    kept = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert kept[-1]["exposed"]
    said = json.loads(CliRunner().invoke(app, [*asked, "--json"]).output)
    assert not said["safe"]
    assert said["together"]["exposed"] == kept[-1]["exposed"]


def test_mistakes_are_refused() -> None:
    with pytest.raises(BadOption):
        Combinations.of(people(0), ["district"])
    with pytest.raises(UnknownCode):
        Combinations.of(people(0), ZONES, {"grid": ["Z"]})
