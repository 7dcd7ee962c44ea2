"""Writes the worked example of docs/cuboid.md, the 16 x 15 table of the source: `python docs/worked_example.py`.

The engine says which cuboid it took for which pivot. What it passed over is found here by a slow search; where the two
disagree, nothing is written. A test compares the page.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from diskret import Promise, methods
from diskret.model.errors import ProtectionWarning
from diskret.model.hierarchy import Hierarchy
from diskret.model.knowledge import Knowledge
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.cuboid.subtables import Segments
from diskret.suppression.result import Suppression
from diskret.suppression.suppress import suppress

DOCS = Path(__file__).parent
GOLDEN = DOCS.parent / "tests" / "golden" / "quader" / "ch1-hierarchical-two-dims.json"
BEGIN, END = "<!-- written by worked_example.py: begin -->\n", "<!-- written by worked_example.py: end -->\n"
SHOWN = 3
"""How many of the cuboids that lost are shown."""
Rank = tuple[int, int, float]
MARKS = {Status.PRIMARY: "**{} P**", Status.SECONDARY: "*{} S*"}


# --- the table and the runs ------------------------------------------------------------------------------------------


def example() -> Table:
    """The table of figure 1.7, its primary cells marked."""
    said = json.loads(GOLDEN.read_text(encoding="utf-8"))["table"]
    by = {
        f"key{i}": Hierarchy.from_levels(d["sequence"], [d["level"][c] for c in d["sequence"]])
        for i, d in enumerate(said["dimensions"], 1)
    }
    columns: dict[str, list[object]] = {"key1": [], "key2": [], "x": [], "n": [], "status": []}
    for cell in said["cells"]:
        status = "primary" if cell["status"] == "primary" else "open"
        row = (*cell["at"], cell["value"], cell["contributors"], status)
        for column, entry in zip(columns.values(), row, strict=True):
            column.append(entry)
    return Table.from_cells(columns, by=by, value="x", count="n", status="status")


@dataclass(frozen=True)
class Run:
    """One run of the engine, and what it was asked for."""

    result: Suppression
    knowledge: Knowledge
    zeros: bool
    q: float

    @classmethod
    def of(cls, table: Table, knowledge: Knowledge, zeros: bool = False, q: float = 0.0) -> Run:
        """Protect the table; its subtotals are no news here."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProtectionWarning)
            usable = "allowed" if zeros else "marked"
            result = suppress(
                table,
                Promise(levels=False, min_relative_range=q, knowledge=knowledge),
                methods.Cuboids(zeros=usable, thin=False),
            )
        return cls(result, knowledge, zeros, q)


# --- one cuboid, and all cuboids of a pivot --------------------------------------------------------------------------


@dataclass(frozen=True)
class Cuboid:
    """A candidate: its cells (pivot first) with their signs, and what decides about it."""

    cells: tuple[int, ...]
    signs: tuple[int, ...]
    new: Mapping[int, tuple[int, float]]
    """Cells still to be suppressed, with their margin rank and value."""
    up: float
    down: float
    singles: frozenset[int]
    """Single contributors inside the subtable, other than the pivot."""
    empty: bool
    """Whether a cell of it cannot be used."""

    @property
    def rank(self) -> Rank:
        """Fewest new cells, fewest margins among them, smallest sum."""
        return rank_of(self.new)


def rank_of(new: Mapping[int, tuple[int, float]]) -> Rank:
    """Rank of some new cells."""
    return len(new), sum(margin for margin, _ in new.values()), sum(value for _, value in new.values())


@dataclass(frozen=True)
class Step:
    """What happened to one pivot."""

    turn: int
    subtable: str
    pivot: int
    came_from: str
    taken: tuple[Cuboid, ...]
    candidates: tuple[Cuboid, ...]
    need: float


def cuboids(run: Run, axes: Sequence[Sequence[int]], pivot: int, hidden: set[int]) -> Iterator[Cuboid]:
    """Every cuboid of a pivot in a subtable, the total last on every axis; ``hidden`` is suppressed already."""
    table = run.result.before
    value, count = table.value.reshape(-1), table.count.reshape(-1)
    ups, downs = run.knowledge.room(table)
    g = [int(i) for i in np.unravel_index(pivot, table.shape)]
    totals = [axis[-1] for axis in axes]
    for d in product(*([i for i in axis if i != at] for axis, at in zip(axes, g, strict=True))):
        cells, signs, margin = [], [], {}
        for digits in product((0, 1), repeat=len(g)):
            at = [d[i] if digit else g[i] for i, digit in enumerate(digits)]
            cell = int(np.ravel_multi_index(at, table.shape))
            across = [digit for i, digit in enumerate(digits) if totals[i] not in (g[i], d[i])]
            cells.append(cell)
            signs.append((-1) ** sum(across))
            margin[cell] = sum(i == total for i, total in zip(at, totals, strict=True))
        both = list(zip(cells, signs, strict=True))
        yield Cuboid(
            tuple(cells), tuple(signs),
            new={c: (margin[c], float(value[c])) for c in cells if c not in hidden},
            up=float(min(ups[c] if s > 0 else downs[c] for c, s in both)),
            down=float(min(downs[c] if s > 0 else ups[c] for c, s in both)),
            singles=frozenset(c for c in cells[1:] if count[c] == 1 and not margin[c]),
            empty=any(value[c] == 0 and c not in hidden for c in cells) and not run.zeros,
        )  # fmt: skip


def steps(run: Run) -> Iterator[Step]:
    """Every pivot in the order of the engine, with all its candidates at that moment."""
    table, moves = run.result.before, run.result.moves
    segments = Segments.of(table.hierarchies)
    turn_of = {int(name): turn for turn, group in enumerate(segments.by_level(), 1) for name in group}
    hidden = {int(c) for c in np.flatnonzero(table.hidden)}
    creator: dict[int, str] = {}
    built = [(moves.where(k), int(moves[k].cells[0])) for k in range(len(moves))]
    for k, (name, pivot) in enumerate(built):
        if k and built[k - 1] == built[k]:
            continue  # the second one of a pair
        axes = _axes(segments, name)
        label = " × ".join(h.codes[axis[-1]] for h, axis in zip(table.hierarchies, axes, strict=True))
        primary = table.status.reshape(-1)[pivot] == Status.PRIMARY
        need = run.q * float(table.value.reshape(-1)[pivot]) if primary else 0.0
        found = tuple(cuboids(run, axes, pivot, hidden))
        size = 2 if k + 1 < len(moves) and built[k + 1] == built[k] else 1
        chosen = [frozenset(moves[k + i].cells.tolist()) for i in range(size)]
        taken = tuple(c for cells in chosen for c in found if frozenset(c.cells) == cells)
        step = Step(turn_of[name], label, pivot, creator.get(pivot, ""), taken, found, need)
        _check(step, table)
        yield step
        for cell in fresh(step):
            hidden.add(cell)
            creator[cell] = label


def fresh(step: Step) -> Mapping[int, tuple[int, float]]:
    """The cells a step suppresses."""
    return {cell: price for c in step.taken for cell, price in c.new.items()}


def _axes(segments: Segments, name: int) -> list[list[int]]:
    rows = segments.rows(np.array([name]))[0]
    return [segments.items[segments.first[s] : segments.first[s + 1]].tolist() for s in rows]


def _check(step: Step, table: Table) -> None:
    """The engine must have taken the best that the slow search finds."""
    best = min([*(c.rank for c in clean(step)), *pairs(step)])
    if not step.taken or rank_of(fresh(step)) != best:
        raise ValueError(f"the engine and the slow search disagree about {name_of(step.pivot, table)}")


def admissible(step: Step) -> list[Cuboid]:
    """Without unusable cells, and wide enough."""
    return [c for c in step.candidates if not c.empty and c.up + c.down > step.need]


def clean(step: Step) -> list[Cuboid]:
    """Admissible, and no other single contributor inside; best first."""
    return sorted((c for c in admissible(step) if not c.singles), key=lambda c: c.rank)


def pairs(step: Step) -> list[Rank]:
    """Ranks of the pairs of admissible cuboids that have singles, but none in common."""
    found = combinations([c for c in admissible(step) if c.singles], 2)
    return [rank_of({**a.new, **b.new}) for a, b in found if not a.singles & b.singles]


# --- words -----------------------------------------------------------------------------------------------------------


def name_of(cell: int, table: Table) -> str:
    """Like (134;ACC)."""
    return "(" + ";".join(table.codes(tuple(int(i) for i in np.unravel_index(cell, table.shape)))) + ")"


def number(x: float) -> str:
    """Whole numbers without a point; no bound as a word."""
    return "no bound" if np.isinf(x) else f"{x:.0f}" if x == round(x) else f"{x:.2f}"


def partners(c: Cuboid, table: Table) -> str:
    """The other cells with their values, new ones in bold."""
    names = [f"{name_of(x, table)} {number(table.value.reshape(-1)[x])}" for x in c.cells[1:]]
    return ", ".join(f"**{n}**" if x in c.new else n for x, n in zip(c.cells[1:], names, strict=True))


def why(c: Cuboid, step: Step, table: Table) -> str:
    """Why a cuboid was not taken."""
    best = step.taken[0].rank
    if c.up + c.down <= step.need:
        return f"refused: range {number(c.up + c.down)} is not more than {number(step.need)}"
    if c.singles:
        return f"refused: one contributor in {', '.join(name_of(s, table) for s in sorted(c.singles))}"
    if c.rank[0] > best[0]:
        return "more new cells"
    if c.rank[1] > best[1]:
        return "more margins"
    return "larger sum" if c.rank[2] > best[2] else "as good, found later"


def account(step: Step) -> str:
    """How many cuboids there are and how many remain."""
    narrow = [c for c in step.candidates if not c.empty and c.up + c.down <= step.need]
    alone = [c for c in admissible(step) if c.singles]
    parts = [
        f"{len(found)} {what}"
        for found, what in (
            ([c for c in step.candidates if c.empty], "with an empty cell"),
            (narrow, "too narrow"),
            (alone, "with another single contributor"),
        )
        if found
    ]
    refused = ", ".join(parts) or "none refused"
    return f"{len(step.candidates)} cuboids: {refused}; {len(clean(step))} to choose from."


def told(step: Step, table: Table, ranges: bool = False) -> list[str]:
    """One pivot in Markdown: what was taken, what lost, and why."""
    value = number(table.value.reshape(-1)[step.pivot])
    origin = f"suppressed by {step.came_from}" if step.came_from else "primary"
    head = f"**Pivot {name_of(step.pivot, table)} = {value}**, {origin}."
    taken = step.taken[0]
    if not fresh(step):
        cells = ", ".join(name_of(c, table) for c in taken.cells[1:])
        return [f"{head} Secured already: {cells} are all suppressed.", ""]
    lines = [f"{head} {account(step)}", ""]
    lines += ["| the other cells (new ones bold) | new | margin rank | sum |" + (" range |" if ranges else "") + " |"]
    lines += ["|---|---|---|---|" + ("---|" if ranges else "") + "---|"]
    losers = [c for c in clean(step) if c is not taken][:SHOWN]
    refused = [c for c in step.candidates if not c.empty and c not in clean(step) and c.rank < taken.rank]
    for c in [taken, *sorted(refused, key=lambda c: c.rank)[:SHOWN], *losers]:
        reach = f" {number(c.up + c.down)} |" if ranges else ""
        verdict = "**taken**" if c is taken else why(c, step, table)
        new, margin, cost = c.rank
        lines.append(f"| {partners(c, table)} | {new} | {margin} | {number(cost)} |{reach} {verdict} |")
    if pairs(step):
        lines += ["", "The best pair would need {} new cells, margin rank {}, sum {:.0f}.".format(*min(pairs(step)))]
    return [*lines, ""]


def grid(table: Table, marks: bool) -> list[str]:
    """The table in Markdown: primary cells bold, single contributors with a 1; with marks after protection."""
    rows, columns = table.hierarchies
    lines = ["| | " + " | ".join(_sum(columns, c) for c in columns.codes) + " |", "|---" * (len(columns) + 1) + "|"]
    for i, code in enumerate(rows.codes):
        entries = []
        for j in range(len(columns)):
            status = Status(int(table.status[i, j]))
            text = number(table.value[i, j]) if table.value[i, j] or status.hidden else "."
            text += "¹" if table.count[i, j] == 1 else ""
            if marks:
                text = MARKS.get(status, "{}").format(text)
            elif status is Status.PRIMARY:
                text = f"**{text}**"
            entries.append(text)
        lines.append(f"| {_sum(rows, code)} | " + " | ".join(entries) + " |")
    return lines


def _sum(hierarchy: Hierarchy, code: str) -> str:
    return code if hierarchy.is_leaf[hierarchy.index(code)] else f"**{code}**"


# --- the parts of the page -------------------------------------------------------------------------------------------


def as_python(table: Table) -> list[str]:
    """The same table as an example that runs."""
    rows, columns = table.hierarchies
    inner = np.ix_(np.flatnonzero(rows.is_leaf), np.flatnonzero(columns.is_leaf))
    lines = ["```python"]
    for name, hierarchy in zip(("key1", "key2"), (rows, columns), strict=True):
        total = hierarchy.total
        parts = [f'"{p}": {json.dumps(list(hierarchy.parts(p)))}' for p in hierarchy.parts(total)]
        lines += [f'>>> {name} = dk.Hierarchy.from_nested({{"{total}": {{']
        lines += [f"...     {p}," for p in parts[:-1]] + [f"...     {parts[-1]}}}}})"]
    for name, array, width in (("values", table.value, 5), ("counts", table.count, 4)):
        lines += [f'>>> {name} = """']
        lines += ["... " + "".join(f"{int(x):{width}d}" for x in row) for row in array[inner]]
        lines[-1] += '"""'
    return [
        *lines,
        ">>> leaves = [[c for c, leaf in zip(h.codes, h.is_leaf) if leaf] for h in (key1, key2)]",
        '>>> data = {"key1": [a for a in leaves[0] for _ in leaves[1]], "key2": leaves[1] * len(leaves[0]),',
        '...         "x": [int(x) for x in values.split()], "n": [int(n) for n in counts.split()]}',
        '>>> table = dk.Table.from_cells(data, by={"key1": key1, "key2": key2}, value="x", count="n")',
        ">>> table = dk.mark(table, dk.rules.MinCount(3, margin=0))",
        ">>> table",
        repr(table),
        "",
        "```",
    ]


def order(table: Table) -> list[str]:
    """The subtables turn by turn."""
    segments = Segments.of(table.hierarchies)
    lines = ["| turn | subtables (sum of the rows × sum of the columns) |", "|---|---|"]
    for turn, group in enumerate(segments.by_level(), 1):
        axes = [_axes(segments, int(n)) for n in group]
        labels = [" × ".join(h.codes[a[-1]] for h, a in zip(table.hierarchies, each, strict=True)) for each in axes]
        lines.append(f"| {turn} | {', '.join(labels)} |")
    return lines


def passes(run: Run) -> list[str]:
    """Every pass, subtable and pivot of the first run."""
    table = run.result.before
    lines: list[str] = []
    number_of_pass, last, subtable, added, total = 0, 99, "", 0, 0
    for step in steps(run):
        if step.turn < last:
            lines += _closing(number_of_pass, added, total)
            number_of_pass, added = number_of_pass + 1, 0
            lines += [f"### Pass {number_of_pass}", ""]
            subtable = ""
        last = step.turn
        if step.subtable != subtable:
            subtable = step.subtable
            lines += [f"#### Pass {number_of_pass}, turn {step.turn}: {subtable}", ""]
        lines += told(step, table)
        added, total = added + len(fresh(step)), total + len(fresh(step))
    if number_of_pass != run.result.passes:
        raise ValueError("passes were not told apart")
    return [*lines, *_closing(number_of_pass, added, total)]


def _closing(number_of_pass: int, added: int, total: int) -> list[str]:
    if not number_of_pass:
        return []
    return [f"Pass {number_of_pass} suppresses {added} cells, {total} so far.", ""]


def ranges(run: Run) -> list[str]:
    """Every pivot of the second run in one line: the two sets, how far they move, the range."""
    table = run.result.before
    value = table.value.reshape(-1)
    head = ["subtable", "pivot", "moves with it", "moves against it", "up", "down", "interval", "range / value", "new"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for step in steps(run):
        c = step.taken[0]
        x = float(value[step.pivot])
        both = list(zip(c.cells, c.signs, strict=True))[1:]
        with_it, against = (
            ", ".join(f"{name_of(cell, table)} {number(value[cell])}" for cell, s in both if s == sign)
            for sign in (1, -1)
        )
        relative = f"{100 * (c.up + c.down) / x:.0f} %" + ("" if step.need else ", not asked")
        lines.append(
            f"| {step.subtable} | {name_of(step.pivot, table)} {number(x)} | {with_it} | {against} | {number(c.up)} "
            f"| {number(c.down)} | {number(x - c.down)} to {number(x + c.up)} | {relative} | {len(c.new)} |"
        )
    return lines


def cells_of(chosen: npt.NDArray[np.bool_], table: Table) -> str:
    """Names of the cells where an array is true."""
    return ", ".join(name_of(int(c), table) for c in np.flatnonzero(chosen))


def example_part() -> str:
    """Everything between the two marks."""
    table = example()
    exact = Run.of(table, Knowledge.none())
    wide = Run.of(table, Knowledge.positive(), zeros=True, q=1.25)
    only = [exact.result.secondary & ~wide.result.secondary, wide.result.secondary & ~exact.result.secondary]
    discussed = [s for s in steps(wide) if name_of(s.pivot, table) in ("(134;AAA)", "(113;ACD)")]
    lines = [
        "### The table", "", *grid(table, marks=False), "",
        "Bold: primary cells, and codes that are sums. ¹: one contributor. A point: empty, nobody contributes.", "",
        "The same table in Python:", "", *as_python(table), "",
        "### The order of the subtables", "", *order(table), "",
        "Subtables without a pivot are passed over.", "", *passes(exact),
        "### The pattern against exact computation", "", *grid(exact.result.table, marks=True), "",
        f"P: primary, S: secondary. {int(exact.result.secondary.sum())} secondary cells with the value sum "
        f"{number(float(table.value[exact.result.secondary].sum()))}, {exact.result.passes} passes.", "",
        "### The same table with a range of 125 percent", "",
        "Now the interval of every primary cell must be longer than 1.25 times its value, the attacker knows that no "
        "value is negative, and zeros may be partners.", "", *ranges(wide), "",
        "Two of the choices in full:", "", *(line for s in discussed for line in told(s, table, ranges=True)),
        "The pattern:", "", *grid(wide.result.table, marks=True), "",
        f"{int(wide.result.secondary.sum())} secondary cells. Suppressed only against exact computation: "
        f"{cells_of(only[0], table)}. Only here: {cells_of(only[1], table)}.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """The page with its generated part written anew."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + example_part() + "\n" + END + rest.split(END)[1]


def main() -> None:
    """Write it."""
    path = DOCS / "cuboid.md"
    path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
