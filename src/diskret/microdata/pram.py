"""Post-randomisation (PRAM): each code of a record changes with known probabilities.

An invariant matrix keeps the expected frequency of every class, so that tables need no correction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from diskret.microdata.columns import Column, Protected, Records, coded, crossed, generator, read_records
from diskret.model.arrays import Floats, Ints
from diskret.model.coded import Coded
from diskret.model.errors import BadOption, UnknownCode, listed

Matrix = Mapping[str, Mapping[str, float]]
"""From code to code: the probability of the change; each row sums to one, codes left out have probability zero."""


def post_randomise(
    source: object,
    columns: Sequence[str],
    *,
    seed: int,
    keep: float | None = None,
    matrix: Matrix | None = None,
    invariant: bool = True,
    within: Sequence[str] = (),
) -> Protected:
    """Change codes at random.

    ``keep`` is the probability that a code is left to itself; otherwise a class is drawn with the frequencies of the
    file, which keeps expected frequencies. Or ``matrix`` gives the probability of every change; with ``invariant`` it
    is followed by its own reversal (Kooiman, Willenborg and Gouweleeuw 1997), so that frequencies are kept too.
    Codes change only ``within`` classes of the columns named there. Missing codes stay missing.

    >>> done = post_randomise({"job": ["a", "a", "a", "b", "b", "c"]}, ["job"], keep=0.5, seed=3)
    >>> done.frame["job"].tolist()
    ['a', 'a', 'b', 'b', 'a', 'c']
    """
    if (keep is None) == (matrix is None):
        raise BadOption("post-randomisation needs keep or a matrix", hint="give one of the two, such as keep=0.9.")
    if keep is not None and not 0 <= keep <= 1:
        raise BadOption("keep is a probability", hint="such as 0.9.")
    if not columns:
        raise BadOption("no column to randomise", hint="name at least one.")
    return randomise(read_records(source), columns, generator(seed), keep, matrix, invariant, within)


def randomise(
    records: Records, columns: Sequence[str], numbers: np.random.Generator, keep: float | None, matrix: Matrix | None,
    invariant: bool, within: Sequence[str],
) -> Protected:  # fmt: skip
    """The same with random numbers given: every column takes one of them for every record, in the order of columns."""
    records.require([*columns, *within])
    strata = crossed(records, within)
    changed: dict[str, Column] = {}
    facts: dict[str, object] = {}
    for name in columns:
        found = coded(records[name])
        given = None if matrix is None else _checked(matrix, found.codes, name)
        new = found.index.copy()
        draw = numbers.random(records.rows)
        for stratum in range(int(strata.max()) + 1):
            rows = np.flatnonzero((strata == stratum) & (found.index >= 0))
            frequency = np.bincount(found.index[rows], minlength=len(found.codes)) / max(1, rows.size)
            new[rows] = _drawn(_chances(keep, given, invariant, frequency), found.index[rows], draw[rows])
        changed[name] = Coded(codes=found.codes, index=new).column()
        facts[name] = {"codes changed": int((new != found.index).sum())}
    return Protected(frame=records.with_columns(changed), method="post-randomisation", facts=facts)


def _chances(keep: float | None, given: Floats | None, invariant: bool, frequency: Floats) -> Floats:
    """The probability of every change in a stratum with these frequencies."""
    if given is not None:
        return invariant_matrix(given, frequency) if invariant else given
    assert keep is not None
    chances: Floats = keep * np.eye(len(frequency)) + (1 - keep) * frequency[None, :]
    return chances


def invariant_matrix(matrix: Floats, frequency: Floats) -> Floats:
    """A matrix followed by its reversal under the frequencies: the product keeps them.

    >>> t = np.array([0.5, 0.3, 0.2])
    >>> p = np.array([[0.8, 0.1, 0.1], [0.3, 0.7, 0.0], [0.0, 0.2, 0.8]])
    >>> (t @ invariant_matrix(p, t)).round(12).tolist()
    [0.5, 0.3, 0.2]
    """
    joint = frequency[:, None] * matrix
    after = joint.sum(axis=0)
    back = np.divide(joint.T, after[:, None], out=np.zeros_like(joint.T), where=after[:, None] > 0)
    product: Floats = np.einsum("ij,jk->ik", matrix, back)
    return product


def _drawn(chances: Floats, old: Ints, draw: Floats) -> Ints:
    """New codes by the row of the old one: the number of borders of its cumulated row that the draw has passed."""
    borders = np.cumsum(chances, axis=1)
    new = np.empty_like(old)
    for code in np.unique(old):
        rows = np.flatnonzero(old == code)
        last = int(np.flatnonzero(chances[code] > 0)[-1])
        new[rows] = np.minimum(np.searchsorted(borders[code], draw[rows], side="right"), last)
    return new


def _checked(matrix: Matrix, codes: Sequence[str], column: str) -> Floats:
    """The matrix over the codes of a column; refuses unknown codes, and rows that are not a distribution."""
    where = f"column {column!r}"
    missing = [c for c in codes if c not in matrix]
    if missing:
        raise BadOption(f"the matrix has no row {listed(missing)}", where=where, hint="one row per code.")
    known = {*codes}
    unknown = [c for code in codes for c, p in matrix[code].items() if c not in known and p != 0]
    if unknown:
        raise UnknownCode.in_column(column, unknown, codes)
    found = np.array([[matrix[code].get(target, 0.0) for target in codes] for code in codes]).reshape(len(codes), -1)
    # what is no number is no probability either
    bad = ~((np.abs(found.sum(axis=1) - 1) <= 1e-9) & (found >= 0).all(axis=1))
    wrong = np.array(codes, dtype=object)[bad].tolist()
    if wrong:
        hint = "probabilities are not negative and sum to one."
        raise BadOption(f"row {listed(wrong)} of the matrix is not a distribution", where=where, hint=hint)
    return found
