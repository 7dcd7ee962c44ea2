"""Which limits to try next: the ladder of largest deviations, per dimension from one up."""

from __future__ import annotations

from collections.abc import Sequence

from diskret.safe.options import LadderSearch

Limits = tuple[int, ...]


def next_rung(
    reached: Limits, failed: Sequence[Limits], options: LadderSearch, k: int, *, first: bool = False
) -> Limits:
    """Limits to try after the ones reached; empty if there is nothing left to try.

    First all multi-dimensional limits together, by a fifth while they are large; where that failed by one, then one
    dimension alone, the one-dimensional limit last.

    >>> next_rung((6, 12, 17), (), LadderSearch(), 3, first=True), next_rung((2, 10, 13), (), LadderSearch(), 3)
    ((2, 12, 14), (2, 10, 11))
    >>> next_rung((1, 3, 3), [(1, 2, 2)], LadderSearch(), 3), next_rung((1, 2, 2), (), LadderSearch(), 3)
    ((1, 2, 3), ())
    """
    floor = _floor(reached, options, k)
    # one-dimensional cells without any deviation leave hardly a move: that comes last
    high = (max(floor[0], min(1, reached[0])), *floor[1:])
    if first:
        one = max(high[0], min(2, reached[0] - 1)) if options.limits is None else high[0]
        proposals = [_all_lower(reached, high, fast=True, one=min(reached[0], one))]
    else:
        proposals = [_all_lower(reached, high, fast=True), _all_lower(reached, high, fast=False)]
    single = [*range(1, len(reached)), 0] if len(reached) > 1 else [0]
    for at in single:
        proposals.append(tuple(max(f, r - (i == at)) for i, (r, f) in enumerate(zip(reached, floor, strict=True))))
    for limits in proposals:
        lower = any(new < old for new, old in zip(limits, reached, strict=True))
        hopeless = any(all(new <= bad for new, bad in zip(limits, each, strict=True)) for each in failed)
        if lower and not hopeless:
            return limits
    return ()


def _floor(reached: Limits, options: LadderSearch, k: int) -> Limits:
    """The lowest limits to try: what was asked for; else k - 1, so that a cell of k may hold a single object."""
    asked = options.limits
    if asked is not None:
        return tuple(min(r, asked[min(i, len(asked) - 1)]) for i, r in enumerate(reached))
    return tuple(min(r, options.one_way if i == 0 else k - 1) for i, r in enumerate(reached))


def _all_lower(reached: Limits, floor: Limits, *, fast: bool, one: int | None = None) -> Limits:
    """The largest multi-dimensional limit lowered, and every other that is above the new one."""
    several = reached[1:] or reached
    top = max(several)
    new = top - (max(1, top // 5) if fast else 1)
    lowered = tuple(max(f, min(r, new)) for r, f in zip(reached, floor, strict=True))
    if len(reached) == 1:
        return lowered
    return (max(floor[0], min(reached[0] if one is None else one, new)), *lowered[1:])
