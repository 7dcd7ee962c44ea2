"""A job as one of seven kinds; the sections that are present tell which, or the key ``kind`` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Tag, TypeAdapter
from pydantic.json_schema import DEFAULT_REF_TEMPLATE

from diskret.job.anonymise_job import AnonymiseJob
from diskret.job.attack_job import AttackJob
from diskret.job.compare_job import CompareJob
from diskret.job.form import Problem, Section, sections_in
from diskret.job.older import translated
from diskret.job.pool_job import PoolJob
from diskret.job.records_job import RecordsJob
from diskret.job.risk_job import RiskJob
from diskret.job.table_job import TableJob

Job: TypeAlias = TableJob | PoolJob | RecordsJob | AnonymiseJob | AttackJob | RiskJob | CompareJob
KINDS: Mapping[str, type[Job]] = {
    "table": TableJob, "pool": PoolJob, "records": RecordsJob, "anonymise": AnonymiseJob, "attack": AttackJob,
    "risk": RiskJob, "compare": CompareJob,
}  # fmt: skip
TOLD_BY = {
    "tables": "pool",
    "anonymise": "anonymise",
    "microdata": "records",
    "attack": "attack",
    "risk": "risk",
    "compare": "compare",
}
"""The section that tells the kind of a job, the first of them that is present; without any it makes a table."""


def kind_of(content: Any) -> str:
    """The kind of a job from what its file says.

    >>> kind_of({"data": {"microdata": "a.csv"}, "microdata": {}, "attack": {}}), kind_of({"data": {}})
    ('records', 'table')
    """
    if not isinstance(content, Mapping):
        return str(getattr(content, "kind", "table"))
    told = (kind for section, kind in TOLD_BY.items() if content.get(section) is not None)
    return str(content.get("kind") or next(told, "table"))


JOB: TypeAdapter[Job] = TypeAdapter(
    Annotated[
        Annotated[TableJob, Tag("table")]
        | Annotated[PoolJob, Tag("pool")]
        | Annotated[RecordsJob, Tag("records")]
        | Annotated[AnonymiseJob, Tag("anonymise")]
        | Annotated[AttackJob, Tag("attack")]
        | Annotated[RiskJob, Tag("risk")]
        | Annotated[CompareJob, Tag("compare")],
        Discriminator(kind_of),
    ]
)


def job_of(content: Mapping[str, Any]) -> Job:
    """A job of plain data, checked by its types only; `diskret.job.read.job_from` tells all mistakes in words."""
    return JOB.validate_python(translated(content)[0])


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def job_schema(ref_template: str = DEFAULT_REF_TEMPLATE) -> dict[str, Any]:
    """One JSON Schema for all kinds of jobs, for editors that check while you type."""
    return {"$schema": DIALECT, "title": "diskret job", **_any_of(JOB.json_schema(ref_template=ref_template))}


def _any_of(schema: Any) -> Any:
    """A schema in which forms that code tells apart may fit several: what is left out fits each of them."""
    if isinstance(schema, list):
        return [_any_of(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    told = "discriminator" in schema
    return {"anyOf" if key == "oneOf" and not told else key: _any_of(each) for key, each in schema.items()}


def split(content: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """What belongs to a job of its kind, and a problem for every section and output that belongs to another kind."""
    own, kind = {key: said for key, said in content.items() if said is not None}, kind_of(content)
    if kind not in KINDS:
        return own, []
    why = _why(own, kind)
    problems = _foreign_outputs(own, kind, why) if isinstance(own.get("output"), Mapping) else []
    models = {k: (model,) for k, model in KINDS.items()}
    return own, [*problems, *_foreign(own, models, kind, "", f"{why}; make two jobs of it")]


def _why(content: Mapping[str, Any], kind: str) -> str:
    """Why a job is of its kind, in words."""
    if "kind" in content:
        return f"this job is of kind {kind!r}, as it says itself"
    section = next((f", as it has [{s}]" for s, told in TOLD_BY.items() if told == kind), "")
    return f"this job is of kind {kind!r}{section}"


def _foreign_outputs(own: dict[str, Any], kind: str, why: str) -> list[Problem]:
    """The same for the keys of [output], of which every kind has its own."""
    outputs = {
        k: sections_in(m.model_fields["output"].annotation) for k, m in KINDS.items() if "output" in m.model_fields
    }
    keys = [key for section in outputs.get(kind, ()) for key in section.model_fields]
    output = dict(own.pop("output"))
    hint = f"{why}; it writes {', '.join(keys) or 'what compare.files names'}"
    problems = _foreign(output, outputs, kind, "output.", hint)
    own |= {"output": output} if output else {}
    return problems


def _foreign(
    own: dict[str, Any], sections: Mapping[str, tuple[type[Section], ...]], kind: str, path: str, hint: str
) -> list[Problem]:
    """Take out what other kinds have and this one does not; what says nothing is passed over."""
    problems = []
    for key in list(own):
        owners = [k for k, models in sections.items() if any(key in model.model_fields for model in models)]
        if owners and kind not in owners:
            said = own.pop(key)
            if said or not path:
                problems.append(Problem(path + key, f"belongs to a job of kind {' or '.join(map(repr, owners))}", hint))
    return problems
