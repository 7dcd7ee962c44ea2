"""Options of a command that are the keys of sections of a job, which are the fields of dataclasses.

They are made when the command is called, not when it is listed: `diskret --help` must not wait for numpy to know them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

Said = dict[str, dict[str, Any]]
"""What the options said, by section and key."""


ONE = {"keys": "key", "values": "value", "targets": "target", "attributes": "attribute", "methods": "method"}
"""Keys that hold a list, and the option that names one of it."""


class Commands(TyperGroup):
    """Commands that get the rest of their options when they are called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, with all of its options."""
        name, command, rest = super().resolve_command(ctx, args)
        whole = getattr(getattr(command, "callback", None), "whole", None)
        if whole is not None:
            alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            alone.command(name)(whole())
            command = typer.main.get_command(alone)
        return name, command, rest


def with_sections(*names: str) -> Callable[[Callable[..., None]], Any]:
    """Give a command the keys of sections as options; what they say comes as its argument ``said``."""

    def marked(function: Callable[..., None]) -> Any:
        hints = get_type_hints(function, include_extras=True)
        own = {n: p for n, p in inspect.signature(function).parameters.items() if n != "said"}
        listed = _signed(lambda **given: function(**given, said={}), function, own.values(), hints)
        listed.whole = lambda: _whole(function, names, own, hints)
        return listed

    return marked


def _whole(
    function: Callable[..., None], names: tuple[str, ...], own: dict[str, inspect.Parameter], hints: dict[str, Any]
) -> Any:
    """The command with the options of its sections."""
    places = {ONE.get(key, key): (name, key, field) for name in names for key, field in _keys(name).items()}
    made = {option: _option(option, field) for option, (_, _, field) in places.items() if option not in own}
    options = {option: kind for option, kind in made.items() if kind is not None}

    def run(**given: Any) -> None:
        said: Said = {name: {} for name in names}
        for option in options:
            value, (name, key, _) = given.pop(option), places[option]
            if value not in (None, []):
                said[name][key] = str(value.resolve()) if isinstance(value, Path) else value
        function(**given, said=said)

    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in options]
    return _signed(run, function, [*own.values(), *more], hints | options)


def _signed(made: Any, function: Callable[..., None], parameters: Any, hints: dict[str, Any]) -> Any:
    """A function that looks like another one with other parameters."""
    made = functools.wraps(function)(made)
    del made.__wrapped__
    typed = [p.replace(annotation=hints[p.name], kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    made.__signature__ = inspect.Signature(typed)
    made.__annotations__ = {p.name: p.annotation for p in typed}
    return made


def _keys(name: str) -> dict[str, FieldInfo]:
    """The keys of a section, or of a method of suppression; where there are several kinds, those of all."""
    from diskret.job.form import sections_in
    from diskret.job.models import KINDS
    from diskret.job.protection_sections import METHODS

    if name in METHODS:
        return dict(METHODS[name].model_fields)
    having = [kind.model_fields[name] for kind in KINDS.values() if name in kind.model_fields]
    sections = [section for field in having for section in sections_in(field.annotation)]
    return {key: field for section in sections for key, field in section.model_fields.items()}


def _option(name: str, field: FieldInfo) -> Any:
    """The option of one key; nothing where it cannot be said in a word."""
    kind, choices = _kind(field)
    if kind is None:
        return None
    words = name.replace("_", "-")
    flag = f"--{words}/--no-{words}" if kind is bool else f"--{words}"
    said = field.description or ""
    sentence = said if said[1:2] == " " else said[:1].upper() + said[1:]
    return Annotated[kind | None, typer.Option(flag, help=f"{sentence}.", metavar="|".join(choices) or None)]


def _kind(field: FieldInfo) -> tuple[Any, list[str]]:
    """The type of an option, and its choices."""
    from diskret.job.form import Writes, file_mark
    from diskret.job.protection_sections import METHODS

    mark, forms = file_mark(field), list(_forms(field.annotation))
    choices = [str(choice) for form in forms if get_origin(form) is Literal for choice in get_args(form)]
    if isinstance(mark, Writes):
        return None, []
    if len(choices) == 1:
        return str, list(METHODS)  # every method of suppression has a section of its own
    if choices:
        return int if all(choice.isdigit() for choice in choices) else str, choices
    kinds = {bool: bool, float: float, int: int, list: list[str], str: Path if mark else str}
    return next((kind for form, kind in kinds.items() if form in forms), None), []


def _forms(annotation: Any) -> Iterator[Any]:
    """The plain types an annotation allows."""
    if get_origin(annotation) is Literal or isinstance(annotation, type):
        yield annotation
    elif get_origin(annotation) is list:
        (inner,) = get_args(annotation)
        yield list if inner is str or get_origin(inner) is Literal else None
    elif get_origin(annotation) not in (dict, tuple):
        for inner in get_args(annotation):
            yield from _forms(inner)
