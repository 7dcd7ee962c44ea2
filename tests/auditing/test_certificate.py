"""A certificate proves what was promised about one table, and nothing else."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret import MinCount, PPercent, Promise, ProtectionWarning, Status, Table, audit, mark, suppress, verify
from diskret.auditing import certificate as module
from diskret.auditing import checking
from diskret.auditing.certificate import Certificate, certificate_of, verify_tables
from diskret.auditing.certificate_files import plain_promise, read_certificate, read_promise, write_certificate
from diskret.auditing.checking import WholeMove
from diskret.auditing.exact_proof import Leaf, Refutation, Split
from diskret.auditing.plain import hash_of, plain_table
from diskret.model.errors import BadOption, UnreadableFile
from tests import by_hand
from tests.auditing.two_checkers import both


def protected(seed: int) -> Table:
    table = mark(by_hand.firms(seed, axes=2).table, MinCount(3) | PPercent(10), special_cases=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        return suppress(table).table


def certified(table: Table) -> Certificate:
    return certificate_of(audit(table, certify=True))


def line(values: list[float], status: list[str], **columns: Any) -> Table:
    cells = {"s": [f"c{i}" for i in range(len(values))], "x": values, "st": status, **columns}
    options = {"count": "n"} if "n" in columns else {}
    return Table.from_cells(cells, by={"s": None}, value="x", status="st", **options)


def counted(values: list[int], status: list[str]) -> Table:
    """Counts in lines whose hidden cells are tied in pairs: a and b together, b and c together."""
    cells = {"s": list("aabb"), "t": list("uvuv"), "n": values, "st": status}
    return Table.from_cells(cells, by={"s": None, "t": None}, value="n", status="st", frequency=True)


def certificate(table: Table, *moves: tuple[list[int], list[int]], promise: Promise | None = None) -> Certificate:
    """A certificate made by hand."""
    made = tuple(WholeMove(cells=tuple(cells), steps=tuple(steps)) for cells, steps in moves)
    return Certificate(table=hash_of(plain_table(table)), promise=promise or Promise(), moves=made)


def renamed(given: Certificate, table: Table) -> Certificate:
    """The same certificate, about another table."""
    return replace(given, table=hash_of(plain_table(table)))


# --- what holds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_a_certificate_of_an_untouched_table_proves_every_cell_that_is_safe(seed: int, tmp_path: Path) -> None:
    table = protected(seed)
    report = audit(table, certify=True)
    found = both(table, certificate_of(report), tmp_path)
    assert found.same_table
    assert found.broken_moves == 0
    # what is not proven is exposed, and no certificate hides it
    assert {e.cell for e in report.exposed} <= {*found.open, *(cell for cell, _ in found.exposed)}
    assert found.holds <= report.safe


def test_a_certificate_survives_its_file(tmp_path: Path) -> None:
    table = protected(2)
    given = certified(table)
    proof = Refutation(
        cell=1, by="person 3", upward=False, tree=(Split(cell=1, at=0), *[Leaf(q=1, rows=(), times=())] * 2)
    )
    given = replace(given, proofs=(proof,))
    write_certificate({"x": given}, tmp_path / "c.json")
    again = read_certificate(tmp_path / "c.json")["x"]
    assert (again.moves, again.proofs, again.promise) == (given.moves, given.proofs, given.promise)
    assert verify(table, again) == verify(table, given)
    assert verify_tables({"x": table}, {"x": again})["x"].same_table


def test_levels_may_be_reached_by_two_moves_one_up_and_one_down(tmp_path: Path) -> None:
    """Neither move is enough: b cannot fall far enough for a to rise, c cannot rise far enough for a to fall."""
    table = line([10, 3, 50, 7], ["primary", "secondary", "secondary", "open"])
    table = replace(table, above=np.array([20.0, 0, 0, 0, 0]), below=np.array([10.0, 0, 0, 0, 0]),
                    upper=np.array([1e9, 1e9, 51.0, 1e9, 1e9]), lower=np.zeros(5))  # fmt: skip
    promise = Promise(knowledge=dk.Knowledge.intervals())
    up, down = ([0, 2], [1, -1]), ([0, 1], [1, -1])
    assert both(table, certificate(table, up, down, promise=promise), tmp_path).holds
    for only in (up, down):
        assert not both(table, certificate(table, only, promise=promise), tmp_path).holds


# --- what was possible before ----------------------------------------------------------------------------------------


def test_a_move_of_one_cell_is_refused_however_small(tmp_path: Path) -> None:
    """Scaled up, a move that rounds to nothing carried a cell that everybody can compute."""
    table = line([5, 7, 9], ["primary", "open", "open"])
    for step in (1, -1, 10**30):
        found = both(table, certificate(table, ([0], [step])), tmp_path)
        assert not found.holds
        assert found.broken_moves == 1


@pytest.mark.parametrize(
    "edit", [{"levels": False}, {"guard": "public"}, {"min_relative_range": 0.0}, {"unions": False}]
)
def test_an_edited_promise_does_not_pass_for_the_one_that_is_demanded(edit: dict[str, Any], tmp_path: Path) -> None:
    """Two hidden cells of 5 and 6, one of a single firm: too little for each of these promises."""
    table = line([5, 6, 90], ["primary", "secondary", "open"], n=[3, 1, 9])
    table = replace(table, above=np.array([7.0, 0, 0, 0]), judges=(MinCount(5),))
    office = Promise(min_relative_range=5.0)
    weak = Promise(levels=False, guard="public", min_relative_range=0.0, unions=False)
    assert both(table, certificate(table, ([0, 1], [1, -1]), promise=weak), tmp_path).holds
    edited = replace(office, **edit)
    found = both(table, certificate(table, ([0, 1], [1, -1]), promise=edited), tmp_path, office)
    assert not found.holds
    assert found.promise == office


def test_a_verification_says_what_was_promised_and_who_said_so() -> None:
    table = protected(1)
    own = verify(table, certified(table))
    assert "nobody who is alone" in own.report()
    assert "by the certificate itself" in own.report()
    assert "demanded: " in verify(table, certified(table), Promise(guard="public")).report()
    secret = verify(table, certified(table), Promise(min_relative_range=0.1234))
    assert "0.1234" not in secret.report()
    assert "0.1234" in secret.report(internal=True)


def test_a_count_that_could_only_move_by_half_is_not_proven(tmp_path: Path) -> None:
    """Two a = b and b at most one more: a could be half a unit more, and no whole one."""
    cells = ["a", "a2", "b", "t"]
    given = dk.System.of(
        cells, [3, 3, 6, 6], [{"a": 1, "a2": 1, "b": -1}, {"a": 1, "a2": -1}, {"b": 1, "t": -1}],
        status=["primary", "secondary", "secondary", "secondary"], upper=[9, 9, 9, 7], lower=[0, 0, 0, 5],
        frequency=True,
    )  # fmt: skip
    promise = Promise(guard="public", knowledge=dk.Knowledge.intervals())
    forged = certificate(given, ([0, 1, 2, 3], [1, 1, 2, 2]), promise=promise)
    assert not both(given, forged, tmp_path).holds
    smooth = replace(given, frequency=False)
    assert both(smooth, replace(forged, table=hash_of(plain_table(smooth))), tmp_path).holds


def test_a_line_of_hidden_zeros_cannot_be_certified_by_leaving_it_out(tmp_path: Path) -> None:
    """No primary cell is exposed, but everybody sees that two hidden counts are zero."""
    table = counted([0, 0, 5, 7], ["secondary", "secondary", "open", "open"])
    assert audit(table).zeros
    found = both(table, certificate(table), tmp_path)
    assert not found.holds
    assert "all zero" in found.report()


def test_a_line_of_hidden_zeros_is_certified_by_a_move_that_raises_one(tmp_path: Path) -> None:
    cells = {
        "s": list("aaabbb"), "t": ["u", "v", "Total"] * 2, "n": [0, 0, 0, 5, 7, 12],
        "st": ["secondary", "secondary", "secondary", "secondary", "open", "secondary"],
    }  # fmt: skip
    table = Table.from_cells(cells, by={"s": None, "t": None}, value="n", status="st", frequency=True)
    assert both(table, certificate(table, ([0, 2, 3, 5], [1, 1, -1, -1])), tmp_path).holds
    assert not both(table, certificate(table), tmp_path).holds


def test_checking_shares_no_demand_and_no_insider_with_protecting_and_attacking() -> None:
    room = Path(module.__file__).parent
    for name in ("grounds", "knowing", "checking", "lines", "exact_proof", "plain"):
        tree = ast.parse((room / f"{name}.py").read_text(encoding="utf-8"))
        found = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
        assert not {each for each in found if each.startswith(("diskret.moves", "diskret.suppression"))}
        text = (room / f"{name}.py").read_text(encoding="utf-8")
        assert not any(call in text for call in (".needs(", ".room(", "insiders_of(", "demands_of(", ".one_person("))


# --- what does not fit -----------------------------------------------------------------------------------------------

CHANGES: dict[str, Callable[[Table], Table]] = {
    "value": lambda t: replace(t, value=t.value + 1),
    "status": lambda t: replace(t, status=np.where(t.status == Status.SECONDARY, np.uint8(0), t.status)),
    "level": lambda t: replace(t, above=t.value * 0),
    "prior knowledge": lambda t: replace(t, lower=t.value - 1),
    "count": lambda t: replace(t, respondents=replace(t.respondents, count=t.count + 1)),  # type: ignore[type-var]
    "public": lambda t: replace(t, respondents=replace(t.respondents, public_count=t.count)),  # type: ignore[type-var]
    "rule": lambda t: replace(t, judges=(MinCount(4),)),
    "kind": lambda t: replace(t, frequency=True),
    "hierarchy": lambda t: replace(
        t, by={n: replace(h, codes=("another", *h.codes[1:])) if n == t.names[0] else h for n, h in t.by.items()}
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_any_change_of_the_table_is_noticed(what: str, tmp_path: Path) -> None:
    table = protected(1)
    given = certified(table)
    found = both(CHANGES[what](table), given, tmp_path)
    assert not found.same_table
    assert not found.holds
    assert "another table" in found.report()


BROKEN = {
    "no cell": ([], []), "a step too many": ([0, 1], [1, -1, 1]), "a cell twice": ([0, 1, 0], [1, -1, 1]),
    "a step of nothing": ([0, 1, 2], [1, -1, 0]), "an open cell": ([0, 3], [1, -1]), "no balance": ([0, 1], [1, -2]),
    "no such cell": ([0, 99], [1, -1]), "a cell before the first": ([0, -4], [1, -1]), "huge": ([0, 10**40], [1, -1]),
    "off by one at the 40th digit": ([0, 1], [10**40, 1 - 10**40]),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_move_breaks_the_certificate(what: str, tmp_path: Path) -> None:
    table = line([5, 7, 6, 9], ["primary", "secondary", "secondary", "open"])
    good = [0, 1], [1, -1]
    assert both(table, certificate(table, good), tmp_path).holds
    found = both(table, certificate(table, good, BROKEN[what]), tmp_path)
    assert found.broken_moves == 1
    assert not found.holds


def test_steps_of_any_size_are_a_direction_only(tmp_path: Path) -> None:
    table = line([5, 7, 9], ["primary", "secondary", "open"])
    promise = Promise(min_range=11.99)
    assert both(table, certificate(table, ([0, 1], [10**40, -(10**40)]), promise=promise), tmp_path).holds
    assert not both(table, certificate(table, ([0, 1], [10**40, -(10**40)])), tmp_path, Promise(min_range=12.0)).holds


def test_many_long_steps_are_checked_without_their_common_multiple(tmp_path: Path) -> None:
    """Of 300 steps of 900 digits that have no common divisor it would have 270,000 digits."""
    size, first = 300, 10**900
    table = line([1, *[10] * size], ["primary", *["secondary"] * size], n=[3, 1, *[4] * (size - 1)])
    steps = [first + i for i in range(size)]
    given = certificate(table, ([*range(size + 1)], [-sum(steps), *steps]))
    everybody = Promise(guard="public", unions=False)
    # it falls by 1 and rises by almost, but not quite, 3000
    assert both(table, given, tmp_path, replace(everybody, min_range=3000.9)).holds
    assert not both(table, given, tmp_path, replace(everybody, min_range=3001.0)).holds
    assert not both(table, given, tmp_path, replace(everybody, guard="single")).holds
    counts = replace(table, frequency=True)
    assert not both(counts, renamed(given, counts), tmp_path, everybody).holds


@pytest.mark.parametrize("frequency", [False, True])
def test_fractions_of_steps_mean_the_same_as_their_common_multiple(
    frequency: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, held = np.random.default_rng(7), 0
    for _ in range(12):
        size = int(rng.integers(4, 7))
        values, steps = rng.integers(1, 10**4, size=size).tolist(), rng.integers(1, 10**3, size=size).tolist()
        table = line([*values, 9], ["primary", *["secondary"] * (size - 1), "open"], n=[1, 1, *[4] * (size - 1)])
        table = replace(table, frequency=frequency)
        steps[-1] = -sum(steps[:-1])
        given = certificate(table, ([*range(size)], steps), ([0, 2], [1, -1]))
        promise = Promise(guard=rng.choice(["public", "single"]), min_range=float(rng.integers(1, 10**4)))
        found = []
        for most in (checking.SAFE, 2):
            with monkeypatch.context() as patch:
                patch.setattr(checking, "SAFE", most)
                found.append(both(table, given, tmp_path, promise))
        assert found[0] == found[1]
        held += found[0].holds
    assert 0 < held < 12


def test_whoever_knows_a_partner_needs_another_move(tmp_path: Path) -> None:
    table = line([5, 7, 6, 90], ["primary", "secondary", "secondary", "open"], n=[3, 1, 4, 9])
    one, other = ([0, 1], [1, -1]), ([0, 2], [1, -1])
    assert not both(table, certificate(table, one), tmp_path).holds
    assert both(table, certificate(table, one), tmp_path, Promise(guard="public")).holds
    assert both(table, certificate(table, one, other), tmp_path).holds


def test_an_exposed_cell_is_proven_to_be(tmp_path: Path) -> None:
    table = line([5, 7, 9], ["primary", "secondary", "open"], n=[3, 1, 9])
    total = 3  # along the only axis an equation has the number of its sum
    up, down = (Leaf(q=1, rows=(total,), times=(times,)) for times in (1, -1))
    proofs = (
        Refutation(cell=0, by="person 1", tree=(up,)),
        Refutation(cell=0, by="person 1", upward=False, tree=(down,)),
    )
    found = both(table, replace(certificate(table, ([0, 1], [1, -1])), proofs=proofs), tmp_path)
    assert not found.holds
    assert found.exposed == (("s=c0", "person 1"),)
    assert found.open == ()
    assert "exposed: s=c0" in found.report()


def test_cases_of_whole_numbers_prove_what_fractions_do_not(tmp_path: Path) -> None:
    """2 a = b and b goes up by one at most: a cannot go up at all."""
    given = dk.System.of(
        ["a", "b", "t"], [3, 6, 6], [{"a": 2, "b": -1}, {"b": 1, "t": -1}],
        status=["primary", "secondary", "secondary"], upper=[9, 7, 7], lower=[0, 5, 5], frequency=True,
    )  # fmt: skip
    promise = Promise(guard="public", knowledge=dk.Knowledge.intervals())
    up, down = (Leaf(q=2, rows=(0,), times=(times,)) for times in (1, -1))
    bounds = Refutation(cell=0, tree=(up,)), Refutation(cell=0, upward=False, tree=(down,))
    found = both(given, replace(certificate(given, promise=promise), proofs=bounds), tmp_path)
    assert found.exposed == (("cell=a", "everybody"),)
    # the same by cases: a rises by none, or by at least one, which b cannot follow
    impossible = Leaf(q=0, rows=(0,), times=(1,))
    tree = (Split(cell=0, at=0), Leaf(q=1, rows=(), times=()), impossible)
    other = (Split(cell=0, at=-1), replace(impossible, times=(-1,)), Leaf(q=1, rows=(), times=()))
    proofs = (Refutation(cell=0, tree=tree), Refutation(cell=0, upward=False, tree=other))
    assert both(given, replace(certificate(given, promise=promise), proofs=proofs), tmp_path).exposed
    broken: list[tuple[Leaf | Split, ...]] = [tree[:2], (*tree, impossible), (Split(cell=9, at=0), *tree[1:])]
    for damaged in broken:
        only = (Refutation(cell=0, tree=damaged),)
        found = both(given, replace(certificate(given, promise=promise), proofs=only), tmp_path)
        assert found.broken_proofs == 1
        assert not found.exposed


def test_a_tree_has_at_most_four_thousand_and_one_nodes(tmp_path: Path) -> None:
    """A chain of splits of one cell after the other: every branch has all cuts above it, so n nodes cost n times n."""
    table = replace(line([5, 7, 9], ["primary", "secondary", "open"]), frequency=True)
    for splits, broken in ((2_000, 0), (2_001, 1)):
        tree: list[Leaf | Split] = [Split(cell=i % 2, at=100 + i) for i in range(splits)]
        tree += [Leaf(q=1, rows=(), times=())] * (splits + 1)
        given = replace(certificate(table, ([0, 1], [1, -1])), proofs=(Refutation(cell=0, tree=tuple(tree)),))
        found = both(table, given, tmp_path)
        assert found.broken_proofs == broken
        assert found.holds == (not broken)


def test_what_cannot_be_promised_does_not_hold(tmp_path: Path) -> None:
    table = line([5, -7, 9], ["primary", "secondary", "open"])
    for promise in (
        Promise(knowledge=dk.Knowledge.positive()), Promise(knowledge=dk.Knowledge.intervals()),
        Promise(guard="largest"), Promise(coalitions=((("nowhere",),),)), Promise(coalitions=((("c0", "c1"),),)),
    ):  # fmt: skip
        found = both(table, certificate(table, ([0, 1], [1, -1])), tmp_path, promise)
        assert found.impossible
        assert not found.holds
        assert "cannot be promised" in found.report()


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"format": "something else"}', '{"format": "diskret certificate 3"}']
)
def test_what_is_no_certificate_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(content, encoding="utf-8")
    with pytest.raises(UnreadableFile, match="not a certificate"):
        read_certificate(tmp_path / "c.json")
    with pytest.raises(UnreadableFile, match="no such file"):
        read_certificate(tmp_path / "nothing.json")


def test_a_certificate_of_an_older_version_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(
        '{"format": "diskret certificate 2", "tables": {}, "moves": 1.5}', encoding="utf-8"
    )
    with pytest.raises(UnreadableFile, match="older version") as refused:
        read_certificate(tmp_path / "c.json")
    assert "audit the table again" in str(refused.value)


def test_every_table_needs_a_certificate_of_its_own() -> None:
    table = protected(3)
    with pytest.raises(BadOption, match="wages"):
        verify_tables({"wages": table}, {"turnover": certified(table)})


def test_the_words_of_a_verification_hold_no_values() -> None:
    table = protected(4)
    words = verify(table, certified(table)).report() + json.dumps(verify(table, certified(table)).summary())
    hidden = {f"{v:g}" for v in np.abs(table.value[table.hidden]).tolist() if v > 999}
    assert not any(v in words for v in hidden)


def test_a_promise_is_read_as_the_other_checker_reads_it(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"guard": "public", "min_range": "0.5"}', encoding="utf-8")
    assert read_promise(tmp_path / "p.json") == Promise(guard="public", min_range=0.5)
    given = Promise(knowledge=dk.Knowledge.relative(0.3, 1e-7), coalitions=((("a", "b"),),))
    (tmp_path / "p.json").write_text(json.dumps(plain_promise(given)), encoding="utf-8")
    assert read_promise(tmp_path / "p.json") == given
    for wrong in (
        "null", "[]", '{"guards": 1}', '{"min_range": 0.5}', '{"min_range": "0.50"}', '{"min_range": "-1"}',
        '{"min_relative_range": "0.10000000000000000001"}', '{"levels": 1}', '{"knowledge": {"kind": "usual"}}',
    ):  # fmt: skip
        (tmp_path / "p.json").write_text(wrong, encoding="utf-8")
        with pytest.raises(UnreadableFile, match="not a promise"):
            read_promise(tmp_path / "p.json")
