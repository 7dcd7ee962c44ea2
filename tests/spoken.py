"""The messages of the code, found in its source: what is raised, what is warned of, what cures are called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import diskret

ROOT = Path(diskret.__file__).parent
TEXTS = ("what", "where", "hint", "label")
WORD = re.compile(r"[a-z]{2,}")
PLACE = re.compile(r"\{\w+\}")


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A message as the code writes it, with {places} for what it names."""

    text: str
    place: str


def spoken(without: tuple[str, ...] = ()) -> Iterator[Spoken]:
    """Every message that has words of its own; whole files or rooms can be left out."""
    trees = {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}
    kinds = _errors(trees) | {"ProtectionWarning", "Cure", "Problem"}
    for place, tree in trees.items():
        if place.startswith(without):
            continue
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            for text in (each for node in _said(call, kinds, place) for each in _variants(node)):
                if WORD.search(PLACE.sub("", text)):
                    yield Spoken(text=text, place=f"{place}:{call.lineno}")


def _errors(trees: dict[str, ast.Module]) -> set[str]:
    """The names of all classes of errors."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"DiskretError"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def _said(call: ast.Call, kinds: set[str], place: str) -> list[ast.expr]:
    """The texts of a call that makes a message."""
    function = call.func
    name = (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )
    named = [each.value for each in call.keywords if each.arg in TEXTS]
    if name == "Problem":
        return [*named, *call.args[1:]]
    if isinstance(function, ast.Name) and (name in kinds or (name == "cls" and place == "model/errors.py")):
        return [*named, *call.args[:1]]
    if isinstance(function, ast.Attribute) and name == "warn":
        return call.args[:1]
    return []


def _variants(node: ast.expr) -> list[str]:
    """What an expression can say, as far as its words stand in it."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return ["".join(parts) for parts in product(*map(_part, node.values))]
    if isinstance(node, ast.BinOp):
        return [a + b for a, b in product(_variants(node.left), _variants(node.right))]
    if isinstance(node, ast.IfExp):
        return _variants(node.body) + _variants(node.orelse)
    if isinstance(node, ast.BoolOp):
        return [text for each in node.values for text in _variants(each)]
    return ["{v}"]


def _part(node: ast.expr) -> list[str]:
    if isinstance(node, ast.FormattedValue):
        inner = node.value
        return _variants(inner) if isinstance(inner, ast.IfExp) and node.conversion == -1 else ["{v}"]
    return _variants(node)
