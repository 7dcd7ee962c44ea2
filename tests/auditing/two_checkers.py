"""Both checkers at once: whatever they are given, they must say the same."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from diskret import Promise, Table, verify
from diskret.auditing.certificate import Certificate, Verification
from diskret.auditing.certificate_files import plain_promise, write_certificate
from diskret.auditing.plain import plain_table

TOOL = Path(__file__).parents[2] / "tools" / "check_certificate.py"


def stand_alone() -> ModuleType:
    """The checker that shares no code with the package."""
    spec = importlib.util.spec_from_file_location("check_certificate", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


OTHER = stand_alone()


def as_json(certificate: Certificate, folder: Path) -> Any:
    """A certificate as it stands in its file."""
    write_certificate({"x": certificate}, folder / "c.json")
    return json.loads((folder / "c.json").read_text(encoding="utf-8"))["tables"]["x"]


def both(table: Table, certificate: Certificate, folder: Path, promise: Promise | None = None) -> Verification:
    """What `verify` says about a certificate, after the other checker said the same."""
    found = verify(table, certificate, promise)
    asked = None if promise is None else plain_promise(promise)
    other = OTHER.check(OTHER.Table(plain_table(table)), as_json(certificate, folder), asked)
    assert found.holds == other["holds"]
    assert found.same_table == other["same table"]
    assert bool(found.impossible) == bool(other["impossible"])
    assert (found.broken_moves, found.broken_proofs) == (other["broken moves"], other["broken proofs"])
    assert found.checked == other["cells"]
    assert found.open == tuple(table.name_of(c) for c in other["open"])
    assert sorted(found.exposed) == sorted((table.name_of(c), who) for c, who in other["exposed"])
    assert len(found.unions) == len(other["unions"])
    assert len(found.zeros) == len(other["zeros"])
    return found
