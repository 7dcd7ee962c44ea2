"""Trees as tau-ARGUS writes them (``.hrc``): one code per line, as many lead strings before it as levels above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from diskret.model.errors import BadOption, BrokenLevels, DuplicateCode, EmptyData, HierarchyCycle, TwoParents

DEEPEST = 100
"""Levels within a further sum."""


@dataclass(frozen=True)
class HrcTree:
    """What each code adds to, and further sums with their parts that add to nothing."""

    parent: Mapping[str, str]
    further: Mapping[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Line:
    number: int
    depth: int
    code: str
    above: str


def hrc_tree(text: str, lead: str, total: str) -> HrcTree:
    """Read the lines; codes may stand in quotes, and the total above all others if it stands there at all.

    A sum all of whose parts stand under other sums too is a further sum: it adds to nothing, or they would count twice.

    >>> tree = hrc_tree("EU\\n@DE\\n@PL\\nnot EU\\n@UK\\nEuro\\n@DE\\n", "@", "Total")
    >>> tree.parent["DE"], tree.further
    ('EU', {'Euro': ['DE']})
    """
    lines = _lines(text, lead, total)
    if not lines:
        raise EmptyData("the .hrc file has no codes", hint="one code per line, parts below their sum.")
    edges = _edges(lines, total)
    further = _further(edges, total)
    parent: dict[str, str] = {}
    for (code, above), number in edges.items():
        if above in further or (above == total and code in further):
            continue
        if code in parent:
            raise TwoParents(
                f"code {code!r} has two parents, {parent[code]!r} and {above!r}",
                where=f"line {number}",
                hint="a code adds to one sum; a sum that only regroups codes of other sums holds no code of its own.",
            )
        parent[code] = above
    return HrcTree(parent, further)


def _lines(text: str, lead: str, total: str) -> list[_Line]:
    if not lead:
        raise BadOption("the lead string of a .hrc file is empty", hint="it is '@' in most files.")
    found: list[tuple[int, int, str]] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.rstrip()
        if not line.strip():
            continue
        depth = 0
        while line.startswith(lead, depth * len(lead)):
            depth += 1
        code = _unquoted(line[depth * len(lead) :].strip())
        if not code:
            raise BrokenLevels(
                "a line holds only lead strings", where=f"line {number}", hint="write a code after them."
            )
        found.append((number, depth, code))
    if len(found) > 1 and found[0][1:] == (0, total) and all(depth for _, depth, _ in found[1:]):
        # the total stands above all others, though the format leaves it out
        found = [(number, depth - 1, code) for number, depth, code in found[1:]]
    return _with_parents(found, lead, total)


def _unquoted(code: str) -> str:
    return code[1:-1].strip() if len(code) > 1 and code[0] == code[-1] == '"' else code


def _with_parents(found: list[tuple[int, int, str]], lead: str, total: str) -> list[_Line]:
    above = [total]
    lines: list[_Line] = []
    for number, depth, code in found:
        if depth + 1 > len(above):
            deeper = depth + 1 - len(above)
            raise BrokenLevels(
                f"code {code!r} is {deeper} {'level' if deeper == 1 else 'levels'} deeper than the line above allows",
                where=f"line {number}",
                hint=f"at most one more {lead!r} than the line above.",
            )
        if code == total:
            raise DuplicateCode(
                f"the total {total!r} is one of the codes", where=f"line {number}",
                hint="leave it out: the file names no total.",
            )  # fmt: skip
        lines.append(_Line(number, depth, code, above[depth]))
        above[depth + 1 :] = [code]
    return lines


def _edges(lines: list[_Line], total: str) -> dict[tuple[str, str], int]:
    """Every code with a sum it stands under, and the first line that says so; a sum of itself alone says nothing."""
    times: dict[str, int] = {total: 1}
    edges: dict[tuple[str, str], int] = {}
    parts: dict[str, set[str]] = {}
    for line in lines:
        times[line.code] = times.get(line.code, 0) + 1
        parts.setdefault(line.above, set()).add(line.code)
        # a sum that stands twice may have its parts below it both times
        if (line.code, line.above) in edges and times[line.above] == 1:
            raise DuplicateCode(
                f"code {line.code!r} is listed twice",
                where=f"line {line.number}",
                hint="give every code of a hierarchy its own name.",
            )
        edges.setdefault((line.code, line.above), line.number)
    for (code, above), number in list(edges.items()):
        if code == above and parts[above] != {code}:
            raise HierarchyCycle(
                f"code {code!r} is a part of itself", where=f"line {number}", hint="give the sum another code."
            )
    return {edge: number for edge, number in edges.items() if edge[0] != edge[1]}


def _further(edges: Mapping[tuple[str, str], int], total: str) -> dict[str, list[str]]:
    """Sums all of whose parts stand elsewhere too; of two such sums with the same codes the later one."""
    parts: dict[str, list[str]] = {}
    sums_of: dict[str, list[str]] = {}
    for code, above in edges:
        parts.setdefault(above, []).append(code)
        sums_of.setdefault(code, []).append(above)
    twice = {code for code, above in sums_of.items() if len(above) > 1}
    further: dict[str, list[str]] = {}

    def regroups(whole: str, beneath: frozenset[str]) -> dict[str, list[str]] | None:
        """A sum and those that only it is made of, with their parts; None if a code stands here alone."""
        own = {whole: parts[whole]}
        inside = beneath | {whole}
        for part in parts[whole]:
            if part in inside:
                return None
            if any(above not in inside and above not in further for above in sums_of[part]):
                continue
            deeper = regroups(part, inside) if part in parts and len(inside) < DEEPEST else None
            if deeper is None:
                return None
            own |= deeper
        return own

    for whole in reversed(parts.get(total, []) if twice else []):
        if whole in parts and (found := regroups(whole, frozenset())) is not None:
            further |= found
    return further
