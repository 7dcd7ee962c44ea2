"""A job file that does what a batch does, with a comment for every line of the batch it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from diskret.argus.translate import Translated, Translation
from diskret.argus.work import Said
from diskret.io.arb_commands import Command, Remark
from diskret.io.toml import toml_key, toml_value
from diskret.job.paths import seen_from, with_paths

ORDER = (
    "data", "table", "tables", "classifications", "rules", "apriori", "promise", "suppression", "perturbation",
    "adjustment", "cell_key", "output",
)  # fmt: skip
BY_NAME = ("tables", "classifications")
"""Sections that hold sections under names."""
HEAD = """# Made of the tau-ARGUS batch {name}. Run it with: diskret run THIS_FILE
# Parameters of rules are secret: do not publish this file.
"""


def job_files(made: Translation, folder: Path) -> dict[str, str]:
    """The job files of a batch, by their names, as they would lie in a folder."""
    stem, here = made.batch.path.stem, made.batch.path.parent
    several = len(made.jobs) > 1
    names = [f"{stem}-{number}.toml" if several else f"{stem}.toml" for number in range(1, len(made.jobs) + 1)]
    moved = [with_paths(job.content, seen_from(here, folder)) for job in made.jobs]
    return {n: job_text(made, job, content) for n, job, content in zip(names, made.jobs, moved, strict=True)}


def job_text(made: Translation, job: Translated, content: Mapping[str, Any]) -> str:
    """One job as TOML, section by section, each below the lines of the batch that ask for it."""
    lines = [HEAD.format(name=made.batch.path.name)]
    lines += [f"# {words}\n" for words in made.places.notes]
    told = {said.line for each in made.jobs for said in each.said}
    rest = [each for each in made.batch.commands if each.line not in told and not isinstance(each, Remark)]
    lines += [f"# {_quoted(each)}\n" for each in rest]
    for key in sorted(content, key=ORDER.index):
        lines += _section(key, content[key], job.said)
    return "".join(lines)


def _quoted(command: Command) -> str:
    return f"line {command.line}: {_plain(command.text)}: nothing to do in a job"


def _plain(text: str) -> str:
    """A text that stays in its comment."""
    return "".join(c if c.isprintable() else " " for c in text)


def _section(path: str, content: Any, said: Sequence[Said]) -> Iterator[str]:
    """A section with its comments, its keys, and the sections inside it."""
    if isinstance(content, list):
        lines = [each for each in said if each.section == path]
        for number, each in enumerate(content):
            yield from _table(f"[[{path}]]", each, lines[number : number + 1])
        return
    inner = {key: each for key, each in content.items() if _is_section(path, key, each)}
    own = {key: each for key, each in content.items() if key not in inner}
    if own or (not inner and path not in BY_NAME):
        yield from _table(f"[{path}]", own, [each for each in said if each.section == path])
    for key, each in inner.items():
        yield from _section(f"{path}.{toml_key(key)}", each, said)


def _is_section(path: str, key: str, content: Any) -> bool:
    if isinstance(content, list):
        return bool(content) and isinstance(content[0], dict)
    return isinstance(content, dict) and (
        path.split(".")[-1] in BY_NAME or (path, key) == ("rules", "holding") or key in (*BY_NAME, "output", "rules")
    )


def _table(head: str, content: Mapping[str, Any], said: Sequence[Said]) -> Iterator[str]:
    yield "\n"
    for each in said:
        yield f"# line {each.line}: {_plain(each.text)}\n"
        yield from (f"#   {words}\n" for words in each.words)
    yield f"{head}\n"
    yield from (f"{toml_key(key)} = {toml_value(each)}\n" for key, each in content.items())
