"""Kernel: which of many moves leave all equations true."""

from __future__ import annotations

from diskret.model.compiled import kernel


@kernel
def balance(move, line, amount, added, good):
    """Take back ``good`` where what a move adds to an equation is not zero; the entries of a move stand together.

    ``added`` has a zero for every equation, and is left so.
    """
    begin = 0
    while begin < move.size:
        end = begin
        while end < move.size and move[end] == move[begin]:
            added[line[end]] += amount[end]
            end += 1
        for at in range(begin, end):
            if added[line[at]] != 0:
                good[move[begin]] = False
                added[line[at]] = 0
        begin = end
