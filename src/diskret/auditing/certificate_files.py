"""Certificates and promises as JSON, read strictly: what is not in the format of ``docs/certificate.md`` is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.auditing.certificate import Certificate
from diskret.auditing.checking import WholeMove
from diskret.auditing.exact_proof import Leaf, Refutation, Split
from diskret.auditing.plain import decimal
from diskret.io.files import whole_file
from diskret.io.structured import from_json
from diskret.io.text import inside, read_bytes
from diskret.model.errors import BadOption, UnreadableFile
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise

FORMAT = "diskret certificate 3"
OLDER = re.compile(rb'\s*\{\s*"format":\s*"diskret certificate [12]"')
NOTE = "confidential: moves tell something about hidden values"
LONGEST = 1000
"""Characters of a number; longer ones are not worth reading."""
LONGEST_PROMISED = 300
DECIMAL = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", re.ASCII)
KEYS = {"guard", "coalitions", "levels", "sliding", "min_relative_range", "min_range", "knowledge", "unions"}


def write_certificate(certificates: Mapping[str, Certificate], path: str | PathLike[str]) -> None:
    """Write the certificates of one or more tables as JSON, whole or not at all. Confidential."""
    tables = {name: _plain(each) for name, each in certificates.items()}
    with whole_file(Path(path), private=True) as part:
        part.write_text(json.dumps({"format": FORMAT, "note": NOTE, "tables": tables}), encoding="utf-8", newline="")


def read_certificate(path: str | PathLike[str]) -> dict[str, Certificate]:
    """Read certificates by the names of their tables; refuses anything else, and those of older versions."""
    try:
        with inside(Path(path)):
            content = _load(path)
        _need(isinstance(content, dict) and content.keys() == {"format", "note", "tables"})
        _need(content["format"] == FORMAT and isinstance(content["note"], str))
        _need(isinstance(content["tables"], dict) and len(content["tables"]) > 0)
        return {name: _certificate(each) for name, each in content["tables"].items()}
    except ValueError:
        if OLDER.match(read_bytes(Path(path))):
            what, hint = "the certificate was made by an older version of diskret", "audit the table again."
        else:
            what, hint = "this is not a certificate of diskret", "write one with diskret audit --certificate."
        raise UnreadableFile(what, where=str(path), hint=hint) from None


def read_promise(path: str | PathLike[str]) -> Promise:
    """A promise from JSON, as ``tools/check_certificate.py`` takes it; what is left out is as in `Promise()`."""
    try:
        with inside(Path(path)):
            content = _load(path)
        _need(isinstance(content, dict))
        return _promise(plain_promise(Promise()) | content)
    except ValueError:
        raise UnreadableFile(
            "this is not a promise", where=str(path), hint="see docs/certificate.md, or give a job file (.toml)."
        ) from None


def plain_promise(promise: Promise) -> dict[str, Any]:
    """A promise as plain data with exact numbers. Confidential, like its ranges.

    >>> plain_promise(Promise(min_relative_range=0.1))["min_relative_range"]
    '0.1'
    """
    known = promise.knowledge
    return {
        "guard": promise.guard,
        "coalitions": [[list(codes) for codes in cells] for cells in promise.coalitions],
        "levels": promise.levels,
        "sliding": promise.sliding,
        "min_relative_range": decimal(promise.min_relative_range),
        "min_range": None if promise.min_range is None else decimal(promise.min_range),
        "knowledge": {"kind": known.kind, "error": decimal(known.error), "absolute": decimal(known.absolute)},
        "unions": promise.unions,
    }


def _plain(certificate: Certificate) -> dict[str, Any]:
    return {
        "table": certificate.table,
        "promise": plain_promise(certificate.promise),
        "moves": [{"cells": list(move.cells), "steps": list(move.steps)} for move in certificate.moves],
        "proofs": [
            {"cell": p.cell, "by": p.by, "side": 1 if p.upward else -1, "tree": [_node(node) for node in p.tree]}
            for p in certificate.proofs
        ],
        "versions": dict(certificate.versions),
    }


def _node(node: Leaf | Split) -> list[Any]:
    return [node.q, list(node.rows), list(node.times)] if isinstance(node, Leaf) else [node.cell, node.at]


def _load(path: str | PathLike[str]) -> Any:
    """The content of a JSON file without floats, numbers of no end and keys that come twice."""

    def no_number(text: str) -> None:
        raise ValueError(text)

    def number(text: str) -> int:
        _need(len(text) <= LONGEST)
        return int(text)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        _need(len(dict(pairs)) == len(pairs))
        return dict(pairs)

    return from_json(
        read_bytes(Path(path)).decode("utf-8"),
        object_pairs_hook=once, parse_int=number, parse_float=no_number, parse_constant=no_number,
    )  # fmt: skip


def _need(condition: bool) -> None:
    if not condition:
        raise ValueError


def _certificate(content: Any) -> Certificate:
    _need(isinstance(content, dict) and content.keys() == {"table", "promise", "moves", "proofs", "versions"})
    versions = content["versions"]
    _need(isinstance(content["table"], str) and isinstance(versions, dict))
    _need(all(isinstance(each, str) for each in versions.values()))
    return Certificate(
        table=content["table"],
        promise=_promise(content["promise"]),
        moves=tuple(_move(each) for each in _list(content["moves"])),
        proofs=tuple(_proof(each) for each in _list(content["proofs"])),
        versions=versions,
    )


def _list(content: Any) -> list[Any]:
    _need(isinstance(content, list))
    return list(content)


def _wholes(content: Any) -> tuple[int, ...]:
    _need(isinstance(content, list) and all(type(each) is int for each in content))
    return tuple(content)


def _move(content: Any) -> WholeMove:
    _need(isinstance(content, dict) and content.keys() == {"cells", "steps"})
    return WholeMove(cells=_wholes(content["cells"]), steps=_wholes(content["steps"]))


def _proof(content: Any) -> Refutation:
    _need(isinstance(content, dict) and content.keys() == {"cell", "by", "side", "tree"})
    _need(type(content["cell"]) is int and isinstance(content["by"], str))
    _need(type(content["side"]) is int and content["side"] in (1, -1))
    tree: list[Leaf | Split] = []
    for node in _list(content["tree"]):
        _need(isinstance(node, list) and len(node) in (2, 3))
        if len(node) == 2:
            tree.append(Split(cell=_wholes(node)[0], at=node[1]))
        else:
            _need(type(node[0]) is int and node[0] >= 0)
            tree.append(Leaf(q=node[0], rows=_wholes(node[1]), times=_wholes(node[2])))
    return Refutation(cell=content["cell"], by=content["by"], upward=content["side"] == 1, tree=tuple(tree))


def _promise(content: Any) -> Promise:
    _need(isinstance(content, dict) and content.keys() == KEYS)
    known = content["knowledge"]
    _need(isinstance(known, dict) and known.keys() == {"kind", "error", "absolute"} and isinstance(known["kind"], str))
    _need(isinstance(content["guard"], str))
    coalitions = [[_texts(codes) for codes in _list(cells)] for cells in _list(content["coalitions"])]
    _need(all(coalitions))
    try:
        return Promise(
            guard=content["guard"],
            coalitions=tuple(map(tuple, coalitions)),
            levels=content["levels"],
            sliding=content["sliding"],
            min_relative_range=_promised(content["min_relative_range"]),
            min_range=None if content["min_range"] is None else _promised(content["min_range"]),
            knowledge=Knowledge(
                kind=known["kind"],
                error=_promised(known["error"]),
                absolute=_promised(known["absolute"]),
            ),
            unions=content["unions"],
        )
    except BadOption:
        raise ValueError from None


def _texts(content: Any) -> tuple[str, ...]:
    _need(isinstance(content, list) and all(isinstance(each, str) for each in content))
    return tuple(content)


def _promised(content: Any) -> float:
    """A decimal that is a double."""
    _need(isinstance(content, str) and len(content) <= LONGEST_PROMISED and DECIMAL.fullmatch(content) is not None)
    found = float(content)
    _need(Fraction(repr(found)) == Fraction(content))
    return found
