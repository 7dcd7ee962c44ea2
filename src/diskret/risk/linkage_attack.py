"""The attack on a released file: an attacker with an external file looks for as many of its units as possible.

Mass fishing assigns all external units at once, by distances or by Fellegi and Sunter's probabilities; the single-unit
attack looks for every unit on its own. An assignment is correct if it finds the true unit, and usable only if the value
it brings is close to the true one. What counts is the risk of every combination, such as region by size by industry,
not the mean over the file.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from diskret.model.alike import warn_of_spellings
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption, NothingToLink, ProtectionWarning, listed
from diskret.model.older import with_older
from diskret.model.source import Relation, open_source
from diskret.risk.classes import Column, coded, keys_given, numbered, numbers_of, share_codes
from diskret.risk.judgement import Attack, Evidence, judge
from diskret.risk.linkage import Links, Side, blocks_of, jittered, link, scaled
from diskret.risk.linkage_sources import Asked, Names, Pair, asked_for, size_classes
from diskret.risk.options import LinkageOptions


def attack(
    anonymous: object,
    external: object,
    *,
    keys: Names = (),
    values: Names = (),
    unit: str | Sequence[str] | None = None,
    original: object = None,
    options: LinkageOptions = LinkageOptions(),
    **older: Any,
) -> Attack:
    """Attack a file that is meant for release with an external file about the same units.

    ``keys`` must agree (a key withheld in the released file agrees with everything), ``values`` should be close; a dict
    maps names in the released file to those in the external one. ``unit`` names the column that says who is who in both
    files (in a panel two, such as unit and year): it judges the result and is never used to link. ``original`` is the
    file before it was anonymised, by which values are judged (by default the external one). Options may still be given
    one by one (``older``), until version 1.0.

    >>> firms = {"id": [1, 2, 3, 4], "branch": ["a", "a", "b", "b"], "turnover": [100, 200, 50, 400]}
    >>> released = {"id": [4, 3, 2, 1], "branch": ["b", "b", "a", "a"], "turnover": [390, 70, 210, 120]}
    >>> found = attack(released, firms, keys=["branch"], values=["turnover"], unit="id")
    >>> found.correct, found.usable["turnover"], found.true_match_rate
    (4, 2, 1.0)
    >>> found.exceeding
    ()
    """
    options = with_older(options, older, "attack")
    named = keys_given(unit, "units") if unit is not None else []
    if named and options.aligned:
        raise BadOption("unit and aligned both say who is who", hint="give one of them.")
    asked = asked_for(anonymous, external, original, keys, values, named, options.by)
    if options.engine != "duckdb" and options.method != "fellegi_sunter":
        from diskret.risk.far_linkage import attack_there

        found = attack_there(asked, options)
    else:
        found = _attack_here(asked, options)
    _warn_auction(found, options)
    return found


def _attack_here(asked: Asked, options: LinkageOptions) -> Attack:
    """Both files are read, linked and judged on this machine."""
    released, known = open_source(asked.anonymous), open_source(asked.external)
    truth = known if asked.original is None else open_source(asked.original)
    names = asked.check(released, known, truth, options)
    evidence = _evidence(released, known, truth, asked, options.aligned)
    targets: dict[str, tuple[Floats, Floats]] = {}
    if names:
        both = numbers_of(released, list(names)).T, numbers_of(truth, list(names.values())).T
        targets = dict(zip(names, zip(*both, strict=True), strict=True))
    combinations = _combinations(truth, asked.limits())
    links = _link(released, known, _shared(released, known, asked.keys), asked.values, options)
    return judge(links, evidence, targets, combinations, options)


def _warn_auction(found: Attack, options: LinkageOptions) -> None:
    """An attack that is weaker than it could be makes a file look safer than it is."""
    others = found.units - found.optimal
    if options.method == "assignment" and others:
        warnings.warn(
            f"{others:,} units are in blocks of more than {options.optimal_up_to:,} records and were assigned by "
            "auction; the best assignment may find a few more of them",
            ProtectionWarning,
            stacklevel=3,
        )


def _shared(released: Relation, known: Relation, pairs: Sequence[Pair]) -> list[tuple[Column, Column]]:
    """Key columns of both files with the same codes."""
    if not pairs:
        return []
    own, other = coded(released, [p.released for p in pairs]), coded(known, [p.external for p in pairs])
    made = []
    for pair, a, b in zip(pairs, own, other, strict=True):
        if a.size and b.size and not set(a.labels) & set(b.labels):
            raise NothingToLink(
                f"the files have no code of key {pair.released!r} in common",
                where=f"{released.where}, {known.where}",
                hint="code the key alike in both, or leave it out.",
            )
        warn_of_spellings(pair.released, dict.fromkeys([*a.labels, *b.labels]))
        both = share_codes(a, b)
        made.append((both[0], both[1]))
    return made


def _link(
    released: Relation, known: Relation, codes: list[tuple[Column, Column]], pairs: Sequence[Pair],
    options: LinkageOptions,
) -> Links:  # fmt: skip
    rows, units = (int(r.query(f"SELECT count(*) FROM {r.view}")[0][0]) for r in (released, known))
    own = numbers_of(released, [p.released for p in pairs]) if pairs else np.zeros((rows, 0))
    other = numbers_of(known, [p.external for p in pairs]) if pairs else np.zeros((units, 0))
    generator = np.random.default_rng(options.seed)
    a_keys, b_keys = (
        np.stack([c[side].codes for c in codes], axis=1) if codes else np.zeros((n, 0), np.int32)
        for side, n in ((0, rows), (1, units))
    )
    a_block, b_block, count = _blocks(codes, rows, units)
    a_points, b_points = scaled(own, other, options.scale)
    a = Side(points=jittered(a_points, generator), keys=a_keys)
    b = Side(points=jittered(b_points, generator), keys=b_keys)
    blocks = (a_block, b_block, count)
    if options.method == "fellegi_sunter":
        from diskret.risk.fellegi_sunter import link_by_probability

        return link_by_probability(a, b, own, other, blocks, options.engine)
    return link(a, b, blocks, one_to_one=options.method == "assignment", optimal_up_to=options.optimal_up_to)


def _blocks(codes: list[tuple[Column, Column]], rows: int, units: int) -> tuple[Ints, Ints, int]:
    if not codes:
        return np.zeros(rows, np.int64), np.zeros(units, np.int64), 1
    return blocks_of([a for a, _ in codes], [b for _, b in codes])


# --- who is who ------------------------------------------------------------------------------------------------------


def _evidence(released: Relation, known: Relation, truth: Relation, asked: Asked, aligned: bool) -> Evidence:
    """Row of every external unit in the released file and in the file its values are judged by; -1 if not there."""
    rows, units, true_rows = (int(r.query(f"SELECT count(*) FROM {r.view}")[0][0]) for r in (released, known, truth))
    if aligned:
        if not rows == units == true_rows:
            raise BadOption(
                f"aligned files have the same number of records, not {listed(sorted({rows, units, true_rows}))}",
                hint="name the column that says who is who with unit=..., or give files in the same order.",
            )
        same = np.arange(units)
        return Evidence(released=same, truth=same, checkable=units)
    unit, has_original = asked.unit, asked.original is not None
    own = np.arange(units) if not has_original else np.full(units, -1)
    if not unit:
        return Evidence(released=np.full(units, -1), truth=own, checkable=0, known=False)
    ids = _identities((released, known, truth) if has_original else (released, known), unit)
    found = _row_of(ids[0], ids[1])
    if not (found >= 0).any():
        raise asked.nobody(released.where, known.where)
    in_truth = _row_of(ids[2], ids[1]) if has_original else own
    return Evidence(released=found, truth=in_truth, checkable=int((found >= 0).sum()))


def _identities(files: Sequence[Relation], unit: Sequence[str]) -> list[Ints]:
    """A number for every unit, the same in all files; -1 where a record does not say who it is."""
    for relation in files:
        relation.require(list(unit))
    columns = [share_codes(*each) for each in zip(*(coded(f, unit) for f in files), strict=True)]
    lengths = np.cumsum([c.codes.size for c in columns[0]])[:-1]
    whole = [np.concatenate([c.codes for c in each]).astype(np.int64) for each in columns]
    ids, _ = numbered(whole)
    ids[np.any([codes < 0 for codes in whole], axis=0)] = -1
    split = [np.ascontiguousarray(part) for part in np.split(ids, lengths)]
    for relation, own in zip(files, split, strict=True):
        _refuse_named_twice(own, unit, relation.where)
    return split


def _refuse_named_twice(ids: Ints, unit: Sequence[str], where: str) -> None:
    again = int((ids >= 0).sum() - np.unique(ids[ids >= 0]).size)
    if again:
        raise BadOption(
            f"{listed(unit)} names {again:,} units more than once",
            where=where,
            hint="give one row per unit; in a panel a unit is named by two columns, such as unit and year.",
        )


def _row_of(here: Ints, wanted: Ints) -> Ints:
    """Row in one file of every unit of the other, -1 if it is not there."""
    place = np.full(int(max(here.max(), wanted.max())) + 2, -1, np.int64)
    present = here >= 0
    place[here[present]] = np.flatnonzero(present)
    return place[wanted]  # who is not named is -1: the last place, which stays -1


def _combinations(truth: Relation, limits: Mapping[str, Sequence[float] | None]) -> dict[str, Column]:
    """The columns that form combinations; numbers in classes where limits are given."""
    found = {}
    for name, edges in limits.items():
        if edges is None:
            column = coded(truth, [name])[0]
            found[name] = Column(codes=column.codes, labels=np.array([str(x) for x in column.labels], dtype=object))
        else:
            found[name] = size_classes(numbers_of(truth, [name])[:, 0], list(edges), name)
    return found
