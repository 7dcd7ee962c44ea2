"""The embedded database: how it is started, how files and columns are named to it, and what its complaints mean.

It is used here to read and add up, never to fetch: it loads no extension by itself, so that no name of a file can lead
to the network, and it takes no variable of a Python program for a table.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from diskret.model.errors import CannotWrite, DiskretError, NotEnoughMemory, UnreadableFile, masked

SEALED = {
    "autoinstall_known_extensions": False, "autoload_known_extensions": False, "python_enable_replacements": False,
}  # fmt: skip
NO_MEMORY = "out of memory|failed to allocate|could not allocate|cannot allocate|bad_alloc"


def connect(*, threads: int | None = None, memory_limit: str | None = None) -> Any:
    """An empty database in memory.

    >>> connect(threads=1).execute("SELECT 1 + 1").fetchall()
    [(2,)]
    """
    # Spilled records belong in the system's temporary folder, never in the folder the user happens to stand in.
    spill = os.path.join(tempfile.gettempdir(), f"diskret-{os.getpid()}")
    given = {"temp_directory": spill, "threads": threads, "memory_limit": memory_limit}
    config: dict[str, Any] = {option: chosen for option, chosen in given.items() if chosen is not None}
    with readable("the database"):
        return duckdb.connect(":memory:", config=config | SEALED)


# --- names -----------------------------------------------------------------------------------------------------------


def literal(text: str) -> str:
    """An SQL string."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A column by its name, in SQL."""
    return '"' + name.replace('"', '""') + '"'


def file_listing(files: Sequence[Path]) -> str:
    """Files to be read, in SQL; each means itself, whatever characters its name has.

    >>> file_listing([Path("/none/firms[1].csv")])
    "['/none/firms[[]1].csv']"
    """
    return "[" + ", ".join(literal(_escaped(engine_path(file))) for file in files) + "]"


def engine_path(file: Path) -> str:
    """The place of a file in words the engine does not take for anything else: a home, an address, a step upwards.

    It follows ``..`` by the text where the system follows links, so the folder's real place is told.
    """
    place = os.path.join(os.path.realpath(file.parent), file.name)
    try:
        place.encode()
    except UnicodeEncodeError as e:
        shown = place.encode(errors="replace").decode()
        raise UnreadableFile("the name of the file is not UTF-8", where=shown, hint="give it another name.") from e
    return place


def _escaped(place: str) -> str:
    """A path in which no character stands for others."""
    escaped = re.sub(r"[*?\[]", lambda found: f"[{found[0]}]", place)
    if escaped != place and "\\" in place and os.sep == "/":
        # before it looks at patterns, the engine takes a backslash for the end of a folder's name
        raise UnreadableFile(
            "the path holds a backslash beside one of * ? [", where=place, hint="give the file or folder another name."
        )
    return escaped


# --- complaints ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def readable(where: str) -> Iterator[None]:
    """Turn the engine's complaints about a file into ours."""
    try:
        yield
    except (duckdb.ConversionException, duckdb.OutOfRangeException) as e:
        # The engine's own words would quote the number.
        raise UnreadableFile(
            "a number is too large to be worked with", where=where, hint="correct it, or use a larger unit."
        ) from e
    except duckdb.InterruptException as e:
        raise KeyboardInterrupt from e
    except duckdb.Error as e:
        raise complaint(str(e), where) from e
    except RuntimeError as e:  # how the engine passes on what happens while results are handed over
        if str(e) == "Query interrupted":  # the user pressed Ctrl-C
            raise KeyboardInterrupt from e
        known = _of_machine(str(e), where)
        if known is None:
            raise
        raise known from e
    except UnicodeDecodeError as e:
        raise complaint("not utf-8 encoded", where) from e


def complaint(said: str, where: str) -> DiskretError:
    """The engine's complaint in our words, which never quote a line of the data."""
    return _of_machine(said, where) or _of_data(said, where)


def system_error(said: str) -> OSError | None:
    """The engine's complaint about a file as the system's own, if it is one."""
    found = re.search(r'"?errno"?\D{1,5}(\d+)', said)
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS):
        if os.strerror(number) in said:
            return OSError(number, os.strerror(number))
    return OSError(int(found[1]), os.strerror(int(found[1]))) if found and int(found[1]) else None


def _of_machine(said: str, where: str) -> DiskretError | None:
    """What is the matter with the machine, if that is it: disk or memory."""
    first = said.partition("\n")[0]
    if "CSV Error" in first:  # it goes on with a line of the data, which may say anything
        return None
    found = system_error(said)
    full = found is not None and found.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or "max_temp_directory_size" in said:
        return CannotWrite(
            "the disk is full: there is no room for temporary data",
            where=where,
            hint="free some space, or name a folder with more in the environment variable TMPDIR; nothing was changed.",
        )
    if re.search(NO_MEMORY, first, re.IGNORECASE):
        return NotEnoughMemory.at(where)
    return None


def _of_data(said: str, where: str) -> UnreadableFile:
    """What is the matter with the data."""
    line = re.search(r"CSV Error on Line: (\d+)", said)
    place = f"{where}, line {line[1]}" if line else where
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", said)
    if "not utf-8 encoded" in said:
        what, hint = "the data are not UTF-8 text", 'say encoding = "latin-1", or save the file as UTF-8.'
    elif fields:
        what = f"a line has {'fewer' if int(fields[2]) < int(fields[1]) else 'more'} fields than there are columns"
        hint = "give every line one field per column; a field that holds the separator needs quotes."
    elif "unterminated quote" in said:
        what, hint = "a quotation mark is opened and not closed", "close it, or double it where it is meant."
    elif line:
        what, hint = "a line is not a record", "is the file complete, and of the kind its name says?"
    else:
        what = "the data cannot be read: " + masked(said.splitlines()[0], most=300)
        hint = "is the file complete, and of the kind its name says?"
    return UnreadableFile(what, where=place, hint=hint)
