"""One table under attack: its equations, what is known, what must be kept, and the witnesses so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from diskret.auditing.basis import Basis, basis_of
from diskret.auditing.integers import Split, Tree, farthest_whole
from diskret.auditing.outsiders import OutsideAttack, attackers_of
from diskret.auditing.proof import proof_of
from diskret.auditing.report import Exposure, Node, Shortfall
from diskret.auditing.verdicts import Ends, Need, Verdict, needs_of, verdict
from diskret.model.arrays import Floats, Ints
from diskret.model.equations import Equations
from diskret.model.grid import LARGEST, Whole, whole
from diskret.model.rational import Ratio
from diskret.model.table import Table
from diskret.model.workers import Workers
from diskret.moves.demands import Demands
from diskret.moves.insiders import Insiders
from diskret.moves.move import Move, MoveSet
from diskret.moves.pattern import Pattern

MOST_PROOFS = 200
"""Beyond this many exposed cells a proof in words each would only take time: the pattern is no good."""


@dataclass(eq=False, kw_only=True)
class Case:
    """Everything an attack looks at; columns are the hidden cells, targets the primary ones among them."""

    table: Table
    system: Equations
    up: Floats
    down: Floats
    demands: Demands
    columns: Ints
    """Where the primary cells stand among the hidden ones."""
    insiders: Insiders
    witnesses: Pattern
    digits: int
    """Decimals of everything that is compared: rooms, demands, what insiders know."""
    seconds: float = np.inf
    """How long to look for whole numbers, for one cell."""
    workers: Workers | None = None
    """By whom independent parts are attacked."""
    certify: bool = False
    """Whether every exposed cell gets a proof in whole numbers, also where elimination decides."""
    explain: bool = True
    """Whether exposed cells get their proofs in words, which may take longer than all the rest."""
    undecided: set[int] = field(default_factory=set)
    """Targets about which neither a point nor a proof was found."""
    exposed: list[Exposure] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    """Targets that are exposed to everybody."""
    shown: set[int] = field(default_factory=set)
    """Targets that programmes over the whole table show to be safe from everybody."""
    points: dict[int, tuple[Ratio, Ints, Whole]] = field(default_factory=dict)
    """Points that show cells to be safe, besides the witnesses, each once: with the unknowns that move, and steps."""
    proofs: list[Shortfall] = field(default_factory=list)

    # --- what everything is measured in -------------------------------------------------------------------------------

    @cached_property
    def needs(self) -> list[Need]:
        """What every target must keep, in whole steps."""
        steps = 10 ** (self.digits - self.demands.digits)
        return [
            Need(need.up * steps, need.down * steps, need.length * steps, need.strict)
            for need in needs_of(self.demands)
        ]

    @cached_property
    def rooms(self) -> tuple[Whole, Whole]:
        """What everybody thinks possible of every unknown, in whole steps."""
        return whole(self.up, self.digits), whole(self.down, self.digits)

    @cached_property
    def attackers(self) -> OutsideAttack:
        """The models of all groups of unknowns."""
        return attackers_of(self.system, *self.rooms)

    def everybody(self) -> None:
        """Let the attackers know what everybody knows, whoever attacked last."""
        up, down = self.rooms
        for number, attacker in self.attackers.met.items():
            own = self.attackers.own[number]
            attacker.narrow(up[own], down[own])

    @cached_property
    def basis(self) -> Basis:
        """All deviations that nobody can see, as sums of short moves."""
        return basis_of(self.table, self.system)

    @cached_property
    def kinds(self) -> Ints | None:
        """Which unknowns determine each other (see `elimination.proportional`), if a basis says it."""
        return self.basis.kinds() if "basis" in self.__dict__ and self.basis.complete else None

    # --- verdicts -----------------------------------------------------------------------------------------------------

    def verdict(self, target: int, rooms: tuple[Whole, Whole] | None = None, counts: bool = False) -> Verdict:
        """What somebody finds out about a target: everybody, or whoever has narrower rooms."""
        attacker, place, own = self.attackers.on(int(self.columns[target]))
        up, down = self.rooms if rooms is None else rooms
        attacker.narrow(up[own], down[own])
        return verdict(attacker, place, self.needs[target], counts=counts, seconds=self.seconds)

    def fixed(self, target: int, rooms: tuple[Whole, Whole] | None = None) -> Verdict:
        """The proof that somebody computes a target exactly; empty unless proofs are asked for."""
        if not self.certify:
            return Verdict(exposed=True)
        attacker, place, own = self.attackers.on(int(self.columns[target]))
        up, down = self.rooms if rooms is None else rooms
        attacker.narrow(up[own], down[own])
        return verdict(attacker, place, Need(up=0, down=0, length=0, strict=True))

    def settle(self, target: int, found: Verdict) -> None:
        """Note down what everybody finds out about a target."""
        if found.safe:
            self.shown.add(target)
            self.note(int(self.columns[target]), found.points)
        elif found.exposed:
            self.lost.add(target)
            self.expose(target, found)
        else:
            self.undecided.add(target)

    def rises(self, column: int) -> bool:
        """Whether a count can be larger than it is, for all that everybody knows."""
        attacker, place, own = self.attackers.on(column)
        attacker.narrow(*(room[own] for room in self.rooms))
        found = farthest_whole(attacker, place, True, goal=1, seconds=self.seconds)
        self.note(column, () if found.point is None else (found.point,))
        return found.reach >= 1

    def note(self, column: int, points: tuple[Ratio, ...]) -> None:
        """Keep the points that show an unknown to be safe."""
        for point in points:
            # the point itself is kept too: its number must not be given to another one
            self.points.setdefault(id(point), (point, *self.attackers.spread(column, point)))

    def all_moves(self) -> MoveSet:
        """The witnesses, and the kept points as moves."""
        kept = self.witnesses.cover.all()
        if not self.points:
            return kept
        found = []
        for _, at, steps in self.points.values():
            moved = (steps // np.gcd.reduce(np.abs(steps))).astype(np.float64)
            cells = self.system.cells[at]
            if moved.size and np.abs(moved).max() < LARGEST:
                forth, back = self.witnesses.cover.limits(cells, moved)
                found.append(Move(cells=cells, coefficients=moved, up=forth, down=back))
        return kept.and_also(MoveSet.of(found))

    @property
    def programmes(self) -> int:
        """Linear programmes so far."""
        over_all = self.attackers.programmes if "attackers" in self.__dict__ else 0
        return over_all + self.witnesses.router.programmes

    # --- what can be said about a cell --------------------------------------------------------------------------------

    def name(self, column: int) -> str:
        """A hidden cell in words."""
        return self.table.name_of(int(self.system.cells[column]))

    def ends(
        self, column: int, rooms: tuple[Whole, Whole] | None = None, known: Ends = (None, None)
    ) -> tuple[float, float]:
        """How far an unknown can rise and fall, exactly; not a number where that is undecided.

        What is known already, in steps, is not looked for again.
        """
        attacker, place, own = self.attackers.on(column)
        up, down = self.rooms if rooms is None else rooms
        attacker.narrow(up[own], down[own])
        near, found = self.near(column), []
        for upward, told in zip((True, False), known, strict=True):
            end = attacker.extreme(place, upward, near) if told is None else told
            if self.table.frequency and end is not None and end != np.inf:
                counted = farthest_whole(attacker, place, upward, seconds=self.seconds)
                end = None if counted.proof is None else counted.reach
            found.append(np.nan if end is None else float(end) / 10.0**self.digits)
        return found[0], found[1]

    def near(self, column: int) -> int:
        """How far an unknown may be expected to go: as far as its value, in steps."""
        return int(whole(np.abs(self.table.value.reshape(-1)[self.system.cells[[column]]]), self.digits)[0])

    def interval(self, column: int, rise: float, fall: float) -> tuple[float, float]:
        """What a cell can be."""
        value = float(self.table.value.reshape(-1)[self.system.cells[column]])
        return value - fall, value + rise

    def expose(
        self, target: int, found: Verdict, rooms: tuple[Whole, Whole] | None = None, who: int = -1, *,
        exactly: bool = False,
    ) -> None:  # fmt: skip
        """Note down a target that somebody finds out (``who``; -1: everybody), with the lines that give it away.

        ``exactly``: nothing but the value is left.
        """
        column = int(self.columns[target])
        cell = int(self.system.cells[column])
        rise, fall = (0.0, 0.0) if exactly else self.ends(column, rooms, found.ends)
        # the side that is too short is what has to be explained
        upward = bool(rise - self.demands.up[target] <= fall - self.demands.down[target])
        lower, upper = self.interval(column, rise, fall)
        required = float(self.demands.down[target]), float(max(self.demands.up[target], self.demands.length[target]))
        self.proofs += [self._shortfall(column, proof, who) for proof in found.proofs]
        self.exposed.append(
            Exposure(
                cell=self.name(column), index=self.table.place(cell), lower=lower, upper=upper,
                exact=bool(rise + fall == 0), by="" if who < 0 else self.insiders.name(who, self.table),
                proof=self._words(column, upward, rise if upward else fall, rooms), required=required,
            )
        )  # fmt: skip

    def _shortfall(self, column: int, proof: Tree, who: int) -> Shortfall:
        _, _, own = self.attackers.on(column)
        cells, rows = self.system.cells[own], self.attackers.lines(column)

        def nodes(tree: Tree) -> tuple[Node, ...]:
            if isinstance(tree, Split):
                return ((int(cells[tree.column]), tree.at), *nodes(tree.below), *nodes(tree.above))
            sign = 1 if tree.upward else -1
            used = np.flatnonzero(tree.times).tolist()
            return ((tree.q, tuple(rows[used].tolist()), tuple(sign * int(tree.times[r]) for r in used)),)

        known = () if who < 0 else tuple(self.insiders.cells_of(who)[0].tolist())
        first = proof
        while isinstance(first, Split):
            first = first.below
        return Shortfall(
            cell=int(self.system.cells[column]), knows=known,
            coalition=self.insiders.names[who] if 0 <= who < len(self.insiders.names) else "",
            upward=first.upward, tree=nodes(proof),
        )  # fmt: skip

    def _words(self, column: int, upward: bool, reach: float, rooms: tuple[Whole, Whole] | None) -> str:
        if not self.explain or len(self.exposed) >= MOST_PROOFS:
            return ""
        up, down = self.up, self.down
        if rooms is not None:
            scale = 10.0**self.digits
            up, down = (np.where(room < 0, np.inf, room.astype(np.float64) / scale) for room in rooms)
        proof = proof_of(self.system, up, down, column, upward, reach)
        return "" if proof is None else proof.text(self.table, self.system)

    def give_up(self) -> None:
        """Look for no moves of targets that are exposed to everybody, or undecided."""
        gone = self.demands.cells[sorted(self.lost | self.undecided)]
        mine = np.isin(self.witnesses.cover.ways.cell, gone)
        self.witnesses.hopeless |= dict.fromkeys(np.flatnonzero(mine).tolist())
