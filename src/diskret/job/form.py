"""The form of a job file: sections with keys, keys that name files, and how to walk through them.

A section says what the types cannot say in its own `problems`; files are checked for all sections in one place.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.fields import FieldInfo

from diskret.model.databases import is_server
from diskret.model.places import ending_of, is_pattern
from diskret.model.spelling import nearest

SLASHES = "write / in paths, or put them in 'single quotes': in double quotes a backslash and what follows are one sign"
"""What to do about a path as it is written on Windows."""


@dataclass(frozen=True)
class Problem:
    """One mistake in a job file: its key, what is wrong, and what to do."""

    key: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.key}: {self.what}" + (f" ({self.hint})" if self.hint else "")


Claim = tuple[object, str, str, str]
"""Whether something is wrong, the key, what is wrong, and what to do."""


def named(*claims: Claim) -> Iterator[Problem]:
    """A problem for every claim that holds."""
    return (Problem(key, what, hint) for wrong, key, what, hint in claims if wrong)


# --- keys that name files --------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Reads:
    """Marks a key that names a file the job reads."""

    present: bool = True
    """Whether it must be there before the job starts."""
    pattern: bool = False
    """Whether the name may stand for several files, such as firms*.csv."""
    replaced_by: str = ""
    """Key of an output that may take its place: it loses nothing by it."""

    def missing(self, path: Path) -> bool:
        """Whether a file is not there that must be."""
        several = self.pattern and is_pattern(path)
        return self.present and not several and not os.path.exists(path)


@dataclass(frozen=True)
class Writes:
    """Marks a key that names a file, or files, the job writes; without endings it is a folder."""

    endings: tuple[str, ...] = ()
    any_case: bool = False
    """Whether .CSV is as good as .csv."""
    public: bool = False
    """Whether it is for everybody; all others are confidential."""


PLOTS = Writes((".svg", ".html", ".png"))
InFile = Annotated[str | None, Reads()]

# --- sections --------------------------------------------------------------------------------------------------------


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


_TEXT_OR_LIST = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
Names = Annotated[list[str], BeforeValidator(_as_list), WithJsonSchema(_TEXT_OR_LIST)]


class Section(BaseModel):
    """A part of a job file; unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say, with keys as seen from this section."""
        return iter(())

    def further_files(self) -> Iterator[tuple[str, str]]:
        """Files that are written beside those a key names: the key, and the name."""
        return iter(())

    def saying(self, *keys: str) -> list[str]:
        """Those of the keys that say something."""
        said = {key: getattr(self, key) for key in keys}
        return [key for key, each in said.items() if each and each != type(self).model_fields[key].default]


class RelativeKnowledge(Section):
    """Every value known beforehand to within an error."""

    relative: float = Field(gt=0, description="relative error to which every value is known, such as 0.5")
    absolute: float = Field(0.0, ge=0, description="absolute error for small values and zeros")


def parts(section: Section, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Section]]:
    """A section and all sections inside it, each with its path."""
    yield path, section
    for name in type(section).model_fields:
        yield from _inside(getattr(section, name), (*path, name))


def _inside(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Section]]:
    if isinstance(value, Section):
        yield from parts(value, path)
    elif isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _inside(each, (*path, str(name)))


def sections_in(annotation: Any) -> tuple[type[Section], ...]:
    """The sections an annotation speaks of."""
    if inspect.isclass(annotation) and issubclass(annotation, Section):
        return (annotation,)
    return tuple(section for inner in get_args(annotation) for section in sections_in(inner))


def by_name(field: FieldInfo) -> bool:
    """Whether a key holds sections under names the user chose."""
    return get_origin(field.annotation) is dict


def file_mark(field: FieldInfo) -> Reads | Writes | None:
    """How a key names files, if it does."""
    return next((mark for mark in field.metadata if isinstance(mark, Reads | Writes)), None)


# --- what is wrong with a job ----------------------------------------------------------------------------------------


def problems_of(job: Section, folder: Path) -> list[Problem]:
    """All mistakes that the types cannot find, each once."""
    found = [
        replace(p, key=".".join(filter(None, (*path, p.key)))) for path, part in parts(job) for p in part.problems()
    ]
    return list(dict.fromkeys([*found, *_file_problems(job, folder), *_overwritten(job, folder)]))


def named_files(job: Section) -> Iterator[tuple[str, str, Reads | Writes]]:
    """Every file a job names: its key, its name, and whether it is read or written."""
    for path, section in parts(job):
        for key, field in type(section).model_fields.items():
            mark, said = file_mark(field), getattr(section, key)
            names = said if isinstance(said, list) else [said]
            if mark is not None:
                files = [name for name in names if isinstance(name, str) and name and not is_server(name)]
                yield from ((".".join((*path, key)), name, mark) for name in files)
        yield from ((".".join((*path, key)), name, Writes()) for key, name in section.further_files())


def _escaped(name: str) -> bool:
    """Whether a name holds a tab, an end of line or the like: in TOML, what became of a backslash in double quotes."""
    return any(ord(sign) < 32 for sign in name)


def _file_problems(job: Section, folder: Path) -> Iterator[Problem]:
    """Files that are not there, and files nothing can be written to."""
    for key, name, mark in named_files(job):
        if isinstance(mark, Writes):
            ending = ending_of(name, mark.endings) if mark.any_case else Path(name).suffix
            if _escaped(name):
                yield Problem(key, f"cannot write {name!r}", SLASHES)
            elif mark.endings and ending not in mark.endings:
                yield Problem(key, f"cannot write {name!r}", f"endings: {', '.join(mark.endings)}")
        elif mark.missing(folder / name):
            near = f"looked in the folder of the job file{_near(folder / name)}"
            hint = SLASHES if _escaped(name) else near
            yield Problem(key, f"there is no file {name!r}", hint)


def _overwritten(job: Section, folder: Path) -> Iterator[Problem]:
    """Outputs that would take the place of one another, or of what the job reads."""
    files = list(named_files(job))
    taken: dict[str, tuple[str, Reads | Writes]] = {
        _place(folder / name): (key, mark) for key, name, mark in files if isinstance(mark, Reads)
    }
    for key, name, mark in files:
        if isinstance(mark, Writes):
            place = _place(folder / name)
            other, how = taken.get(place, ("", mark))
            if other and not (isinstance(how, Reads) and _in_place(other, how, key)):
                yield Problem(key, f"{name!r} is {other} too", "give every file its own name")
            taken[place] = key, mark


def _in_place(read: str, mark: Reads, written: str) -> bool:
    """Whether an output may take the place of an input, seen from the section both belong to."""
    return bool(mark.replaced_by) and written == ".".join([*read.split(".")[:-2], mark.replaced_by])


def _place(path: Path) -> str:
    """One name for one file, whatever way leads there."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return str(path)  # not a path at all: refused elsewhere


def _near(path: Path) -> str:
    names: Sequence[str] = sorted(os.listdir(path.parent)) if os.path.isdir(path.parent) else ()
    near = nearest(path.name, names)
    return f"; did you mean {near!r}?" if near else ""
