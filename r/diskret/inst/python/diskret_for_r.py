"""What R asks of diskret: columns come in and leave as bytes, answers as plain lists, refusals as data.

R has no None in a vector of texts, and the way through which its values come would write "NA" instead; so texts come
as numbers into their different texts, -1 for a missing one. Numbers come as bytes, because that way, as Debian has it,
knows only the arrays of another NumPy.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.errors import DiskretError, ProtectionWarning

Column = npt.NDArray[Any]


def call(function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, Any, list[str]]:
    """What a function gives, why it gives nothing, and what deserves care."""
    found, error = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ProtectionWarning)
        try:
            _refuse_other_arguments(function, given, named)
            found = function(*given, **named)
        except DiskretError as e:
            cures = [f"{cure.label}: {cure.key} = {cure.value!r}" for cure in e.cures]
            error = {"code": e.code, "what": e.what, "where": e.where, "hint": e.hint, "cures": cures, "docs": e.docs}
        except Exception as e:
            if os.environ.get("DISKRET_DEBUG"):
                raise
            error = _refusal(
                "D0", f"a mistake in diskret itself ({type(e).__name__}); please report it",
                "set the environment variable DISKRET_DEBUG=1 and do it again to see where.",
            )  # fmt: skip
    care = [str(each.message) for each in caught if issubclass(each.category, ProtectionWarning)]
    return found, error, list(dict.fromkeys(care))


def _refuse_other_arguments(function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Refuse arguments that a function does not have, which would look like a mistake of ours."""
    try:
        inspect.signature(function).bind(*given, **named)
    except ValueError:  # of something that tells no signature
        return
    except TypeError as e:
        raise DiskretError(str(e), hint="see the help page of the function.") from None


def _refusal(code: str, what: str, hint: str) -> dict[str, Any]:
    return {"code": code, "what": what, "where": "", "hint": hint, "cures": [], "docs": ""}


def texts(numbers: bytes, different: Sequence[str]) -> Column:
    """A column of texts from positions in the different ones, whole numbers of 32 bits; None for -1."""
    found: Column = np.array([*different, None], dtype=object)[np.frombuffer(numbers, dtype=np.int32)]
    return found


def flags(numbers: bytes) -> Column:
    """A column of true and false from 1 and 0; None for -1."""
    given = np.frombuffer(numbers, dtype=np.int32)
    found: Column = np.array([False, True, None], dtype=object)[given]
    return found if (given < 0).any() else found.astype(np.bool_)


def floats(numbers: bytes) -> Column:
    """A column of numbers."""
    return np.frombuffer(numbers, dtype=np.float64)


def integers(numbers: bytes) -> Column:
    """A column of whole numbers."""
    return np.frombuffer(numbers, dtype=np.int32)


def columns(frame: Mapping[str, Column]) -> list[dict[str, Any]]:
    """The columns of a frame for R: numbers as bytes, texts as positions in the different ones."""
    return [{"name": str(name), **_column(np.asarray(each))} for name, each in frame.items()]


def _column(values: Column) -> dict[str, Any]:
    if values.dtype.kind in "biuf":
        kind = "flag" if values.dtype.kind == "b" else "number"
        return {"kind": kind, "values": bytearray(values.astype(np.float64).tobytes()), "texts": []}
    different: dict[Any, int] = {}
    numbers = np.array([different.setdefault(each, len(different)) for each in values.tolist()], dtype=np.int32)
    return {
        "kind": "text", "values": bytearray(numbers.tobytes()),
        "texts": ["" if each is None else str(each) for each in different],
    }  # fmt: skip


def codes(hierarchy: Any) -> dict[str, Any]:
    """A hierarchy for R: its codes, sums after their parts, with labels, levels and sums."""
    return {
        "code": list(hierarchy.codes),
        "label": list(hierarchy.labels),
        "level": [int(level) for level in hierarchy.levels],
        "parent": ["" if at < 0 else hierarchy.codes[at] for at in hierarchy.parents],
    }


def statuses(table: Any) -> dict[str, Any]:
    """What a plot needs of a table: names and codes of its classifications, and the status of every cell by number."""
    from diskret.model.status import Status

    return {
        "names": list(table.names),
        "codes": [list(h.codes) for h in table.hierarchies],
        "status": [int(each) for each in np.asarray(table.status).reshape(-1)],
        "words": [status.name.lower().replace("_", " ") for status in Status],
        "numbers": [int(status) for status in Status],
    }


def any_of(rules: Iterable[Any]) -> Any:
    """Several rules as one: a cell is sensitive if one of them says so."""
    first, *others = rules
    for each in others:
        first = first | each
    return first


def summary(table: Any) -> dict[str, Any]:
    """Cells of a table by status, and primary cells by rule: counts only."""
    from diskret.job.outcome import summary_of

    return summary_of(table)


def plain(said: Any) -> Any:
    """What stands in a summary, as R takes it: every key a text."""
    if isinstance(said, Mapping):
        return {str(key): plain(each) for key, each in said.items()}
    if isinstance(said, np.generic):
        return said.item()
    return [plain(each) for each in said] if isinstance(said, list | tuple) else said


def split(result: Any) -> Mapping[str, Any]:
    """The tables of linked ones."""
    found: Mapping[str, Any] = (result.table if hasattr(result, "promise") else result).split()
    return found


def names(found: Mapping[str, Any]) -> list[str]:
    """The names of several tables."""
    return list(found)


def audited(report: Any) -> dict[str, Any]:
    """What an attack found: names of cells, and the intervals that were asked for."""
    intervals = report.intervals
    bounds = np.array(list(intervals.values()), dtype=np.float64).reshape(-1, 2)
    cells = np.array(list(intervals), dtype=object)
    frame = {"cell": cells, "lower": bounds[:, 0], "upper": bounds[:, 1]}
    return {
        "safe": bool(report.safe),
        "exposed": [each.cell for each in report.exposed],
        "undecided": [str(each) for each in report.undecided],
        "intervals": columns(frame),
    }
