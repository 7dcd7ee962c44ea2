"""Writes what the docs take from the code: tables of keys in docs/jobs.md, the schemas of jobs and of the interface.

Run `python docs/generate.py` after changing the models of a job file; a test compares.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from diskret.job.models import KINDS, TOLD_BY, job_schema
from diskret.web.api.document import document

DOCS = Path(__file__).parent
WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
LISTS = {"string": "list of texts", "integer": "list of whole numbers", "array": "list of lists"}
LISTS |= {"number": "list of numbers"}
HEADINGS = {
    "Data": "[data]",
    "Unpivot": "[data.unpivot]",
    "Classification": "[classifications.NAME]",
    "TableSection": "[table]",
    "PoolTable": "[tables.NAME]",
    "PoolTableOutput": "[tables.NAME.output]",
    "PoolSection": "[pool]",
    "FlagColumn": "Flag columns",
    "Rules": "[rules]",
    "MinCountRule": "min_count as a table",
    "PPercentRule": "p_percent as a table",
    "PQRule": "pq as a table",
    "RequestRule": "request as a table",
    "ContributionRules": "[rules.holding]",
    "MarginRule": "small_margin as a table",
    "LineRule": "one_category as a table",
    "PromiseSection": "[promise]",
    "RelativeKnowledge": "knowledge as a table",
    "MovesSection": "[suppression]",
    "CuboidsSection": 'method = "cuboids"',
    "CompleteSection": 'method = "complete"',
    "OptimalSection": 'method = "optimal"',
    "CostSection": "cost as a table",
    "PerturbationSection": "[perturbation]",
    "AdjustmentSection": "[adjustment]",
    "MicrodataSection": "[microdata]",
    "DropStep": "drop",
    "RecodeStep": "recode",
    "WithholdStep": "withhold",
    "ReleaseStep": "release",
    "MicroaggregateStep": "microaggregate",
    "NoiseStep": "noise",
    "SwapStep": "swap",
    "PramStep": "pram",
    "RegressionSection": "[[microdata.regressions]]",
    "AttackSection": "[attack]",
    "RiskSection": "[risk]",
    "CellKeySection": "[cell_key]",
    "LedgerSection": "[ledger]",
    "RatioKey": "ratio as a table",
    "CompareSection": "[compare]",
    "AnonymiseSection": "[anonymise]",
    "PrintedSection": "[anonymise.printed]",
    "FileAttackSection": "[file_attack]",
    "CellStatus": "[[status]]",
    "AprioriFile": "[[apriori]]",
    "TableOutput": "[output]",
    "SdmxSection": "[output.sdmx]",
    "Transmission": "[[output.transmission]]",
    "SafeFileSection": "[[output.safe_files]]",
    "PoolOutput": "Output of a pool",
    "RecordsOutput": "Output of a scientific-use file",
    "AttackOutput": "Output of an attack",
    "RiskOutput": "Output of a job about risk",
    "AnonymiseOutput": "Output of an anonymous file",
}
"""Where the page explains the keys of each model."""
ALSO = {"PoolTable": "TableSection"} | dict.fromkeys(("CuboidsSection", "CompleteSection"), "MovesSection")
"""Models that take the keys of another one too; those are explained there."""


def kind(said: dict[str, Any]) -> str:
    """The type of a key in words a user knows."""
    if "anyOf" in said:
        forms = [s for s in said["anyOf"] if s.get("type") != "null"]
        return " or ".join(kind(s) for s in sorted(forms, key=lambda s: s.get("type") == "array"))
    if "enum" in said:
        return " or ".join(f"`{word}`" for word in said["enum"])
    if "$ref" in said or said.get("type") == "object":
        return "table"
    if "const" in said:
        return f"`{said['const']}`"
    if "prefixItems" in said:
        return "list of two numbers"
    if said.get("type") == "array":
        inner = said["items"]
        if "$ref" in inner or "oneOf" in inner:
            return "list of tables"
        return "list of them" if "enum" in inner or "anyOf" in inner else LISTS[inner["type"]]
    return WORDS[said["type"]]


def default(said: dict[str, Any], required: bool) -> str:
    """What holds if a key is left out."""
    if required:
        return "required"
    given = said.get("default")
    return "" if given in (None, [], "") else f"`{json.dumps(given)}`"


def table(model: str, schema: dict[str, Any]) -> str:
    """The table of keys of one section."""
    described = schema["$defs"][model]
    required = described.get("required", [])
    lines = ["| key | type | default | meaning |", "|---|---|---|---|"]
    elsewhere = schema["$defs"][ALSO[model]]["properties"] if model in ALSO else ()
    for key, said in described["properties"].items():
        if key != "do" and key not in elsewhere:  # the kind of a step is its heading
            lines.append(f"| `{key}` | {kind(said)} | {default(said, key in required)} | {said['description']} |")
    return "\n".join(lines)


def kinds() -> str:
    """The table of all kinds of jobs."""
    told = {kind: f"`[{section}]`" for section, kind in TOLD_BY.items()} | {"pool": "`[tables.NAME]`"}
    lines = ["| kind | told by | what it is about | its sections |", "|---|---|---|---|"]
    for name, model in KINDS.items():
        sections = ", ".join(f"`{key}`" for key in model.model_fields if key != "kind")
        lines.append(f"| `{name}` | {told.get(name, 'none of those below')} | {model.__doc__} | {sections} |")
    return "\n".join(lines)


def replaced(text: str, heading: str, made: str) -> str:
    """The page with the first table below a heading written anew."""
    place = rf"(^###? `?{re.escape(heading)}`?\n(?:(?!^##)[^\n]*\n)*?)(?:^\| [^\n]*\n)(?:^\|[^\n]*\n)+"
    if not re.search(place, text, re.MULTILINE):
        raise ValueError(f"docs/jobs.md has no table below {heading!r}")
    made = made.replace("\\", r"\\")
    return re.sub(place, rf"\g<1>{made}\n", text, count=1, flags=re.MULTILINE)


def page(text: str, schema: dict[str, Any]) -> str:
    """The page with its tables written anew."""
    text = replaced(text, "Kinds of jobs", kinds())
    for model, heading in HEADINGS.items():
        text = replaced(text, heading, table(model, schema))
    return text


def schema_text(schema: dict[str, Any]) -> str:
    """The published JSON Schema."""
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> None:
    """Write all of them."""
    schema = job_schema()
    jobs = DOCS / "jobs.md"
    jobs.write_text(page(jobs.read_text(encoding="utf-8"), schema), encoding="utf-8")
    (DOCS / "job.schema.json").write_text(schema_text(schema), encoding="utf-8")
    (DOCS / "openapi.json").write_text(schema_text(document()), encoding="utf-8")


if __name__ == "__main__":
    main()
