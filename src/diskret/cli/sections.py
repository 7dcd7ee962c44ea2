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
    places = {key: (name, field) for name in names for key, field in _keys(name).items() if key not in own}
    options = {key: option for key, (_, field) in places.items() if (option := _option(key, field))}

    def run(**given: Any) -> None:
        said: Said = {name: {} for name in names}
        for key in options:
            value = given.pop(key)
            if value not in (None, []):
                said[places[key][0]][key] = str(value.resolve()) if isinstance(value, Path) else value
        function(**given, said=said)

    more = [inspect.Parameter(k, inspect.Parameter.KEYWORD_ONLY, default=None) for k in options]
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
    """The keys of a section; for [suppression] those of all methods."""
    from diskret.job.protection_sections import METHODS, PromiseSection

    if name == "promise":
        return dict(PromiseSection.model_fields)
    sections = METHODS.values() if name == "suppression" else [METHODS[name]]
    return {key: field for section in sections for key, field in section.model_fields.items()}


def _option(key: str, field: FieldInfo) -> Any:
    """The option of one key; nothing where it cannot be said in a word."""
    from diskret.job.form import file_mark

    forms, words = list(_forms(field.annotation)), f"--{key.replace('_', '-')}"
    choices = [str(choice) for form in forms if get_origin(form) is Literal for choice in get_args(form)]
    if key == "method":
        choices = _methods()
    text = Path if file_mark(field) else str
    kinds: dict[Any, Any] = {bool: bool, float: float, int: int, list: list[str], str: text}
    kind = next((kinds[form] for form in kinds if form in forms), None)
    if choices:
        kind = int if all(choice.isdigit() for choice in choices) else str
    if kind is None:
        return None
    flag = f"{words}/--no-{words[2:]}" if kind is bool else words
    shown = "|".join(choices) or None
    return Annotated[kind | None, typer.Option(flag, help=_sentence(field.description or ""), metavar=shown)]


def _methods() -> list[str]:
    from diskret.job.protection_sections import METHODS

    return list(METHODS)


def _forms(annotation: Any) -> Iterator[Any]:
    """The plain types an annotation allows."""
    if get_origin(annotation) is Literal or isinstance(annotation, type):
        yield annotation
    elif get_origin(annotation) is list:
        yield list if get_args(annotation) == (str,) else None
    elif get_origin(annotation) is not dict:
        for inner in get_args(annotation):
            yield from _forms(inner)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
