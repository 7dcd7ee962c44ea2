"""Why a cell is hidden, as data: the moves behind it cell by cell, whom it helps, and what remains possible for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.auditing.attacker import Attacker
from diskret.auditing.integers import integer_extreme
from diskret.model.arrays import Floats
from diskret.model.equations import Equations
from diskret.model.grid import digits_of, whole
from diskret.model.messages import message_in
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.model.words import number_in, words

if TYPE_CHECKING:
    from diskret.suppression.result import Suppression

MOST_MOVES = 12
MOST_NAMES = 8
MOST_UNKNOWNS = 3000
"""Up to this many connected hidden cells the interval is computed exactly; beyond, moves show a part of it."""
MOST_COUNTS = 300
"""The same for counts, which move in whole numbers."""
SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class MovedCell:
    """One cell of a move. What it changes by and lies between tells its value: internal."""

    cell: int
    """Flat position."""
    codes: tuple[str, ...]
    status: str
    sign: int
    """+1 where it rises when the explained cell rises, -1 where it falls."""
    value: float = field(repr=False)
    change: float = field(repr=False)
    """How far it moves when the move goes as far as it can."""
    lower: float = field(repr=False)
    upper: float = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class ExplainedMove:
    """Cells that can change together without touching anything published."""

    number: int
    cuboid: bool
    protects: bool
    """Whether it protects the explained cell; else it protects the cells in ``helped``."""
    helped: tuple[str, ...]
    cells: tuple[MovedCell, ...]
    range: float = field(repr=False)
    """Length of the interval it gives the explained cell; internal."""

    def words(self, cell: int, say: Mapping[str, str]) -> str:
        """With which other cells it lets a cell change."""
        others = [_name(c.codes) for c in self.cells if c.cell != cell]
        together = say["together one" if len(others) == 1 else "together"]
        kind = say["cuboid" if self.cuboid else "move"]
        return together.format(kind=kind, n=len(others), cells=_listed(others))


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Everything about one cell of a protected table."""

    cell: int
    codes: tuple[str, ...]
    status: str
    rules: tuple[str, ...]
    moves: tuple[ExplainedMove, ...]
    further: int
    """Moves that are left out here."""
    helped: tuple[str, ...]
    """Cells whose protection needs this one hidden."""
    helps: int
    """How many there are."""
    interval: tuple[float, float] | None = field(repr=False)
    exact: bool
    """Whether every reader can compute this very interval from what is published; else it is possible at least."""
    unprotected: str = ""

    def words(self, language: str = "en", *, internal: bool = False) -> list[str]:
        """In sentences. Without ``internal`` they hold what the published table tells anyway, and no value."""
        say = words("explanation", language)
        lines = [say["head"].format(cell="; ".join(self.codes), status=say[self.status])]
        if self.rules:
            lines.append(say["rules"].format(rules=", ".join(_rule(name, say) for name in self.rules)))
        lines += [move.words(self.cell, say) for move in self.moves if move.protects]
        if self.helps:
            lines.append(say["helps"].format(cells=_listed(self.helped, self.helps)))
        if self.interval is not None and (internal or self.exact):
            low, high = (say["free"] if np.isinf(end) else number_in(f"{end:,.10g}", language) for end in self.interval)
            lines.append(say["exact" if self.exact else "at least"].format(low=low, high=high))
        if self.unprotected:
            lines.append(say["unprotected"].format(why=message_in(self.unprotected, language)))
        return lines

    def plain(self, *, internal: bool = False) -> dict[str, Any]:
        """As plain data for a page; without ``internal`` no value, no change and no interval that moves show."""
        found = asdict(self)
        if not internal:
            found["interval"] = self.interval if self.exact else None
            for move in found["moves"]:
                del move["range"]
                move["cells"] = [
                    {k: c[k] for k in ("cell", "codes", "status", "sign")} for c in move["cells"]
                ]  # fmt: skip
        return found


def explanation_of(done: Suppression, cell: int) -> Explanation:
    """Explain the cell at a flat position."""
    table = done.table
    at = table.place(cell)
    mine = done.moves.protecting(cell).tolist()
    using = np.setdiff1d(done.moves.using(cell), mine).tolist()
    helped = sorted({p for k in (*mine, *using) for p in done.moves.protected(k)} - {cell})
    shown = (mine + using)[:MOST_MOVES]
    interval, exact = remaining_interval(done, cell)
    return Explanation(
        cell=cell, codes=table.codes(at), status=Status(int(table.status[at])).text, rules=table.rules_of(at),
        moves=tuple(_move(done, k, cell, k in mine) for k in shown), further=len(mine) + len(using) - len(shown),
        helped=tuple(cell_name(table, p) for p in helped[:MOST_NAMES]), helps=len(helped),
        interval=interval, exact=exact, unprotected=next((u.why for u in done.unprotected if u.index == at), ""),
    )  # fmt: skip


def _move(done: Suppression, number: int, cell: int, protects: bool) -> ExplainedMove:
    table = done.table
    move = done.moves[number]
    way = float(np.sign(move.coefficients[move.cells == cell][0])) or 1.0
    step = (move.up if way > 0 else move.down) * way
    step = step if np.isfinite(step) else way
    cells = []
    for other, coefficient in zip(move.cells.tolist(), move.coefficients.tolist(), strict=True):
        at = table.place(other)
        value = float(table.value[at])
        status = Status(int(table.status[at])).text
        sign = int(np.sign(coefficient) * way)
        low, high = move.interval(other, value)
        cells.append(
            MovedCell(
                cell=other, codes=table.codes(at), status=status, sign=sign, value=value, change=coefficient * step,
                lower=low, upper=high,
            )
        )  # fmt: skip
    helped = sorted(done.moves.protected(number) - {cell})
    low, high = move.interval(cell, 0.0)
    names = tuple(cell_name(table, p) for p in helped[:MOST_NAMES])
    return ExplainedMove(
        number=number, cuboid=done.moves.cuboids, protects=protects, helped=names, cells=tuple(cells), range=high - low
    )


def remaining_interval(done: Suppression, cell: int) -> tuple[tuple[float, float] | None, bool]:
    """What remains possible for a hidden cell, and whether that is exact.

    Exact is what linear programmes over all hidden cells that are connected with it find: any reader can compute it.
    Where too many are connected, the moves of the protection show what is possible at least.
    """
    table = done.table
    if not table.hidden.reshape(-1)[cell]:
        return None, False
    system, label = done.hidden_system
    column = int(np.searchsorted(system.cells, cell))
    together = np.flatnonzero(label == label[column])
    shown = done.interval(*table.codes(table.place(cell)))
    if together.size > (MOST_COUNTS if table.frequency else MOST_UNKNOWNS):
        return shown, False
    known = done.promise.knowledge
    up, down = known.room(table)
    part, place = system.part(together), int(np.searchsorted(together, column))
    up, down = up[part.cells], down[part.cells]
    reach = _whole_numbers(table, part, up, down, place) if table.frequency else _ends(table, part, up, down, place)
    if reach is None:
        return shown, False
    rise, fall = reach
    value = float(table.value.reshape(-1)[cell])
    return (_rounded(value - fall, table), _rounded(value + rise, table)), known.public


def _ends(table: Table, part: Equations, up: Floats, down: Floats, column: int) -> tuple[float, float] | None:
    """How far a value can rise and fall; None where that cannot be decided."""
    size = np.abs(table.value.reshape(-1)[part.cells])
    digits = 0
    for room in (up, down):
        finite = np.isfinite(room)
        digits = digits_of(room[finite], size[finite], first=digits) or digits
    attacker = Attacker(part, whole(up, digits), whole(down, digits))
    ends = [attacker.extreme(column, way, int(whole(size[[column]], digits)[0])) for way in (True, False)]
    rise, fall = (None if end is None else float(end) / 10.0**digits for end in ends)
    return None if rise is None or fall is None else (rise, fall)


def _whole_numbers(table: Table, part: Equations, up: Floats, down: Floats, column: int) -> tuple[float, float] | None:
    """How far a count can rise and fall in whole numbers; None where that takes too long."""
    values = table.value.reshape(-1)[part.cells]
    rise, fall = (integer_extreme(part, values, up, down, column, way, SECONDS) for way in (True, False))
    return None if rise is None or fall is None else (rise, fall)


def _rounded(end: float, table: Table) -> float:
    """An end of an interval without the solver's last digits."""
    if not np.isfinite(end):
        return end
    scale = float(np.abs(table.value).max()) or 1.0
    digits = int(np.clip(9 - np.ceil(np.log10(scale)), 0, 12))
    return round(end, digits) + 0.0


def _rule(name: str, say: Mapping[str, str]) -> str:
    """A primary rule by its name in the language asked for; English names stand where there is no other word."""
    bare, _, level = name.partition(" of ")
    words = say.get(f"rule {bare}", bare.replace(" dominance", say.get("dominance", " dominance")))
    return f"{words} ({say.get('holdings', level)})" if level else words


def cell_name(table: Table, cell: int) -> str:
    """A cell by its codes, as explanations name it: ``(05; 10)``."""
    return _name(table.codes(table.place(cell)))


def _name(codes: Sequence[str]) -> str:
    return "(" + "; ".join(codes) + ")"


def _listed(names: Sequence[str], of: int | None = None) -> str:
    more = (len(names) if of is None else of) - len(names[:MOST_NAMES])
    return ", ".join(names[:MOST_NAMES]) + (f" + {more}" if more > 0 else "")
