"""A report speaks one language: its own words, the promise, the verdict, warnings, numbers."""

from __future__ import annotations

import ast
import html
import re
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.publication.phrases import warning_in

ROOT = Path(diskret.__file__).parent
ROOMS = ("model", "tabulation", "rules", "suppression", "perturbation", "cellkey", "auditing", "job", "io")
"""Rooms whose warnings stand in reports on tables."""
BOTH = {
    "total", "status", "in", "name", "solver", "insider", "moves", "audit", "guard", "single", "mean", "normal",
    "index", "position", "dimension", "method", "plots", "extra", "normalise", "true", "was", "die", "also", "den",
    "am", "an", "fall", "so", "note", "most", "non_additive", "publishable_intervals", "will", "war", "gut", "art",
    "not", "rest", "alle", "html", "g", "k", "l", "t", "s", "diskret", "sha",
}  # fmt: skip
"""Words of both languages, and names that stay."""


def spoken(language: str) -> set[str]:
    """All words of a language's file."""
    text = " ".join(_texts(tomllib.loads((ROOT / "words" / f"{language}.toml").read_text(encoding="utf-8"))))
    return {word.casefold() for word in re.findall(r"[A-Za-zÄÖÜäöüß_]{2,}", re.sub(r"[{][^}]*[}]", " ", text))}


def _texts(said: Any) -> Iterator[str]:
    if isinstance(said, dict):
        for each in said.values():
            yield from _texts(each)
    else:
        yield str(said)


ENGLISH = spoken("en")
GERMAN = spoken("de")
PHRASES = tomllib.loads((ROOT / "words" / "de.toml").read_text(encoding="utf-8"))["phrases"]
ENGLISH |= {word.casefold() for phrase in PHRASES for word in re.findall(r"[A-Za-z]{2,}", phrase)}


def foreign(path: Path, language: str, names: set[str]) -> set[str]:
    """Words in a report that only the other language has."""
    page = re.sub(r"(?s)<style>.*?</style>|base64,[^']*", " ", path.read_text(encoding="utf-8"))
    texts = [*re.findall(r">([^<]+)<", page), *re.findall(r"(?:aria-label|alt)='([^']*)'", page)]
    shown = html.unescape(" ".join(texts))
    words = {word.casefold() for word in re.findall(r"[A-Za-zÄÖÜäöüß_]{2,}", shown)}
    other, own = (ENGLISH, GERMAN) if language == "de" else (GERMAN, ENGLISH)
    return words & (other - own) - BOTH - names


def people(folder: Path) -> None:
    rng = np.random.default_rng(5)
    codes = [(rng.choice(["10", "11", "20"]), rng.choice([*KREISE])) for _ in range(150)] + [("30", k) for k in KREISE]
    rows = [f"{wz},{kreis},{rng.lognormal(8):.2f}\n" for wz, kreis in codes]
    (folder / "d.csv").write_text("".join(["wz,kreis,umsatz\n", *rows]), encoding="utf-8")


KREISE = "NESW"
SHOWN = [{"wz": wz} | ({"kreis": kreis} if kreis else {}) for wz in ("10", "11", "20", "30") for kreis in ("", *KREISE)]
SHOWN = [*SHOWN[:-4], *SHOWN[-3:], {}, *({"kreis": kreis} for kreis in KREISE)]
"""All cells but one."""
TABLE = {"by": ["wz", "kreis"], "value": "umsatz"}
KINDS: dict[str, dict[str, Any]] = {
    "protected": {"table": TABLE, "rules": {"min_count": 3, "p_percent": 10}, "suppression": {}},
    "not attacked": {"table": TABLE, "rules": {"min_count": 3}, "suppression": {"method": "cuboids"}},
    "exposed": {
        "table": TABLE, "rules": {"min_count": 3}, "suppression": {},
        "status": [{"cell": cell, "status": "never"} for cell in SHOWN],
    },
    "unmarked": {"table": TABLE},
    "rounded": {
        "table": TABLE, "rules": {"min_count": 3}, "perturbation": {"method": "rounding", "base": 100, "seed": 1}
    },
    "rounded and attacked": {
        "table": TABLE, "rules": {"min_count": 3},
        "perturbation": {"method": "rounding", "base": 1_000_000, "seed": 1, "attack": True},
    },
    "nothing to change": {"table": TABLE, "perturbation": {"seed": 1, "attack": True}},
    "anonymous": {"anonymise": {"attributes": ["wz", "kreis"], "effort": 0.01}},
    "records": {
        "microdata": {
            "values": ["umsatz"], "classes": ["wz"], "seed": 1,
            "steps": [{"do": "drop", "columns": ["kreis"]}, {"do": "microaggregate", "m": 3}],
        },
        "attack": {"keys": ["wz"], "values": ["umsatz"]},
    },
    "risk": {"risk": {"keys": ["wz", "kreis"]}},
    "compared": {
        "table": TABLE, "rules": {"min_count": 3},
        "compare": {"methods": ["suppression", "merging", "controlled rounding"]},
    },
}  # fmt: skip
FIRST = {
    "protected": ("May be released.", "Darf veröffentlicht werden."),
    "not attacked": ("Not yet: umsatz: not attacked", "Noch nicht: umsatz: nicht mit einem Solver angegriffen."),
    "exposed": ("Not yet: umsatz: ", "Noch nicht: umsatz: "),
    "unmarked": ("Not yet: umsatz: no rule was applied.", "Noch nicht: umsatz: keine Regel angewandt."),
    "rounded": ("Not yet: umsatz: the changed values were not", "Noch nicht: umsatz: Die geänderten Werte wurden"),
    "rounded and attacked": ("May be released.", "Darf veröffentlicht werden."),
    "nothing to change": ("Not yet: umsatz: no rule was applied.", "Noch nicht: umsatz: keine Regel angewandt."),
    "anonymous": ("May be released.", "Darf veröffentlicht werden."),
    "records": ("Not yet: ", "Noch nicht: "),
    "risk": ("Not yet: 4 records are alone", "Noch nicht: 4 Datensätze sind"),
    "compared": ("Not for release", "Nicht zur Veröffentlichung"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_speaks_one_language_and_begins_with_its_verdict(kind: str, tmp_path: Path) -> None:
    people(tmp_path)
    for language in ("en", "de"):
        said = {"data": {"microdata": "d.csv"}} | KINDS[kind]
        files = {"internal_report": f"i-{language}.html"}
        if kind not in ("risk", "compared"):
            files["report"] = f"p-{language}.html"
        if kind == "compared":
            said["compare"] = {**said["compare"], "files": [f"i-{language}.html"], "language": language}
        else:
            said["output"] = {"language": language, **files}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run_job(job_from(said, "here", tmp_path), tmp_path)
        for path in tmp_path.glob(f"*-{language}.html"):
            assert not foreign(path, language, {"wz", "kreis", "umsatz", "csv"}), path.name
        page = html.unescape((tmp_path / f"i-{language}.html").read_text(encoding="utf-8"))
        verdict = re.findall(r"<p class='verdict[^>]*>([^<]*)<", page)
        assert verdict[0].startswith(FIRST[kind][language == "de"])
        assert "SHA-256" in page
        assert "diskret 0" in page


def test_every_warning_has_german_words() -> None:
    samples = [sample for room in ROOMS for path in (ROOT / room).rglob("*.py") for sample in warned(path)]
    assert len(samples) > 15
    silent = [sample for sample in samples if warning_in(sample, "de") == sample]
    assert not silent, "add a pattern to [warnings] of words/de.toml"


def warned(path: Path) -> Iterator[str]:
    """An example of every warning of a module, as far as its words stand in the call."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("warnings.warn", "_warn") and node.args:
            given = [ast.unparse(each) for each in node.args[1:]]
            if "ProtectionWarning" in given or ast.unparse(node.func) == "_warn":
                sample = example(node.args[0])
                if " " in sample:
                    yield sample


LEFT_OUT = "rows are left out: column 'x' holds no code there"


def example(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(example(each) for each in node.values)
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.BinOp):
        return example(node.left) + example(node.right)
    if isinstance(node, ast.FormattedValue):
        cure = "write them alike in data and hierarchies, or set normalise = true"
        return {"CURE": cure, "more": "", "who": "one holding", "words": LEFT_OUT}.get(ast.unparse(node.value), "7")
    return "7"
