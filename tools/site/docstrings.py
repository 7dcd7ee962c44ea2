"""Docstrings as the API reference shows them: examples in fences, options with the sentence that explains them."""

from __future__ import annotations

import ast
import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?m)^>>> (?:.+\n?)+")


class Docstrings(griffe.Extension):
    """What our docstrings leave to whoever reads them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Examples become code; a field made by ``option`` is described by its description."""
        call = obj.value if isinstance(obj, griffe.Attribute) else None
        if isinstance(call, griffe.ExprCall) and str(call.function) == "option":
            _describe(obj, call)
        if obj.docstring is not None:
            obj.docstring.value = in_fences(obj.docstring.value)


def in_fences(text: str) -> str:
    """Examples of a docstring as blocks of code.

    >>> print(in_fences("Adds.\\n\\n>>> 1 + 1\\n2\\n\\nNo more.").replace("`", "'"))
    Adds.
    <BLANKLINE>
    '''pycon
    >>> 1 + 1
    2
    '''
    <BLANKLINE>
    No more.
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)


def _describe(field: griffe.Object, call: griffe.ExprCall) -> None:
    """The default and the description of ``option(default, "description")``, in place of the call."""
    given = [argument for argument in call.arguments if not isinstance(argument, griffe.ExprKeyword)]
    named = {each.name: each.value for each in call.arguments if isinstance(each, griffe.ExprKeyword)}
    default, said = [*given, None, None][0], named.get("description", [*given, None, None][1])
    field.value = named.get("default", default) if "make" not in named else f"{named['make']}()"
    if field.docstring is None and said is not None:
        words = str(ast.literal_eval(str(said)))
        field.docstring = griffe.Docstring(words[:1].upper() + words[1:] + ".", parent=field)
