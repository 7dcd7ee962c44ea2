"""Follows a page like a reader: in an empty folder, block by block, with nothing but what the page says.

`python -m tests.docs.walk PAGE ...` writes what commands print today into the pages.

A `console` block holds commands behind `$ ` and what they print, `...` for what is left out; a `toml` or `csv` block
with a title is a file that the reader writes, or one that is there and begins so; a `python` block is a session.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diskret.cli import main

BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
DOTS = re.compile(r"^\.\.\.$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block of code, with the line it begins in."""

    kind: str
    title: str
    text: str
    line: int


def blocks_of(page: Path) -> Iterator[Block]:
    """All fenced blocks of a page that say what they are."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        yield Block(found[1], found[2] or "", found[3], text[: found.start()].count("\n") + 1)


@dataclass
class Reader:
    """Who follows the page, standing in a folder."""

    folder: Path
    code: int = 0
    names: dict[str, Any] = field(default_factory=dict)

    def follow(self, block: Block) -> list[str]:
        """Do what a block says; gives what came out otherwise than the page says."""
        if block.kind == "console":
            return [wrong for command, said in commands_of(block.text) if (wrong := self.enter(command, said))]
        if block.kind == "python":
            return self.say(block)
        return self.write(block) if block.title else []

    def enter(self, command: str, said: str) -> str:
        """One command."""
        got = trimmed(self.done(shlex.split(command, comments=True)))
        parts = [re.escape(part.strip()) for part in DOTS.split(said)]
        same = re.fullmatch(rf"\s*{'.*'.join(parts)}\s*", got, re.DOTALL)
        return "" if same else f"$ {command}\n--- on the page\n{said}\n--- printed\n{got}"

    def done(self, words: list[str]) -> str:
        """What a command prints."""
        if words[0] == "diskret":
            return self.diskret(words)
        if words[0] == "cd":
            self.folder = (self.folder / words[1]).resolve()
            return ""
        if words[0] == "head":
            lines = (self.folder / words[2]).read_text(encoding="utf-8").splitlines()
            return "\n".join(lines[: int(words[1].removeprefix("-"))])
        if words == ["echo", "$?"]:
            return str(self.code)
        raise ValueError(f"a reader cannot follow {words}")

    def diskret(self, words: list[str]) -> str:
        """Our own command, in this process."""
        printed, before = io.StringIO(), sys.argv
        sys.argv = words
        try:
            with redirect_stdout(printed), redirect_stderr(printed), contextlib.chdir(self.folder):
                main()
        except SystemExit as stopped:
            self.code = int(stopped.code or 0)
        finally:
            sys.argv = before
        return printed.getvalue()

    def say(self, block: Block) -> list[str]:
        """A session of Python; names stay."""
        test = doctest.DocTestParser().get_doctest(block.text, self.names, "page", None, block.line)
        printed = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        with contextlib.chdir(self.folder):
            runner.run(test, out=printed.write, clear_globs=False)
        self.names = test.globs
        return [printed.getvalue()] if printed.getvalue() else []

    def write(self, block: Block) -> list[str]:
        """A file that the reader writes, or looks into."""
        path = self.folder / block.title
        if block.kind == "csv" and path.exists():
            begins = path.read_text(encoding="utf-8").startswith(block.text.removesuffix("...\n"))
            return [] if begins else [f"{block.title} begins otherwise"]
        path.write_text(block.text, encoding="utf-8")
        return []


def commands_of(text: str) -> Iterator[tuple[str, str]]:
    """Every command of a block with what it prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, said = part.partition("\n")
        yield command, said


def trimmed(text: str) -> str:
    """Lines without the blanks at their ends."""
    return "\n".join(line.rstrip() for line in text.splitlines())


def as_printed(page: Path, folder: Path) -> str:
    """The page with what its commands print today; what is left out stays left out."""
    reader, text = Reader(folder), page.read_text(encoding="utf-8")
    for block in blocks_of(page):
        if block.kind != "console":
            reader.follow(block)
            continue
        parts = []
        for command, said in commands_of(block.text):
            got = trimmed(reader.done(shlex.split(command, comments=True)))
            parts.append(f"$ {command}\n{said if DOTS.search(said) else got + chr(10) * bool(got)}")
        text = text.replace(block.text, "".join(parts))
    return text


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as empty:
            page = Path(name)
            page.write_text(as_printed(page.resolve(), Path(empty)), encoding="utf-8")
