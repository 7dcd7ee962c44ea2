#!/usr/bin/env python3
"""The software bill of materials of an installed diskret: CycloneDX 1.6 as JSON on standard output.

python tools/sbom.py [EXTRA ...] lists diskret and all it needs, as installed beside this Python; with names of extras
only these, otherwise every extra but ``dev`` as far as it is installed. Standard library only. Nothing about this
machine stands in it; equal environments give equal bytes, with a time only if SOURCE_DATE_EPOCH says which.
"""

from __future__ import annotations

import json
import os
import re
import sys
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from platform import python_version
from typing import Any

ROOT = "diskret"
REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")


def normal(name: str) -> str:
    """A name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(found: Distribution, extras: set[str]) -> Iterator[tuple[str, set[str]]]:
    """What a distribution needs, each with its extras; what is for another platform is not installed anyway."""
    for line in found.requires or ():
        said, _, marker = line.partition(";")
        wanted = set(re.findall(r"extra\s*==\s*['\"]([^'\"]+)['\"]", marker))
        match = REQUIREMENT.match(said)
        if match and (not wanted or {normal(e) for e in wanted} & extras):
            yield match[1], {normal(e) for e in (match[2] or "").split(",") if e.strip()}


def installed(
    root: str, extras: set[str], find: Callable[[str], Distribution] = distribution
) -> dict[str, tuple[Distribution, list[str]]]:
    """Everything that is needed and there: by its name the distribution, and the names of what it needs."""
    found: dict[str, tuple[Distribution, list[str]]] = {}
    asked: dict[str, set[str]] = {}
    waiting = [(root, extras)]
    while waiting:
        name, more = waiting.pop()
        ref = normal(name)
        if ref in found and more <= asked[ref]:
            continue
        try:
            each = find(name)
        except PackageNotFoundError:  # for another platform, or an extra that is not installed
            continue
        asked[ref] = asked.get(ref, set()) | more
        parts = list(needed(each, asked[ref]))
        found[ref] = each, sorted({normal(part) for part, _ in parts})
        waiting += parts
    return found


def licences(each: Distribution) -> list[dict[str, Any]]:
    """The licence as the distribution says it: an expression, a short name, or classifiers."""
    expression, named = ((each.metadata.get_all(key) or [""])[0].strip() for key in ("License-Expression", "License"))
    if expression:
        return [{"expression": expression}]
    classifiers = [c.rpartition(" :: ")[2] for c in each.metadata.get_all("Classifier") or () if "License ::" in c]
    names = [named] if named and "\n" not in named and len(named) < 80 else classifiers
    return [{"license": {"name": name}} for name in names]


def component(each: Distribution, kind: str = "library") -> dict[str, Any]:
    """One distribution."""
    name = normal(each.metadata["Name"])
    purl = f"pkg:pypi/{name}@{each.version}"
    said = {"type": kind, "bom-ref": purl, "name": name, "version": each.version, "purl": purl}
    return said | ({"licenses": licences(each)} if licences(each) else {})


def bill(extras: set[str], find: Callable[[str], Distribution] = distribution) -> dict[str, Any]:
    """The whole bill; ``find`` says where distributions are looked for, installed ones if left out."""
    found = installed(ROOT, extras, find)
    refs = {name: component(each)["bom-ref"] for name, (each, _) in found.items()}
    python = {"type": "platform", "bom-ref": "python", "name": "python", "version": python_version()}
    parts = [component(found[name][0]) for name in sorted(found) if name != ROOT]
    edges = [{"ref": refs[n], "dependsOn": [refs[p] for p in found[n][1] if p in refs]} for n in sorted(found)]
    metadata: dict[str, Any] = {"component": component(found[ROOT][0], "application")}
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        metadata["timestamp"] = datetime.fromtimestamp(int(epoch), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    content = {"metadata": metadata, "components": [*parts, python], "dependencies": edges}
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{serial}", "version": 1}
    return head | content


if __name__ == "__main__":
    known = {normal(e) for e in distribution(ROOT).metadata.get_all("Provides-Extra") or ()}
    chosen = {normal(e) for e in sys.argv[1:]}
    if chosen - known:
        sys.exit(f"sbom: no extra {', '.join(sorted(chosen - known))}; diskret has {', '.join(sorted(known))}")
    print(json.dumps(bill(chosen or known - {"dev"}), indent=2, ensure_ascii=False))
