"""Which files a name means: the one that is called so, or else those that fit it as a pattern; plain files only.

A pipe never ends, a device or a socket answers as it likes, and a folder is not a file: reading them would wait, or
read something nobody meant. Every reader asks here before it opens a file.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shlex
import stat
from collections.abc import Iterable
from pathlib import Path

from diskret.model.errors import UnreadableFile, listed
from diskret.model.spelling import nearest

PATTERN = re.compile(r"[*?\[]")
"""Characters by which a name may stand for several files."""
KINDS = {
    stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}  # fmt: skip


def ending_of(path: str | os.PathLike[str], known: Iterable[str] = ()) -> str:
    """The ending of a file's name in lower case; of two that fit, the longer one.

    >>> ending_of("t.sdmx.CSV", [".csv", ".sdmx.csv"]), ending_of("t.v2.csv", [".csv", ".sdmx.csv"])
    ('.sdmx.csv', '.csv')
    """
    parts = [each.lower() for each in Path(path).suffixes]
    both = "".join(parts[-2:])
    return both if both in known else "".join(parts[-1:])


def typed(name: str | os.PathLike[str]) -> str:
    """A name as it is typed in a command: quoted where a shell would take it for several words.

    >>> print(typed("firms.csv"), typed("Köln.csv"), typed("turnover (final).csv").replace('"', "'"))
    firms.csv Köln.csv 'turnover (final).csv'
    """
    text = os.fspath(name)
    if re.fullmatch(rf"[\w@%+=:,./{re.escape(os.sep)}-]+", text):
        return text
    return f'"{text}"' if os.name == "nt" else shlex.quote(text)


def plain_file(path: str | os.PathLike[str]) -> Path:
    """The path of a file that can be read to its end; anything else is refused at once, without opening it.

    >>> plain_file("/dev/null")
    Traceback (most recent call last):
    ...
    diskret.model.errors.UnreadableFile: [T8] this is a device, not a file
      where: /dev/null
      what to do: copy what it gives into a file, and name that.
    """
    file = Path(path)
    try:
        mode = os.stat(file).st_mode
    except (FileNotFoundError, NotADirectoryError) as e:
        raise no_such_file(file) from e
    except (OSError, ValueError) as e:
        reason = (e.strerror if isinstance(e, OSError) else None) or "no valid path"
        raise UnreadableFile(f"cannot read: {reason}", where=_shown(file), hint="check the path.") from e
    if stat.S_ISDIR(mode):
        hint = "name a file in it."
        raise UnreadableFile("this is a folder, not a file", where=_shown(file), hint=hint)
    if not stat.S_ISREG(mode):
        what = KINDS.get(stat.S_IFMT(mode), "something else")
        hint = "copy what it gives into a file, and name that."
        raise UnreadableFile(f"this is {what}, not a file", where=_shown(file), hint=hint)
    return file


def files_meant(path: str | os.PathLike[str]) -> list[Path]:
    """The file of this name; only where there is none, the files that fit the name as a pattern, in order.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("firms1.csv", "firms[1].csv"):
    ...         _ = (Path(folder) / name).write_text("x")
    ...     [p.name for p in files_meant(f"{folder}/firms[1].csv")], len(files_meant(f"{folder}/firms*.csv"))
    (['firms[1].csv'], 2)
    """
    file = Path(path)
    if os.path.lexists(file) or not is_pattern(file):
        return [plain_file(file)]
    found = files_fitting(file)
    if not found:
        raise UnreadableFile(
            "there is no such file, and none that fits the name as a pattern", where=_shown(file), hint=_there(file)
        )
    return [plain_file(each) for each in found]


def files_fitting(file: Path) -> list[Path]:
    """The files and folders that fit a name as a pattern, in order."""
    # Folders that are there are meant literally, too: in data[1]/firms*.csv only the star is a pattern.
    there = next(folder for folder in file.parents if os.path.isdir(folder))
    return [there / name for name in sorted(glob.glob(str(file.relative_to(there)), root_dir=there, recursive=True))]


def refuse_address(name: str) -> None:
    """Refuse what is an address of the network rather than a file: nothing is fetched from there."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", name):
        raise UnreadableFile(
            "this is an address, not a file", where=name.partition("://")[0] + "://...", hint="fetch the file first."
        )


def is_pattern(path: str | os.PathLike[str]) -> bool:
    """Whether a name may stand for several files."""
    return PATTERN.search(os.fspath(path)) is not None


def no_such_file(file: Path) -> UnreadableFile:
    """The error for a file that is not there, with what is."""
    return UnreadableFile("there is no such file", where=_shown(file), hint=_there(file))


def _there(file: Path) -> str:
    there: list[str] = []
    with contextlib.suppress(OSError, ValueError):
        there = sorted(_shown(Path(name)) for name in os.listdir(file.parent))
    near = nearest(_shown(Path(file.name)), there)
    meant = f"did you mean {near!r}? " if near else ""
    return f"{meant}files there: {listed(there)}." if there else "check the path."


def _shown(file: Path) -> str:
    """A path that can be printed, whatever bytes it is made of."""
    return str(file).encode(errors="replace").decode()
