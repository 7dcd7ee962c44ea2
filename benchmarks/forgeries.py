"""Forged certificates: none may be accepted, by neither checker, and both must say the same about every one.

    python -m benchmarks.forgeries --certificates 10000

Tables are small, and rational numbers of our own know which of them are exposed. About those no certificate can be
right: every trick is tried to make one hold. About the others certificates are damaged in ways the format forbids, or
robbed of what they need; and honest ones, scaled, turned round, doubled as a whole, must be accepted by both. The
promise is demanded every time, as docs/certificate.md advises. Prints what was accepted or judged differently, by
kind; ends with 1 if anything was.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import io
import json
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from benchmarks.rational import GaveUp
from benchmarks.small_worlds import Attack, World, on_the_border, random_world
from diskret.auditing.certificate import certificate_of

api: Any = dk
TOOL = Path(__file__).parents[1] / "tools" / "check_certificate.py"
HOLDS, FAILS, UNREADABLE = 0, 1, 2
NAME = "x"
Content = dict[str, Any]
"""One certificate as it stands in its file."""


@dataclass(kw_only=True)
class Tally:
    """How many were tried, and what went wrong."""

    tried: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def note(self, kind: str, seed: int) -> None:
        """Something that must not be; the first of each kind is kept to be repeated."""
        self.wrong[kind] += 1
        self.examples.setdefault(kind, f"seed {seed}")

    @property
    def forged(self) -> int:
        """Number of forged certificates."""
        return sum(n for kind, n in self.tried.items() if not kind.startswith("honest"))

    def __str__(self) -> str:
        honest = sum(self.tried.values()) - self.forged
        lines = [
            f"{self.forged:,} forged and {honest:,} honest certificates: {sum(self.wrong.values()):,} wrong answers"
        ]
        lines += [f"  {n:>7,}  {kind}" for kind, n in sorted(self.tried.items())]
        lines += [f"  {n:>7,}  WRONG {kind}  (first: {self.examples[kind]})" for kind, n in sorted(self.wrong.items())]
        return "\n".join(lines)


@dataclass(frozen=True)
class Answer:
    """What a checker says: its exit code, what is open, what is exposed to whom, and further counts."""

    code: int
    open: frozenset[str] = frozenset()
    exposed: frozenset[tuple[str, str]] = frozenset()
    more: tuple[int, ...] = ()


class Checkers:
    """Both checkers on one table, with the promise that is demanded."""

    def __init__(self, world: World, folder: Path) -> None:
        self.table, self.promise, self.folder = world.table(), world.promise(), folder
        api.write_plain({NAME: self.table}, folder / "table.json")
        (folder / "promise.json").write_text(json.dumps(_plain_promise(world)), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("check_certificate", TOOL)
        assert spec is not None
        assert spec.loader is not None
        self.other = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.other)

    def honest(self) -> Content | None:
        """The certificate of an audit, if that finds nothing exposed."""
        report = dk.audit(self.table, self.promise, certify=True)
        return self.written(certificate_of(report)) if report.safe else None

    def made(self) -> Content:
        """The certificate of an audit, whatever it finds."""
        return self.written(certificate_of(dk.audit(self.table, self.promise, certify=True)))

    def written(self, certificate: Any) -> Content:
        """A certificate as its file has it."""
        api.write_certificate({NAME: certificate}, self.folder / "made.json")
        content: Content = json.loads((self.folder / "made.json").read_text(encoding="utf-8"))["tables"][NAME]
        return content

    def both(self, text: str) -> tuple[Answer, Answer]:
        """What either says about the text of a file."""
        path = self.folder / "certificate.json"
        path.write_text(text, encoding="utf-8")
        return self._diskret(path), self._other(path)

    def _diskret(self, path: Path) -> Answer:
        try:
            found: Any = dk.verify(self.table, api.read_certificate(path)[NAME], self.promise)
        except (dk.DiskretError, KeyError):
            return Answer(UNREADABLE)
        return Answer(
            HOLDS if found.holds else FAILS, frozenset(found.open), frozenset(found.exposed),
            (found.same_table, found.broken_moves, found.broken_proofs, len(found.unions), len(found.zeros)),
        )  # fmt: skip

    def _other(self, path: Path) -> Answer:
        files = [str(each) for each in (self.folder / "table.json", path, self.folder / "promise.json")]
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            code: int = self.other.main([*files[:2], "--promise", files[2]])
        if code == UNREADABLE:
            return Answer(code)
        # its main says in words what its parts say as data
        plain, made, promise = map(self.other.load, files)
        table = self.other.Table(plain["tables"][NAME])
        found = self.other.check(table, made["tables"][NAME], self.other.promise_in(promise))
        name, lines = self.table.name_of, (len(found["unions"]), len(found["zeros"]))
        return Answer(
            code, frozenset(map(name, found["open"])), frozenset((name(c), who) for c, who in found["exposed"]),
            (found["same table"], found["broken moves"], found["broken proofs"], *lines),
        )  # fmt: skip


def _plain_promise(world: World) -> Content:
    """A demanded promise as docs/certificate.md writes it."""
    a = world.asked
    known = {"kind": a.kind, "error": _decimal(a.error), "absolute": _decimal(a.absolute)}
    return {
        "guard": a.guard, "levels": a.levels, "sliding": a.sliding, "min_relative_range": _decimal(a.relative),
        "min_range": None if a.least is None else _decimal(a.least), "knowledge": known,
    }  # fmt: skip


def _decimal(number: Any) -> str:
    return f"{float(number):g}"


def text_of(content: Any, name: str = NAME) -> str:
    """The text of a certificate file."""
    whole = {"format": "diskret certificate 3", "note": "", "tables": {name: content}}
    return json.dumps(whole)


# --- tricks ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Forger:
    """What somebody has who wants a certificate to hold: the table, its certificate, and one of a safer pattern."""

    rng: Any
    checkers: Checkers
    made: Content
    donor: Content
    """Moves of the same table with every cell hidden, under the hash of this one."""

    @property
    def table(self) -> dk.Table:
        """The table it is about."""
        return self.checkers.table

    def pick(self, numbers: Sequence[int] | Any) -> int:
        """One of several, at random."""
        return int(numbers[int(self.rng.integers(len(numbers)))])

    def primary(self) -> int:
        """A primary cell."""
        return self.pick(np.flatnonzero(self.table.status.reshape(-1) == dk.Status.PRIMARY))

    def with_move(self, cells: Any, steps: Any) -> Content:
        """The certificate with one more move."""
        return self.made | {"moves": [*self.made["moves"], {"cells": cells, "steps": steps}]}

    def changed_move(self, change: Callable[[dict[str, Any]], None]) -> Content | None:
        """The certificate with one of its moves changed."""
        if not self.made["moves"]:
            return None
        content = copy.deepcopy(self.made)
        change(content["moves"][self.pick(range(len(content["moves"])))])
        return content


def lone_move(f: Forger) -> Content:
    """One cell that moves alone."""
    return f.with_move([f.primary()], [f.pick([1, -1, 10**9])])


def tiny_move(f: Forger) -> Content:
    """A coefficient that rounds to nothing."""
    return f.with_move([f.primary()], [[1e-9, 0, 1e-300, "1e-9", True][f.pick(range(5))]])


def doubled_cell(f: Forger) -> Content:
    """A cell that stands in a move twice, so that it cancels."""
    p = f.primary()
    return f.with_move([p, p], [1, -1]) if f.rng.random() < 0.5 else f.with_move([p, p, p], [2, -1, -1])


def doubled_in_move(f: Forger) -> Content | None:
    """A cell of a good move, once more."""

    def change(move: dict[str, Any]) -> None:
        move["cells"].append(move["cells"][0])
        move["steps"].append(move["steps"][0])

    return f.changed_move(change)


def off_by_one(f: Forger) -> Content | None:
    """One step that does not fit the others."""

    def change(move: dict[str, Any]) -> None:
        at = f.pick(range(len(move["steps"])))
        move["steps"][at] += 1 if move["steps"][at] != -1 else -1

    return f.changed_move(change)


def dropped_cell(f: Forger) -> Content | None:
    """A move without one of its cells."""

    def change(move: dict[str, Any]) -> None:
        at = f.pick(range(len(move["cells"])))
        del move["cells"][at], move["steps"][at]

    return f.changed_move(change)


def half_steps(f: Forger) -> Content | None:
    """Steps that are not whole."""

    def change(move: dict[str, Any]) -> None:
        move["steps"] = [step / 2 for step in move["steps"]]

    return f.changed_move(change)


def odd_numbers(f: Forger) -> Content | None:
    """Cells that count from the end, do not exist, or are no numbers."""

    def change(move: dict[str, Any]) -> None:
        at = f.pick(range(len(move["cells"])))
        cell = move["cells"][at]
        move["cells"][at] = [cell - f.table.size, f.table.size, str(cell), float(cell), None][f.pick(range(5))]

    return f.changed_move(change)


def zero_step(f: Forger) -> Content | None:
    """A cell that takes part without moving."""
    hidden = np.flatnonzero(f.table.hidden.reshape(-1))

    def change(move: dict[str, Any]) -> None:
        move["cells"].append(f.pick(hidden))
        move["steps"].append(0)

    return f.changed_move(change)


def through_open_cells(f: Forger) -> Content | None:
    """Moves that balance because they pass through published cells."""
    hidden = f.table.hidden.reshape(-1)
    found = [m for m in f.donor["moves"] if not all(hidden[c] for c in m["cells"])]
    return f.made | {"moves": [*f.made["moves"], *found]} if found else None


def empty_move(f: Forger) -> Content:
    """A move of nothing."""
    return f.with_move([], [])


def nothing_shown(f: Forger) -> Content:
    """Neither moves nor proofs."""
    return f.made | {"moves": [], "proofs": []}


def other_table(f: Forger) -> Content:
    """The certificate of a table that differs in one value."""
    value = f.table.value.copy()
    value.reshape(-1)[f.primary()] += 1.0
    return f.made | {"table": _hash_of(replace(f.table, value=value), f.checkers.folder)}


def primaries_opened(f: Forger) -> Content:
    """The certificate of the table with a primary cell called something else."""
    status = f.table.status.copy()
    status.reshape(-1)[f.primary()] = f.pick([dk.Status.OPEN, dk.Status.SECONDARY])
    return f.made | {"table": _hash_of(replace(f.table, status=status), f.checkers.folder)}


def unknown_key(f: Forger) -> Content:
    """Something the format does not know."""
    return f.made | {"exposed": []} if f.rng.random() < 0.5 else {k: v for k, v in f.made.items() if k != "proofs"}


def _hash_of(table: dk.Table, folder: Path) -> str:
    """The hash another table would have: that of its own certificate."""
    report = dk.audit(table, dk.Promise(guard="public", levels=False))
    api.write_certificate({NAME: certificate_of(report)}, folder / "else.json")
    found: str = json.loads((folder / "else.json").read_text(encoding="utf-8"))["tables"][NAME]["table"]
    return found


# --- tricks that change nothing in a safe table, and must not make an exposed one safe -------------------------------


def honest_as_made(f: Forger) -> Content:
    """As it came from the audit."""
    return f.made


def scaled(f: Forger) -> Content:
    """Steps many times as long: the same direction."""
    times = f.pick([2, -1, 3, 10**9, 10**30])
    return f.made | {
        "moves": [{"cells": m["cells"], "steps": [s * times for s in m["steps"]]} for m in f.made["moves"]]
    }


def doubled_moves(f: Forger) -> Content:
    """Every move twice, in another order."""
    return f.made | {"moves": [*f.made["moves"], *reversed(f.made["moves"])]}


def promise_edited(f: Forger) -> Content:
    """A weaker promise written into the certificate; what is demanded stays."""
    weaker: list[Content] = [
        {"levels": False}, {"guard": "public"}, {"min_relative_range": "0", "min_range": None}, {"unions": False},
        {"knowledge": {"kind": "none", "error": "0", "absolute": "0"}}, {"sliding": True},
        {"levels": False, "guard": "public", "min_relative_range": "0", "min_range": None, "unions": False},
    ]  # fmt: skip
    return f.made | {"promise": f.made["promise"] | weaker[f.pick(range(len(weaker)))]}


def proofs_removed(f: Forger) -> Content:
    """Without the proofs that something is exposed."""
    return f.made | {"proofs": []}


def moves_of_another(f: Forger) -> Content:
    """Those moves of a safer pattern that use hidden cells only: they are moves here too."""
    hidden = f.table.hidden.reshape(-1)
    found = [m for m in f.donor["moves"] if all(hidden[c] for c in m["cells"])]
    return f.made | {"moves": [*f.made["moves"], *found]}


def moves_in_halves(f: Forger) -> Content:
    """Moves of the same numbers where they are no counts: some are whole only when made twice."""
    table = replace(f.table, frequency=False)
    report = dk.audit(table, replace(f.checkers.promise, guard="public"), certify=True)
    return f.made | {"moves": [*f.made["moves"], *f.checkers.written(certificate_of(report))["moves"]]}


FORBIDDEN = (
    lone_move, tiny_move, doubled_cell, doubled_in_move, off_by_one, dropped_cell, half_steps, odd_numbers, zero_step,
    through_open_cells, empty_move, nothing_shown, other_table, primaries_opened, unknown_key,
)  # fmt: skip
"""Wrong about every table with a primary cell."""
HARMLESS = (honest_as_made, scaled, doubled_moves, promise_edited, proofs_removed, moves_of_another, moves_in_halves)
"""Wrong about exposed tables only."""


# --- the campaign ----------------------------------------------------------------------------------------------------


def drawn(seed: int) -> tuple[World, bool] | None:
    """A table with its own attacker's verdict; nothing where that took too long."""
    rng = np.random.default_rng([seed, 16])
    world = random_world(rng, small=True, mixed=bool(rng.random() < 0.1))
    try:
        way = rng.random()
        world = on_the_border(rng, world) if way < 0.3 else protected(world) if way < 0.8 else world
        return world, bool(Attack(world).exposed())
    except GaveUp:
        return None


def protected(world: World) -> World:
    """The same table with three primary cells and the pattern diskret finds for them."""
    primaries = [c for c, s in world.status.items() if s == "primary"][:3]
    table = replace(world, status=dict.fromkeys(primaries, "primary")).table()
    done = dk.suppress(table, world.promise()).table
    cells = [tuple(at) for at in np.argwhere(done.hidden).tolist()]
    return replace(world, status={c: "primary" if c in primaries else "secondary" for c in map(done.codes, cells)})


def everything_hidden(world: World) -> World:
    """The same table with every cell hidden that was open: moves go everywhere."""
    every = dict.fromkeys(world.summed(world.leaf), "secondary")
    return replace(world, status=every | dict(world.status))


def forge(seed: int, tally: Tally, folder: Path) -> None:
    """All tricks on one table."""
    found = drawn(seed)
    if found is None:
        return
    world, exposed = found
    checkers = Checkers(world, folder)
    report = dk.audit(checkers.table, checkers.promise, certify=True)
    # lines of zeros are another matter than cells, and our own attacker does not look at them
    if report.zeros:
        return
    if report.safe == exposed:
        tally.note("audit: exposed, called safe" if exposed else "audit: safe, called exposed", seed)
        return
    made = checkers.written(certificate_of(report))
    donor = Checkers(everything_hidden(world), folder).made() | {"table": made["table"]}
    checkers = Checkers(world, folder)
    rng = np.random.default_rng([seed, 17])
    forger = Forger(rng=rng, checkers=checkers, made=made, donor=donor)
    for kind, content, right in _tried(forger, exposed):
        _ask(kind, content, seed, right=right, checkers=checkers, tally=tally)


def _tried(forger: Forger, exposed: bool) -> Iterator[tuple[str, Content, bool]]:
    """Every trick that can be tried, and whether the result must hold."""
    for trick in (*FORBIDDEN, *HARMLESS):
        content = trick(forger)
        if content is not None:
            honest = not exposed and trick in HARMLESS
            name = trick.__name__.removeprefix("honest_").replace("_", " ")
            yield f"{'honest, ' if honest else 'exposed table, ' if exposed else ''}{name}", content, honest


def _ask(kind: str, content: Content, seed: int, *, right: bool, checkers: Checkers, tally: Tally) -> None:
    tally.tried[kind] += 1
    one, two = checkers.both(text_of(content))
    if one.code != two.code:
        tally.note(f"{kind}: verify says {one.code}, the other {two.code}", seed)
    elif one != two:
        tally.note(f"{kind}: both say {one.code}, for different reasons", seed)
    for name, answer in (("verify", one), ("the other", two)):
        if (answer.code == HOLDS) != right:
            tally.note(f"{kind}: {'refused' if right else 'accepted'} by {name}", seed)


def campaign(certificates: int, start: int = 0) -> Tally:
    """As many tables as it takes for so many forged certificates."""
    tally, seed = Tally(), start
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        while tally.forged < certificates:
            forge(seed, tally, Path(folder))
            seed += 1
    return tally


def main(words: Sequence[str] | None = None) -> int:
    """Run the campaign; 1 if anything is wrong."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--certificates", type=int, default=10_000)
    asked.add_argument("--seed", type=int, default=0, help="the first table")
    given = asked.parse_args(words)
    tally = campaign(given.certificates, given.seed)
    print(tally)
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
