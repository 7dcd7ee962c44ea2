"""The embedded database: how it is started, how files and columns are named to it, and what its complaints mean.

It is used here to read and add up, never to fetch: it loads no extension by itself, so that no name of a file can lead
to the network, and it takes no variable of a Python program for a table.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from diskret.model.errors import CannotWrite, DiskretError, NotEnoughMemory, UnreadableFile, masked
from diskret.model.memory import free_memory, refuse_short_addresses
from diskret.model.places import is_pattern
from diskret.model.private import PrivateFolder, private_folder, remove_with

SEALED = {
    "autoinstall_known_extensions": False, "autoload_known_extensions": False, "python_enable_replacements": False,
}  # fmt: skip
LITTLE = 4_000_000_000
"""Where less memory is free, the engine gets half of it, and puts the rest on the disk."""
NO_MEMORY = "out of memory|failed to allocate|could not allocate|cannot allocate|bad_alloc"


def connect(*, threads: int | None = None, memory_limit: str | None = None) -> Any:
    """An empty database in memory. What it spills to disk is for its owner alone, and gone with the connection.

    >>> connect(threads=1).execute("SELECT 1 + 1").fetchall()
    [(2,)]
    """
    # in the system's temporary folder, never in the folder the user happens to stand in
    folder = private_folder()
    free = free_memory()
    if free is not None and free < LITTLE:  # a limit beyond what there is would be none
        memory_limit = f"{max(free // 2_000_000, 100)}MB"
    given = {"temp_directory": str(folder.path), "threads": threads, "memory_limit": memory_limit}
    config: dict[str, Any] = {option: chosen for option, chosen in given.items() if chosen is not None}
    refuse_short_addresses()
    with readable("the database"):
        connection = duckdb.connect(":memory:", config=config | SEALED)
        # the command line and the page show progress themselves; where a notebook could draw none, it is off
        with contextlib.suppress(duckdb.InvalidInputException):
            connection.execute("SET enable_progress_bar = false")
        connection.execute("SET TimeZone = 'UTC'")  # a moment falls on the same day on every machine
    remove_with(connection, folder)
    return connection


# --- names -----------------------------------------------------------------------------------------------------------


def literal(text: str) -> str:
    """An SQL string."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A column by its name, in SQL."""
    return '"' + name.replace('"', '""') + '"'


def file_listing(files: Sequence[Path], *, folders: bool = False) -> str:
    """Files to be read, in SQL; each means itself, whatever characters its name has.

    With ``folders`` the engine also sees the folders they lie in.

    >>> file_listing([Path("/none/firm's.csv")])
    "['/none/firm''s.csv']"
    """
    return "[" + ", ".join(literal(_plain_name(file, folders)) for file in files) + "]"


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


def _plain_name(file: Path, folders: bool) -> str:
    """A name for a file in which nothing is a pattern: its own, or that of a link to it.

    The engine could be told that a pattern is none, but then it looks at all names of the folder, and fails at some.
    """
    place = engine_path(file)
    if not is_pattern(place):
        return place
    with contextlib.suppress(OSError, NotImplementedError):
        if not folders:
            return _link(place, file.suffix)
    if "\\" in place and os.sep == "/":  # the end of a folder's name, to the engine
        raise UnreadableFile(
            "the path holds a backslash beside one of * ? [", where=place, hint="give the file or folder another name."
        )
    return re.sub(r"[*?\[]", lambda found: f"[{found[0]}]", place)


def _link(place: str, suffix: str) -> str:
    """A link to a file, with its ending, which says how it is packed."""
    ending = suffix if suffix[1:].isalnum() else ""
    link = os.path.join(_links().path, hashlib.sha256(place.encode()).hexdigest()[:32] + ending)
    with contextlib.suppress(FileExistsError):
        os.symlink(place, link)
    return link


@cache
def _links() -> PrivateFolder:
    """The folder for links of this process."""
    return private_folder()


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
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS):
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
        what, hint = "a quotation mark is opened but not closed", "close it, or double it where it is meant."
    elif "state machine reached an invalid state" in said:
        what = "line breaks differ, at the ends of lines or inside quotes"
        hint = "save the file with one kind of line break, also inside cells, as .xlsx, or as Parquet."
    elif line:
        what, hint = "a line is not a record", "is the file complete, and of the kind its name says?"
    else:
        what = "the data cannot be read: " + masked(said.splitlines()[0], most=300)
        hint = "is the file complete, and of the kind its name says?"
    return UnreadableFile(what, where=place, hint=hint)
