"""Two checkers that share no code say the same about every certificate, honest or damaged; what they accept is true.

The truth comes from a third party: the attacker of `tests.worlds`, with a solver and equations written from the codes.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from math import lcm
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskret import Knowledge, Promise, ProtectionWarning, Table, audit, rules, suppress
from diskret.auditing import certificate as module
from diskret.auditing.certificate import Certificate, certificate_of
from diskret.auditing.certificate_files import plain_promise, read_certificate, write_certificate
from diskret.auditing.checking import WholeMove
from diskret.auditing.exact_proof import Leaf, Refutation, Split, equation_numbers
from diskret.auditing.grounds import Impossible
from diskret.auditing.plain import Plain, hash_of, plain_table, write_plain
from diskret.auditing.proof import proof_of
from diskret.model.errors import TooLarge, UnreadableFile
from tests.auditing.two_checkers import OTHER, TOOL, as_json, both
from tests.worlds import KINDS, World, world

Random = np.random.Generator
PROMISES = (
    Promise(), Promise(guard="public", levels=False, min_relative_range=0.2), Promise(sliding=True, min_range=1.0),
    Promise(knowledge=Knowledge.intervals()), Promise(knowledge=Knowledge.relative(0.6, 1.0), min_relative_range=0.1),
    Promise(knowledge=Knowledge.none(), min_range=3.0),
)  # fmt: skip
WEAKER = (
    lambda p: replace(p, levels=False), lambda p: replace(p, guard="public"), lambda p: replace(p, min_range=None),
    lambda p: replace(p, min_relative_range=0.0), lambda p: replace(p, knowledge=Knowledge.none()),
    lambda p: replace(p, unions=False), lambda p: replace(p, coalitions=()), lambda p: replace(p, sliding=True),
)  # fmt: skip


def chosen(kind: str, seed: int, promise: Promise) -> World:
    """A small world, sometimes with much hidden, so that there is something to certify."""
    given = world(kind, seed, negative=seed % 4 == 1 and kind != "counts", secondary=(0.3, 0.6)[seed % 2])
    if kind in ("table", "groupings", "counts") and seed % 3 == 0:
        given = given.showing(replace(given.cells, judges=(rules.MinCount(2), rules.Dominance(1, 80))))
    if seed % 4 == 3:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProtectionWarning)
            given = given.showing(suppress(given.cells, promise).table)
    return given


def proofs(given: World, promise: Promise) -> tuple[Refutation, ...]:
    """Why exposed cells cannot go farther, as a solver sees it."""
    table = given.cells
    system = table.equations()
    up, down = (side[system.cells] for side in promise.knowledge.room(table))
    numbers, found = equation_numbers(table, system), []
    everybody, _ = given.exposed(replace(promise, guard="public"))
    for cell, upward in ((c, way) for c in sorted(everybody) for way in (True, False)):
        column = int(np.searchsorted(system.cells, cell))
        low, high = given.attacker(promise.knowledge).interval(cell)
        reach = high - given.value[cell] if upward else given.value[cell] - low
        proof = proof_of(system, up, down, column, upward, float(reach))
        if proof is not None:
            q = lcm(*(m.denominator for _, m in proof.equations))
            times = tuple(int(m * q) for _, m in proof.equations)
            rows = tuple(int(numbers[r]) for r, _ in proof.equations)
            for sign in (1, -1):
                leaf = Leaf(q=q, rows=rows, times=tuple(sign * t for t in times))
                found.append(Refutation(cell=cell, upward=upward, tree=(leaf,)))
    return tuple(found)


def moved(move: WholeMove, rng: Random, size: int) -> WholeMove:
    """A move with one thing changed."""
    cells, steps = list(move.cells), list(move.steps)
    if len(cells) != len(steps) or not cells:
        return move  # broken already
    at = int(rng.integers(len(cells)))
    match int(rng.integers(9)):
        case 0:
            steps = [int(rng.choice([2, -1, 3, 10**20])) * step for step in steps]  # still the same direction
        case 1:
            steps[at] += int(rng.choice([-1, 1]))
        case 2:
            del cells[at], steps[at]
        case 3:
            cells, steps = [*cells, cells[at]], [*steps, steps[at]]
        case 4:
            cells[at] = int(rng.integers(size))
        case 5:
            steps[at] *= -1
        case 6:
            cells[at], steps = int(rng.integers(-2, size + 2)), [step * 7 for step in steps]
        case 7:
            steps = steps[:-1] if rng.random() < 0.5 else [*steps, 1]
        case _:
            cells, steps = [cells[at]], [1]
    return WholeMove(cells=tuple(cells), steps=tuple(steps))


def damaged(given: Certificate, rng: Random, size: int) -> Certificate:
    """A certificate that somebody tampered with."""
    moves, proven, promise = list(given.moves), list(given.proofs), given.promise
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(max(len(moves), 1)))
        match int(rng.integers(7)):
            case 0 | 1 if moves:
                moves[at] = moved(moves[at], rng, size)
            case 2 if moves:
                del moves[at]
            case 3 if moves:
                moves.append(moved(moves[at], rng, size))
            case 4 if proven:
                k = int(rng.integers(len(proven)))
                proven[k] = _other_proof(proven[k], rng)
            case 5:
                promise = WEAKER[int(rng.integers(len(WEAKER)))](promise)
            case _:
                proven.append(_any_proof(rng, size))
    return replace(given, moves=tuple(moves), proofs=tuple(proven), promise=promise)


def _any_proof(rng: Random, size: int) -> Refutation:
    rows, times = (int(rng.integers(3 * size)),), (int(rng.integers(-2, 3)),)
    leaf = Leaf(q=int(rng.integers(3)), rows=rows, times=times)
    by = str(rng.choice(["everybody", "coalition 1", f"person {rng.integers(size)}"]))
    return Refutation(cell=int(rng.integers(size)), by=by, upward=bool(rng.random() < 0.5), tree=(leaf,))


def _other_proof(proof: Refutation, rng: Random) -> Refutation:
    leaf = proof.tree[0]
    if not isinstance(leaf, Leaf):
        return proof
    match int(rng.integers(4)):
        case 0:
            return replace(proof, upward=not proof.upward)
        case 1:
            return replace(proof, tree=(replace(leaf, q=leaf.q + int(rng.integers(-1, 2))),) if leaf.q else proof.tree)
        case 2:
            return replace(proof, tree=(Split(cell=proof.cell, at=int(rng.integers(-2, 2))), leaf, leaf))
        case _:
            return replace(proof, tree=(replace(leaf, times=tuple(t + 1 for t in leaf.times)),))


def campaign(kind: str, seed: int, folder: Path, forged: int) -> tuple[int, int]:
    """One world: its certificate and forged ones; how many were accepted and how many exposures proven, all truly."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    promise = PROMISES[seed % len(PROMISES)]
    given = chosen(kind, seed, promise)
    hidden = np.argwhere(given.cells.hidden)
    if seed % 5 == 2 and hidden.size:
        known = tuple(given.cells.codes(tuple(i.tolist())) for i in hidden[:2])
        promise = replace(promise, coalitions=(known,))
    if seed % 5 == 3 and kind in ("table", "groupings", "pool"):
        promise = replace(promise, guard="largest")
    report = audit(given.cells, promise, certify=True)
    honest = replace(certificate_of(report), proofs=proofs(given, promise))
    _, anybody = given.exposed(promise)
    accepted = shown = 0
    for number in range(forged + 1):
        certificate = damaged(honest, rng, given.cells.size) if number else honest
        for asked in (promise, None):
            found = both(given.cells, certificate, folder, asked)
            if found.promise == promise:
                assert not (found.holds and (anybody or report.zeros or report.unions))
                accepted += found.holds
                names = {given.cells.name_of(c) for c in anybody}
                assert {cell for cell, _ in found.exposed} <= names
                shown += bool(found.exposed)
    return accepted, shown


@pytest.mark.parametrize("kind", KINDS)
def test_both_say_the_same_and_accept_only_what_is_true(kind: str, tmp_path: Path) -> None:
    assert all(campaign(kind, seed, tmp_path, forged=5) for seed in range(2))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_both_say_the_same_about_many(kind: str, tmp_path: Path) -> None:
    found = [campaign(kind, seed, tmp_path, forged=10) for seed in range(40)]
    assert sum(accepted for accepted, _ in found) > 0
    assert sum(shown for _, shown in found) > 0


# --- people: owners, holdings, public values -------------------------------------------------------------------------


def peopled(plain: Plain, rng: Random) -> Plain:
    """The same table with other people behind its cells, whatever they may be."""
    n = len(plain["value"])

    def numbers(low: int, high: int) -> list[int]:
        return [int(x) for x in rng.integers(low, high, n)]

    def level() -> dict[str, Any] | None:
        if rng.random() < 0.2:
            return None
        count, size = numbers(0, 5), [abs(float(v)) for v in plain["value"]]
        halves = [f"{int(s * rng.random())}" for s in size]
        return {
            "count": count,
            "largest": [[f"{int(s * p)}" for p in (0.6, 0.2, 0.1)] for s in size] if rng.random() < 0.8 else None,
            "absolute": [f"{int(s) + 2}" for s in size] if rng.random() < 0.3 else None,
            "protected_count": numbers(0, 3) if rng.random() < 0.3 else None,
            "protected_largest": halves if rng.random() < 0.3 else None,
            "public_count": [int(rng.integers(0, c + 1)) for c in count] if rng.random() < 0.5 else None,
            "public_value": halves if rng.random() < 0.5 else None,
            "owner": numbers(-1, 6) if rng.random() < 0.6 else None,
        }

    by = {"counted_by": str(rng.choice(["respondent", "holding"]))}
    judges: list[dict[str, Any]] = [
        {"kind": "MinCount", "n": 6, "zeros": bool(rng.random() < 0.5)}, {"kind": "Dominance", "n": 2, "k": "80"},
        {"kind": "PPercent", "p": "12.5"}, {"kind": "PQ", "p": "10", "q": "1/3"},
        {"kind": "PPercent", "p": "12.5", "n": 2}, {"kind": "PQ", "p": "10", "q": "1/3", "n": 2},
    ]  # fmt: skip
    people = {"respondents": level(), "holdings": level()}
    return {**plain, **people, "weighted": bool(rng.random() < 0.3), "rules": [{**judges[rng.integers(6)], **by}]}


@pytest.mark.parametrize("kind", KINDS)
def test_both_see_the_same_persons_owners_and_public_values(kind: str, tmp_path: Path) -> None:
    for seed in range(3):
        with_people(kind, seed, tmp_path)


def with_people(kind: str, seed: int, folder: Path) -> None:
    rng = np.random.default_rng([seed, 7])
    given = world(kind, seed, secondary=0.6)
    promise = PROMISES[seed % len(PROMISES)]
    promise = replace(promise, guard="largest") if seed % 2 else replace(promise, guard="single")
    honest = certificate_of(audit(given.cells, replace(promise, guard="public"), certify=True))
    plain = peopled(plain_table(given.cells), rng)
    shown = proofs(given, replace(promise, guard="public"))
    certificate = replace(honest, table=hash_of(plain), promise=promise, proofs=shown)
    other = OTHER.check(OTHER.Table(plain), as_json(certificate, folder))
    try:
        found = module.checked(given.cells, plain, certificate, promise)
    except Impossible:
        assert other["impossible"]
        return
    assert not other["impossible"]
    name = given.cells.name_of
    assert found["open"] == tuple(map(name, other["open"]))
    assert sorted(found["exposed"]) == sorted((name(c), who) for c, who in other["exposed"])
    assert len(found["unions"]) == len(other["unions"])
    assert len(found["zeros"]) == len(other["zeros"])


# --- the file itself -------------------------------------------------------------------------------------------------


def test_the_other_checker_is_one_short_file_of_the_standard_library() -> None:
    text = TOOL.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 410
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        if isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
    assert found <= set(sys.stdlib_module_names)
    assert "fractions" in found


def test_it_is_run_from_the_command_line(tmp_path: Path) -> None:
    cells = {"s": ["a", "b", "c"], "x": [5.5, 7, 9], "st": ["primary", "secondary", "open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    write_plain(table, tmp_path / "t.json")
    write_certificate({"x": certificate_of(audit(table))}, tmp_path / "c.json")
    (tmp_path / "p.json").write_text(json.dumps(plain_promise(Promise(min_range=12.5))), encoding="utf-8")

    def run(*names: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", str(TOOL), *(str(tmp_path / n) if n.endswith("json") else n for n in names)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    fine = run("t.json", "c.json")
    assert (fine.returncode, "THE CERTIFICATE HOLDS" in fine.stdout) == (0, True)
    assert '"guard": "single"' in fine.stdout
    less = run("t.json", "c.json", "--promise", "p.json")
    assert (less.returncode, "does not hold" in less.stdout) == (1, True)
    assert '"min_range": "12.5"' in less.stdout  # it runs inside the office and says so
    assert "secret" in run("--help").stdout
    for missing in (("t.json", "nothing.json"), ("c.json", "t.json"), ("t.json", "c.json", "--promise", "t.json")):
        refused = run(*missing)
        assert refused.returncode == 2
        assert "unreadable" in refused.stderr


def with_proof(text: str, proof: str) -> str:
    return text.replace('"proofs": []', f'"proofs": [{{{proof}}}]', 1)


HOSTILE: dict[str, Callable[[str], str]] = {
    "nothing": lambda text: "",
    "half a file": lambda text: text[: len(text) // 2],
    "a float": lambda text: text.replace('"steps": [', '"steps": [1.5, ', 1),
    "not a number": lambda text: text.replace('"steps": [', '"steps": [NaN, ', 1),
    "endless": lambda text: text.replace('"steps": [', '"steps": [-Infinity, ', 1),
    "truth for a number": lambda text: text.replace('"steps": [', '"steps": [true, ', 1),
    "a number of a million digits": lambda text: text.replace('"steps": [', '"steps": [' + "9" * 10**6 + ", ", 1),
    "depth": lambda text: text.replace('"steps": [', '"steps": [' + "[" * 10**5, 1),
    "moves that are none": lambda text: text.replace('"moves": [', '"moves": [null, 1, "x", {}, ', 1),
    "a key that comes twice": lambda text: text.replace('"moves":', '"moves": [], "moves":', 1),
    "a key too many": lambda text: text.replace('"moves":', '"more": 1, "moves":', 1),
    "a promise of minus one": lambda text: text.replace('"min_range": null', '"min_range": "-1"', 1),
    "a promise of almost a double": lambda text: text.replace(
        '"min_range": null', '"min_range": "0.10000000000000001"', 1
    ),
    "an unknown guard": lambda text: text.replace('"guard": "single"', '"guard": ["single"]', 1),
    "levels of one": lambda text: text.replace('"levels": true', '"levels": 1', 1),
    "bytes": lambda text: text.replace('"moves"', "\udcff", 1),
    "a version that is no text": lambda text: text.replace('"versions": {', '"versions": {"a": [1, {}], ', 1),
    "a broken certificate of another table": lambda text: text.replace('"tables": {', '"tables": {"other": {}, ', 1),
    "nobody": lambda text: with_proof(text, '"cell": 0, "by": 3, "side": 1, "tree": []'),
    "a third side": lambda text: with_proof(text, '"cell": 0, "by": "", "side": 2, "tree": []'),
    "a node of one": lambda text: with_proof(text, '"cell": 0, "by": "", "side": 1, "tree": [[1]]'),
    "q below zero": lambda text: with_proof(text, '"cell": 0, "by": "", "side": 1, "tree": [[-1, [], []]]'),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_hostile_files_are_refused_by_both(how: str, tmp_path: Path) -> None:
    table = world("table", 3, secondary=0.9).cells
    write_certificate({"x": certificate_of(audit(table, certify=True))}, tmp_path / "c.json")
    text = (tmp_path / "c.json").read_text(encoding="utf-8")
    hostile = HOSTILE[how](text)
    assert hostile != text
    (tmp_path / "c.json").write_bytes(hostile.encode("utf-8", "surrogateescape"))
    with pytest.raises((UnreadableFile, TooLarge)):
        read_certificate(tmp_path / "c.json")
    write_plain({"x": table}, tmp_path / "t.json")
    assert OTHER.main([str(tmp_path / "t.json"), str(tmp_path / "c.json")]) == 2
