"""Who is behind the cells: persons who are alone in some, owners of several, and the sums they stand behind.

A person is a respondent, or a holding where holdings are known. Whoever is alone in a cell and in a sum above it is one
person by the counts; whoever is alone in two cells apart is one person if the table has the numbers of owners. Values
that respondents publish themselves are known to everybody, so that the only one who does not publish is alone.
"""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.cells import Cells
from diskret.model.contributors import Contributors, few_numbers
from diskret.model.trees import strides_of
from diskret.moves import _standing_kernels


def alone_in(table: Cells) -> Bools:
    """Cells (flat) with one contributor, respondent or holding, besides those who publish their value.

    >>> from diskret import Table
    >>> cells = {"s": ["a", "b"], "x": [1, 2], "n": [1, 4]}
    >>> alone_in(Table.from_cells(cells, by={"s": None}, value="x", count="n")).tolist()
    [True, False, False]
    """
    alone = np.zeros(table.size, dtype=np.bool_)
    for people in (table.respondents, table.holdings):
        if people is not None:
            alone |= _alone(people)
    if table.respondents is None and table.frequency:
        alone |= table.value.reshape(-1) == 1
    return alone


def _alone(people: Contributors) -> Bools:
    result: Bools = people.others.reshape(-1) == 1
    return result


def owned(table: Cells) -> bool:
    """Whether the table has numbers of owners."""
    return bool(_owners(table))


def _owners(table: Cells) -> list[tuple[Contributors, Ints]]:
    """Numbers of owners with the contributors they are numbers of: holdings, then respondents."""
    levels = (table.holdings, table.respondents)
    known = [people for people in levels if people is not None]
    return [(people, few_numbers(people.owner)) for people in known if people.owner is not None]


def persons_of(table: Cells, *, owners: bool = True) -> Ints:
    """For every cell the number of the one person behind it, -1 where there are none or several.

    The number of a person is the first cell he is alone in. Someone alone in a cell and in its margins has one number,
    because the counts say that nobody else is there; and so has the owner of several cells, if owners are known (and
    asked for).

    >>> from diskret import Table
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 4], "n": [1, 1, 1], "firm": ["Q", "R", "Q"]}
    >>> persons_of(Table.from_cells(cells, by={"s": None}, value="x", count="n", owner="firm")).tolist()
    [0, 1, 0, -1]
    """
    person = table.one_person(alone_in(table).reshape(table.shape))
    groups = [person.copy()]
    if owners:
        groups += [np.where(_alone(people), owner.reshape(-1), -1) for people, owner in _owners(table)]
    while len(groups) > 1:
        before = person.copy()
        for group in groups:
            among = group >= 0
            person[among] = _first_of(group[among], person[among], table.size)
        if (person == before).all():
            break
    return person


def leaders_of(table: Cells, persons: Ints) -> Ints:
    """For every cell the number of the one who contributes most: a person of `persons_of`, or a number of his own.

    Numbers from the size of the table on are of those who are alone nowhere. Without numbers of owners the largest
    contributor of every cell is somebody else.
    """
    own = table.size + np.arange(table.size)
    number = np.where(persons >= 0, persons, own)
    for _, owner in _owners(table)[:1]:
        known = owner.reshape(-1) >= 0
        # a person comes before whoever is alone nowhere, and has the first of his cells as number
        number[known] = _first_of(owner.reshape(-1)[known], number[known], 2 * table.size)
    return np.where(persons >= 0, persons, number)


def _first_of(group: Ints, number: Ints, end: int) -> Ints:
    """The smallest number of everybody's group."""
    first = np.full(int(group.max(initial=-1)) + 1, end, dtype=np.int64)
    np.minimum.at(first, group, number)
    return first[group]


def standing(table: Cells, who: Ints, cells: Ints, wanted: Bools) -> Ints:
    """Wanted cells (flat) in which somebody has a share, given some cells he is in: these, and all sums above them.

    As ascending numbers, who times cells plus cell.
    """
    if not table.product:
        behind = _reached(table, who, cells)
        return behind[wanted[behind % table.size]]
    chains, starts, offsets, codes, done = [], [], [], 0, 0
    for hierarchy in table.hierarchies:
        chain, start = hierarchy.ancestors
        chains.append(chain)
        starts.append(start + done)
        offsets.append(codes)
        codes += start.size
        done += chain.size
    given = (
        who, cells, strides_of(table.shape), np.concatenate(chains), np.concatenate(starts), np.array(offsets), wanted
    )  # fmt: skip
    keys = np.empty(_standing_kernels.wanted_above(*given, np.empty(0, np.int64)), dtype=np.int64)
    _standing_kernels.wanted_above(*given, keys)
    return np.unique(keys)


def holds(behind: Ints, keys: Ints) -> Bools:
    """Which numbers are among ascending ones."""
    if not behind.size:
        return np.zeros(keys.shape, dtype=np.bool_)
    result: Bools = behind[np.minimum(np.searchsorted(behind, keys), behind.size - 1)] == keys
    return result


def stand_behind(table: Cells, persons: Ints, cells: Ints) -> Bools:
    """Which cells (along the first axis) contain which persons (along the second, by ascending number).

    ``persons`` are those of `persons_of`; all flat.
    """
    numbers = np.unique(persons[persons >= 0])
    leaders = leaders_of(table, persons)
    mine = np.flatnonzero(holds(numbers, leaders))
    wanted = np.zeros(table.size, dtype=np.bool_)
    wanted[cells] = True
    behind = standing(table, np.searchsorted(numbers, leaders[mine]), mine, wanted)
    return holds(behind, np.arange(numbers.size)[None, :] * table.size + cells[:, None])


def _reached(table: Cells, who: Ints, cells: Ints) -> Ints:
    """Everybody's own cells and all sums above them, as numbers (who times cells plus cell)."""
    part, whole = table.sums_of
    order = np.argsort(part, kind="stable")
    start = np.searchsorted(part[order], np.arange(table.size + 1))
    found = fresh = np.unique(who * table.size + cells)
    while fresh.size:
        at = fresh % table.size
        length = start[at + 1] - start[at]
        entry = np.repeat(start[at] - (np.cumsum(length) - length), length) + np.arange(int(length.sum()))
        above = np.unique(np.repeat(fresh - at, length) + whole[order[entry]])
        fresh = above[~holds(found, above)]
        # two ascending parts are merged, not sorted
        found = np.sort(np.concatenate([found, fresh]), kind="stable")
    return found
