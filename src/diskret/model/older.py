"""Keywords that moved into an options object: they work for one more version, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")


def with_older(options: Options, older: Mapping[str, Any], call: str, keyword: str = "options") -> Options:
    """The options with keywords from before; what never was a keyword is refused as Python does.

    ``call`` and ``keyword`` say where the keyword was given and where it belongs, for the warning. To be called
    by the public function itself, so that the warning points to its caller.
    """
    unknown = [name for name in older if name not in {f.name for f in fields(options)}]
    if unknown:
        raise TypeError(f"{call}() got an unexpected keyword argument {unknown[0]!r}")
    if older:
        said = ", ".join(f"{name}=..." for name in older)
        words = f"{call}({said}) is deprecated: say {keyword}={type(options).__name__}({said})"
        warnings.warn(words, DeprecationWarning, stacklevel=3)
    return replace(options, **older)
