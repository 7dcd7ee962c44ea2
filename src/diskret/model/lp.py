"""Linear and mixed-integer programmes: the only module that knows the solver.

A `Programme` minimises costs over columns within bounds, subject to rows. What is special about the solver ends here:
its objects and options, its statuses (of which there are twenty; callers need four), starting it warm or cold, and the
second try where the first answer is not clear. An infinite bound is ``np.inf``; the solver takes anything beyond 1e20
for infinite as well.

Answers are floating-point proposals, right up to `tolerances.SOLVER`. Whoever publishes by them checks them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, NamedTuple

import highspy
import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints

Start = Literal["last", "slack", "scratch"]
"""From where a programme is solved: from the last basis, from the basis in which no column takes part (with all that
the solver keeps about the matrix), or as if it had never been solved."""


class Answer(Enum):
    """What came of a programme."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    """No limit to the goal. Presolve cannot always tell this from infeasible and then says this: ask for it only where
    some point is known to exist."""
    GAVE_UP = "gave up"
    """Out of time, nodes or iterations, or in numerical trouble."""


class Simplex(Enum):
    """Which simplex method; the dual is the solver's own choice."""

    DUAL = 1
    PRIMAL = 4


class Matrix(NamedTuple):
    """Coefficients, sparse, column by column: where each column begins (one more at the end), rows, values.

    With ``by_rows`` it is row by row instead: where each row begins, columns, values.
    """

    start: Ints
    at: Ints
    value: Floats
    by_rows: bool = False

    def both_ways(self) -> Matrix:
        """Every column (or row) twice, the second time turned round: what rises in one falls in the other.

        >>> once = Matrix(np.array([0, 1, 3]), np.array([0, 0, 1]), np.array([1.0, 2.0, 3.0]))
        >>> twice = once.both_ways()
        >>> twice.start.tolist(), twice.value.tolist()
        ([0, 1, 3, 4, 6], [1.0, 2.0, 3.0, -1.0, -2.0, -3.0])
        """
        start = np.concatenate([self.start, self.start[-1] + self.start[1:]])
        return Matrix(start, np.tile(self.at, 2), np.concatenate([self.value, -self.value]), self.by_rows)


@dataclass(frozen=True, kw_only=True)
class Way:
    """How a programme is solved. What is None is left to the solver; one thread and one seed always, for one answer."""

    presolve: bool = True
    """Make the programme smaller first. Not worth it where it is solved again and again from the last basis."""
    only_simplex: bool = False
    """Never by interior points."""
    simplex: Simplex = Simplex.DUAL
    tolerance: float | None = None
    """Up to which equations and bounds are kept; left out, `tolerances.SOLVER`."""
    seconds: float | None = None
    iterations: int | None = None
    nodes: int | None = None
    relative_gap: float | None = None
    """How far from the best a point in whole numbers may be, relative to its cost."""
    absolute_gap: float | None = None
    seed: int | None = None
    doubted: frozenset[Answer] = frozenset()
    """After these answers the programme is solved once more, from scratch: the last basis may have led astray."""


USUAL = Way()
UNCLEAR = frozenset({Answer.UNBOUNDED, Answer.GAVE_UP})
"""What is doubted where a programme may well be infeasible."""
ALL_BUT_OPTIMAL = UNCLEAR | {Answer.INFEASIBLE}
"""What is doubted where a point is known to exist."""
_STATUS = highspy.HighsModelStatus
_ANSWERS = {
    _STATUS.kOptimal: Answer.OPTIMAL,
    _STATUS.kInfeasible: Answer.INFEASIBLE,
    _STATUS.kUnbounded: Answer.UNBOUNDED,
    _STATUS.kUnboundedOrInfeasible: Answer.UNBOUNDED,
}
_OPTIONS = {
    "tolerance": ("primal_feasibility_tolerance", "dual_feasibility_tolerance"),
    "iterations": ("simplex_iteration_limit",),
    "nodes": ("mip_max_nodes",),
    "relative_gap": ("mip_rel_gap",),
    "absolute_gap": ("mip_abs_gap",),
    "seed": ("random_seed",),
}


class Programme:
    """Minimise ``cost`` over columns between ``lower`` and ``upper``; ``rows`` is what the rows are equal to.

    ``rows`` may be a pair of bounds as well; ``whole`` asks for whole numbers in all columns, or in those it chooses.
    The model stays with the solver: after a change of costs, bounds or rows it goes on from the last basis.

    >>> line = Matrix(np.array([0, 2]), np.array([0, 1]), np.array([1.0, 1.0]), by_rows=True)
    >>> cost, upper = np.array([3.0, 2.0]), np.array([np.inf, 0.5])
    >>> half = Programme(line, np.array([1.0]), lower=np.zeros(2), upper=upper, cost=cost)
    >>> half.solve().value, half.point.tolist(), half.value
    ('optimal', [0.5, 0.5], 2.5)
    """

    def __init__(
        self,
        matrix: Matrix,
        rows: Floats | tuple[Floats, Floats],
        *,
        lower: Floats,
        upper: Floats,
        cost: Floats | None = None,
        whole: bool | Bools = False,
        way: Way = USUAL,
    ) -> None:
        least, most = rows if isinstance(rows, tuple) else (rows, rows)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = lower.size, least.size
        lp.col_cost_ = np.zeros(lower.size) if cost is None else cost
        lp.col_lower_, lp.col_upper_ = lower, upper
        lp.row_lower_, lp.row_upper_ = least, most
        chosen = np.broadcast_to(np.asarray(whole), lower.shape)
        if chosen.any():
            kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
            lp.integrality_ = [kinds[each] for each in chosen.astype(np.int64).tolist()]
        form = highspy.MatrixFormat.kRowwise if matrix.by_rows else highspy.MatrixFormat.kColwise
        lp.a_matrix_.format_ = form
        lp.a_matrix_.start_, lp.a_matrix_.index_ = _short(matrix.start), _short(matrix.at)
        lp.a_matrix_.value_ = matrix.value
        self.answer = Answer.GAVE_UP
        """Of the last time it was solved."""
        self._doubted = way.doubted
        self._columns = np.arange(lower.size, dtype=np.int32)
        self._model = _solver(way)
        self._model.passModel(lp)

    # --- solving ------------------------------------------------------------------------------------------------------

    def solve(self, start: Start = "last") -> Answer:
        """Solve it, if the answer is a doubted one a second time from scratch."""
        if start == "slack":
            self._model.setBasis()
        elif start == "scratch":
            self._model.clearSolver()
        self._run()
        if self.answer in self._doubted:
            self._model.clearSolver()
            self._run()
        return self.answer

    def best(self, start: Start = "last") -> Floats | None:
        """Solve it: the best point; None if there is none, or none was found. `answer` says why."""
        return self.point if self.solve(start) is Answer.OPTIMAL else None

    def _run(self) -> None:
        self._model.run()
        self.answer = _ANSWERS.get(self._model.getModelStatus(), Answer.GAVE_UP)

    # --- what was found -----------------------------------------------------------------------------------------------

    @property
    def point(self) -> Floats:
        """The columns."""
        return np.array(self._model.getSolution().col_value)

    @property
    def has_point(self) -> bool:
        """Whether `point` is one: also where the solver gave up it may have come across some."""
        return bool(self._model.getSolution().value_valid)

    @property
    def sums(self) -> Floats:
        """The rows."""
        return np.array(self._model.getSolution().row_value)

    @property
    def multipliers(self) -> Floats:
        """The rows' dual values: the combination of rows that proves the point to be the best."""
        return np.array(self._model.getSolution().row_dual)

    @property
    def reduced_costs(self) -> Floats:
        """The columns' dual values: what a step away from its bound costs."""
        return np.array(self._model.getSolution().col_dual)

    @property
    def ray(self) -> Floats | None:
        """After `Answer.INFEASIBLE` the combination of rows that shows it, if the solver kept one."""
        _, there, found = self._model.getDualRay()
        return np.array(found) if there else None

    # --- the basis behind it: whoever wants the point exactly solves with it again ------------------------------------

    @property
    def basic(self) -> Ints:
        """One number per row: the basic column, or, where it is the row's own slack, -1 minus the row."""
        return np.asarray(self._model.getBasicVariables()[1], dtype=np.int64)

    def solve_basis(self, rows: Floats) -> Floats:
        """What the basic columns (and slacks) must be for the rows to be as given."""
        return np.asarray(self._model.getBasisSolve(rows)[1])

    def solve_transposed(self, costs: Floats) -> Floats:
        """The multipliers of rows that give the basic columns these costs."""
        return np.asarray(self._model.getBasisTransposeSolve(costs)[1])

    @property
    def value(self) -> float:
        """Cost of the point."""
        return float(self._model.getInfo().objective_function_value)

    @property
    def iterations(self) -> int:
        """Steps of the simplex method the last run took, in all nodes together: its effort, on any machine."""
        return int(self._model.getInfo().simplex_iteration_count)

    @property
    def bound(self) -> float:
        """What no point in whole numbers can be below."""
        return float(self._model.getInfo().mip_dual_bound)

    # --- changes ------------------------------------------------------------------------------------------------------

    def set_costs(self, cost: Floats, at: Ints | None = None) -> None:
        """Other costs, of all columns or of some."""
        self._model.changeColsCost(cost.size, self._columns if at is None else _short(at), cost)

    def set_bounds(self, lower: Floats, upper: Floats, at: Ints | None = None) -> None:
        """Other bounds, of all columns or of some."""
        self._model.changeColsBounds(lower.size, self._columns if at is None else _short(at), lower, upper)

    def add_rows(self, rows: Matrix, least: Floats, most: Floats) -> None:
        """Further rows, given row by row."""
        self._model.addRows(least.size, least, most, rows.at.size, _short(rows.start[:-1]), _short(rows.at), rows.value)

    def delete_rows(self, rows: Ints) -> None:
        """Fewer rows; those after them move up."""
        self._model.deleteRows(rows.size, _short(rows))

    def use(self, simplex: Simplex) -> None:
        """Solve by this simplex method from now on."""
        self._model.setOptionValue("simplex_strategy", simplex.value)

    def limit(self, seconds: float) -> None:
        """Give up after this many seconds from now on; the solver counts those of all runs together."""
        self._model.setOptionValue("time_limit", self._model.getRunTime() + float(seconds))

    def suggest(self, point: Floats) -> None:
        """A point to begin with."""
        known = highspy.HighsSolution()
        known.col_value = point.tolist()
        self._model.setSolution(known)

    def watch(self) -> list[Floats]:
        """A list that fills with every better point in whole numbers that the solver comes across."""
        seen: list[Floats] = []
        self._model.cbMipImprovingSolution.subscribe(lambda event: seen.append(np.array(event.data_out.mip_solution)))
        return seen


def _solver(way: Way) -> Any:
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    if not way.presolve:
        model.setOptionValue("presolve", "off")
    if way.only_simplex:
        model.setOptionValue("solver", "simplex")
    if way.simplex is not Simplex.DUAL:
        model.setOptionValue("simplex_strategy", way.simplex.value)
    if way.seconds is not None:
        model.setOptionValue("time_limit", float(way.seconds))
    for field, names in _OPTIONS.items():
        value = getattr(way, field)
        for name in names if value is not None else ():
            model.setOptionValue(name, value)
    return model


def _short(numbers: Ints) -> npt.NDArray[np.int32]:
    return numbers.astype(np.int32)
