"""Closing geographic differences by withholding zone totals."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from diskret.auditing.audit import audit
from diskret.cli import app
from diskret.publication.zone_picture import draw_differences, write_zone_picture
from diskret.zoning.closing import close_differences, zoning_system
from diskret.zoning.differences import find_differences
from diskret.zoning.zones import Zoning
from tests.zoning.test_differences import by_solver, zoning_of


def city(seed: int, people: int = 150, districts: int = 10, side: int = 6) -> dict[str, list[str]]:
    """People in districts around centres, and in a square grid."""
    rng = np.random.default_rng(seed)
    where, centres = rng.random((people, 2)), rng.random((districts, 2))
    district = ((where[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    cell = (where * side).astype(int)
    return {"district": [f"D{d}" for d in district], "grid": [f"{x}-{y}" for x, y in cell.tolist()]}


@pytest.mark.parametrize("seed", range(4))
def test_what_is_closed_nobody_can_open_by_an_independent_solver(seed: int) -> None:
    zoning = Zoning.of(city(seed), "district", "grid")
    found = find_differences(zoning)
    assert not found.safe
    done = close_differences(zoning)
    assert done.safe
    assert sum(map(len, done.withheld)) > 0
    _, high = by_solver(done.zoning)
    assert (high[zoning.units > 0] >= 3).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_audit_of_the_system_and_the_finder_agree(seed: int) -> None:
    """Overlaps that the one calls exposed are those that the other finds in small regions."""
    rng = np.random.default_rng(seed)
    zoning = zoning_of(rng.integers(0, 6, (4, 5)) * (rng.random((4, 5)) < 0.6))
    system = zoning_system(zoning, 3)
    named = {system.name_of(int(o)).removeprefix("cell=") for o in np.arange(zoning.units.size)}
    said = {e.cell.removeprefix("cell=") for e in audit(system).exposed if not e.by} & named
    assert said == {zoning.overlap_name(int(o)) for o in find_differences(zoning).exposed}


def test_a_safe_zoning_is_left_as_it_is() -> None:
    zoning = Zoning.of({"d": list("AAAABBBB"), "g": list("11112222")}, "d", "g")
    done = close_differences(zoning)
    assert done.safe
    assert done.withheld == ((), ())


def test_the_picture_shows_the_zones_that_do_it(tmp_path: Path) -> None:
    found = find_differences(Zoning.of(city(1), "district", "grid"))
    drawing = draw_differences(found)
    assert "internal: confidential" in " ".join(p.text for p in drawing.parts if hasattr(p, "text"))
    rng = np.random.default_rng(1)
    zones = [*found.zoning.codes[0], *found.zoning.codes[1]]
    places = {code: (float(x), float(y)) for code, (x, y) in zip(zones, rng.random((len(zones), 2)), strict=True)}
    write_zone_picture(found, tmp_path / "map.svg", places)
    assert stat.S_IMODE((tmp_path / "map.svg").stat().st_mode) == 0o600
    assert (tmp_path / "map.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_command_says_which_zones_and_what_to_withhold(tmp_path: Path) -> None:
    people = city(2)
    rows = "\n".join(f"{d},{g}" for d, g in zip(people["district"], people["grid"], strict=True))
    (tmp_path / "people.csv").write_text(f"district,grid\n{rows}\n", encoding="utf-8")
    asked = ["zonings", str(tmp_path / "people.csv"), "--zone", "district", "--zone", "grid"]
    found = CliRunner().invoke(app, asked)
    assert found.exit_code == 1
    assert "too few units" in found.output
    out = tmp_path / "found.json"
    closed = CliRunner().invoke(app, [*asked, "--close", "--out", str(out), "--picture", str(tmp_path / "m.svg")])
    assert closed.exit_code == 0, closed.output
    said = json.loads(out.read_text(encoding="utf-8"))
    assert said[0]["left"] == 0
    assert sum(map(len, said[0]["withhold"].values())) > 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
