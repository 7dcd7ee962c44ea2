"""The software bill of materials: what CycloneDX requires, the same bytes every time, nothing about this machine."""

from __future__ import annotations

import importlib.util
import json
import re
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.leaks import of_this_machine


def sbom() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sbom", Path(__file__).parents[1] / "tools" / "sbom.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bill(*extras: str) -> dict[str, Any]:
    made: dict[str, Any] = sbom().bill(set(extras))
    return made


def test_the_bill_has_what_cyclonedx_requires() -> None:
    made = bill("web")
    assert (made["bomFormat"], made["specVersion"], made["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", made["serialNumber"])
    parts = [made["metadata"]["component"], *made["components"]]
    for part in parts:
        assert part["type"] in ("application", "library", "platform")
        assert part["name"]
        assert part["version"]
        for licence in part.get("licenses", ()):
            assert licence.keys() in ({"expression"}, {"license"})
        if any("expression" in licence for licence in part.get("licenses", ())):
            assert len(part["licenses"]) == 1
    refs = [part["bom-ref"] for part in parts]
    assert len({*refs}) == len(refs)
    for edge in made["dependencies"]:
        assert {edge["ref"], *edge["dependsOn"]} <= {*refs}
        assert len({*edge["dependsOn"]}) == len(edge["dependsOn"])


def test_it_names_what_diskret_needs_and_what_that_needs_and_extras_only_if_asked() -> None:
    base, web = ({part["name"]: part for part in bill(*extras)["components"]} for extras in ((), ("web",)))
    assert {"numpy", "duckdb", "pydantic", "pydantic-core", "python"} <= base.keys()
    assert {"starlette", "uvicorn", "h11"} <= web.keys() - base.keys()
    assert "pytest" not in web
    assert base["numpy"]["purl"] == f"pkg:pypi/numpy@{version('numpy')}"


def test_equal_environments_give_equal_bytes_and_tell_nothing_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    one, two = json.dumps(bill("web")), json.dumps(bill("web"))
    assert one == two
    assert not [text for text in of_this_machine() if text in one]
    assert "http" not in one.replace("httpx", "").replace("httptools", "")
    assert "timestamp" not in one
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert bill()["metadata"]["timestamp"] == "1970-01-01T00:00:00Z"
