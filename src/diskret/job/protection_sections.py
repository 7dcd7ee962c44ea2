"""The promise and the methods of suppression as sections of a job: the dataclasses Python takes, key by key.

Keys, defaults and descriptions come from the fields of the dataclasses; only what TOML has no type for is said here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, get_type_hints

from pydantic import Discriminator, Field, Tag, create_model

from diskret.job.form import Names, Problem, Reads, RelativeKnowledge, Section, named
from diskret.model.errors import BadOption
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise
from diskret.suppression.methods import AT_MOST, MOST_DEFORMATIONS, AnyMethod, Complete, Cuboids, Moves, Optimal
from diskret.suppression.prices import Cost, CostBy

Forms = Mapping[str, Any]
"""How a job writes a field, by name, where it is not as Python does."""


class OptionsSection(Section):
    """A section with the fields of a dataclass of options."""

    options: ClassVar[type[Any]]

    def keywords(self) -> dict[str, Any]:
        """What is said, by the names of the fields."""
        return {f.name: getattr(self, f.name) for f in fields(self.options)}


def section_of(
    name: str, options: type[Any], base: type[OptionsSection], forms: Forms, defaults: Forms, **more: Any
) -> type[OptionsSection]:
    """The section whose keys are the fields of a dataclass of options, and ``more``."""
    hints, keys = get_type_hints(options), dict(more)
    for f in fields(options):
        default = f.default_factory() if f.default_factory is not MISSING else f.default
        said = Field(defaults.get(f.name, default), description=f.metadata["description"])
        keys[f.name] = (forms.get(f.name, hints[f.name]), said)
    doc = (options.__doc__ or "").partition("\n")[0]
    made: type[OptionsSection] = create_model(name, __base__=base, __doc__=doc, **keys)
    made.options = options
    return made


# --- the promise -----------------------------------------------------------------------------------------------------

NotNegative = Annotated[float, Field(ge=0)]
PROMISE_FORMS: Forms = {
    "coalitions": list[list[dict[str, str]]],
    "min_relative_range": NotNegative,
    "min_range": NotNegative | None,
    "knowledge": Literal["usual", "none", "positive", "intervals"] | RelativeKnowledge,
}


class PromiseBase(OptionsSection):
    """What is promised about every primary cell. The ranges are secret, like the parameters of the rules."""

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        said = self.keywords()
        return named((said["sliding"] and not said["levels"], "sliding", "needs levels = true", ""))

    def knowledge_said(self) -> Knowledge:
        """What an attacker knows, as the section says it."""
        said = self.keywords()["knowledge"]
        if isinstance(said, RelativeKnowledge):
            return Knowledge.relative(said.relative, said.absolute)
        return Knowledge(kind=said)


# --- methods ---------------------------------------------------------------------------------------------------------


class CostSection(Section):
    """What a hidden cell costs."""

    by: CostBy = Field(
        "value",
        description="what a hidden cell costs: its value, the logarithm of it in classes, its contributors, the same "
        "for all, or the price the table is given",
    )
    weighted: bool = Field(True, description="whether the prices of the table multiply the cost")
    power: float = Field(
        1.0, ge=0, description="power to which the price is raised, such as 0.5; 0 takes its logarithm"
    )
    per_cell: float = Field(
        0.0, ge=0, description="what every hidden cell costs in addition to its price, in mean prices of primary cells"
    )
    distance: dict[str, float] = Field(default_factory=dict, description="powers: cells far from the primary cost more")


Positive = Annotated[float, Field(gt=0)]
METHOD_FORMS: Forms = {
    "cost": CostBy | CostSection | None,
    "barriers": Literal["on", "off"] | dict[str, int],
    "non_additive": Names,
    "deformations": Annotated[int, Field(ge=0, le=MOST_DEFORMATIONS)],
}


class MethodBase(OptionsSection):
    """How cells are hidden."""

    method: str = "moves"
    previous: Annotated[str | None, Reads(replaced_by="output.working")] = Field(
        None, description="working file of the last period; its pattern is kept if that is cheap"
    )
    at_most: float = Field(
        AT_MOST, ge=0, description="by what share keeping it may make the result dearer; inf: whatever it costs"
    )
    leading: str | None = Field(None, description="response whose pattern is passed on to all others")

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        again = self.method == "thin" and self.previous
        yield from named((again, "previous", "cannot be combined with method = 'thin'", "the pattern is in the data"))
        try:
            self.made()
        except BadOption as e:
            yield Problem("method", e.what, e.hint.rstrip("."))

    def made(self) -> AnyMethod:
        """The method with its options."""
        said = self.keywords()
        if "non_additive" in said:
            said["non_additive"] = tuple(said["non_additive"])
        cost = said["cost"]
        if cost is not None:
            said["cost"] = Cost(**cost.model_dump()) if isinstance(cost, CostSection) else Cost(by=cost)
        made: AnyMethod = self.options(**said)
        return made

    @property
    def classifications(self) -> dict[str, list[str]]:
        """The classifications that keys name, by key."""
        said = self.keywords()
        distance = said["cost"].distance if isinstance(said["cost"], CostSection) else ()
        barriers = said["barriers"] if isinstance(said["barriers"], dict) else ()
        return {"barriers": [*barriers], "non_additive": [*said.get("non_additive", ())], "cost.distance": [*distance]}


def _method_section(name: str, options: type[AnyMethod]) -> type[OptionsSection]:
    forms = {**METHOD_FORMS, "seconds": Positive if options is Optimal else Positive | None}
    said = Field(name, description="how cells are hidden; the other keys are those of the method")
    # what is there already is worth the search for something cheaper
    defaults = {"non_additive": [], **({"effort": "economy"} if name == "thin" else {})}
    tagged = (Literal[name], said)
    return section_of(f"{name.capitalize()}Section", options, MethodBase, forms, defaults, method=tagged)


OPTIONS: dict[str, type[AnyMethod]] = {
    "moves": Moves, "cuboids": Cuboids, "complete": Complete, "optimal": Optimal, "thin": Moves
}  # fmt: skip
METHODS: dict[str, type[OptionsSection]] = {name: _method_section(name, options) for name, options in OPTIONS.items()}


def _method_of(content: Any) -> str:
    said = content.get("method", "moves") if isinstance(content, Mapping) else getattr(content, "method", "moves")
    return str(said)


if TYPE_CHECKING:
    PromiseSection: TypeAlias = PromiseBase
    SuppressionSection: TypeAlias = MethodBase
else:
    PromiseSection = section_of(
        "PromiseSection", Promise, PromiseBase, PROMISE_FORMS, {"knowledge": "usual", "coalitions": []}
    )
    MovesSection, CuboidsSection, CompleteSection, OptimalSection, ThinSection = METHODS.values()
    SuppressionSection = Annotated[
        Annotated[MovesSection, Tag("moves")]
        | Annotated[CuboidsSection, Tag("cuboids")]
        | Annotated[CompleteSection, Tag("complete")]
        | Annotated[OptimalSection, Tag("optimal")]
        | Annotated[ThinSection, Tag("thin")],
        Discriminator(_method_of),
    ]
