"""PX (PC-Axis): keywords, then the numbers; suppressed cells are ``".."`` and shown with the mark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from diskret.publication.jsonstat import contents_name
from diskret.publication.options import Publication
from diskret.publication.release import Measure, Release

LINE = "\r\n"
HIDDEN = '".."'
MOST_SHOWN = 6
MOST_STORED = 15


def write_px(release: Release, options: Publication, path: Path) -> None:
    """Write one matrix: the last classification is the heading, the others and several measures are the stub."""
    width = release.width
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"{line};{LINE}" for line in _keywords(release, options))
        file.write("DATA=" + LINE)
        for measure in release.measures:
            for cells in release.chunks(width):
                words = _numbers(measure, cells)
                # Each record ends with a blank: readers of old take the line end for no separator.
                file.writelines(" ".join(words[i : i + width]) + " " + LINE for i in range(0, len(words), width))
        file.write(";" + LINE)


def _numbers(measure: Measure, cells: slice) -> list[str]:
    """Cells as text; PX knows no exponents, so the rare number that prints with one is spelled out."""
    words = measure.texts(cells, HIDDEN)
    if measure.decimals is None:
        words = [np.format_float_positional(float(w), trim="-") if "e" in w else w for w in words]
    return words


def _keywords(release: Release, options: Publication) -> Iterator[str]:
    """The keywords in the order the format recommends."""
    measures = release.measures
    shown = [MOST_SHOWN if m.decimals is None else min(m.decimals, MOST_SHOWN) for m in measures]
    title = options.title_of([m.name for m in measures], release.names)
    yield 'CHARSET="ANSI"'
    yield 'AXIS-VERSION="2013"'
    yield 'CODEPAGE="utf-8"'
    yield f"LANGUAGE={_string(options.language)}"
    if options.updated is not None:
        yield f'CREATION-DATE="{options.updated:%Y%m%d %H:%M}"'
    yield f"DECIMALS={max(MOST_STORED if m.decimals is None else m.decimals for m in measures)}"
    yield f"SHOWDECIMALS={min(shown)}"
    yield f"MATRIX={_string(re.sub(r'[^A-Za-z0-9_]', '_', measures[0].name)[:20])}"
    # The sums stand in the table; a reader who adds up what is open would print wrong totals.
    yield "AGGREGALLOWED=NO"
    yield 'SUBJECT-CODE="-"'
    yield f"SUBJECT-AREA={_string(options.subject or title)}"
    yield f"TITLE={_string(title)}"
    yield f"CONTENTS={_string(measures[0].name if len(measures) == 1 else title)}"
    yield f"UNITS={_string(_unit(measures[0], options))}"
    yield from _classifications(release, options, shown)
    if options.source:
        yield f"SOURCE={_string(options.source)}"
    if release.any_hidden or release.altered:
        said = options.legend(suppressed=release.any_hidden, zeros=False, altered=release.altered)
        yield f"NOTE={_string('#'.join(said))}"
    if release.any_hidden:
        yield f"DATASYMBOL2={_string(options.mark)}"


def _classifications(release: Release, options: Publication, shown: Sequence[int]) -> Iterator[str]:
    names = list(release.names)
    values = {name: _distinct(h.labels, h.codes) for name, h in release.by.items()}
    codes: dict[str, Sequence[str]] = {name: h.codes for name, h in release.by.items()}
    contents = None
    if len(release.measures) > 1:
        contents = contents_name(release, options)
        names = [contents, *names]
        values[contents] = codes[contents] = [m.name for m in release.measures]
    stub, heading = (names[:-1], names[-1:]) if len(release.by) > 1 else (names, [])
    yield f"STUB={_strings(stub)}"
    if heading:
        yield f"HEADING={_strings(heading)}"
    if contents is not None:
        yield f"CONTVARIABLE={_string(contents)}"
    for name in names:
        yield f"VALUES({_string(name)})={_strings(values[name])}"
    for name in names:
        yield f"CODES({_string(name)})={_strings(codes[name])}"
    for name in release.names:
        yield f"ELIMINATION({_string(name)})={_string(values[name][-1])}"
    if contents is not None:
        for m, decimals in zip(release.measures, shown, strict=True):
            if decimals > min(shown):
                yield f"PRECISION({_string(contents)},{_string(m.name)})={decimals}"
        for m in release.measures:
            yield f"UNITS({_string(m.name)})={_string(_unit(m, options))}"


def _unit(measure: Measure, options: Publication) -> str:
    return options.words["number"] if measure.is_count else options.unit or "-"


def _distinct(labels: Sequence[str], codes: Sequence[str]) -> Sequence[str]:
    """Readers find values by their text, so labels that occur twice carry their code."""
    seen = [_string(label) for label in labels]
    times = dict.fromkeys(seen, 0)
    for label in seen:
        times[label] += 1
    return [f"{label} ({code})" if times[s] > 1 else label for s, label, code in zip(seen, labels, codes, strict=True)]


def _string(text: str) -> str:
    """A text in quotation marks; the format has no way to write one inside."""
    return '"' + re.sub(r"[\x00-\x1f]+", " ", text.replace('"', "'")) + '"'


def _strings(texts: Sequence[str]) -> str:
    return ("," + LINE).join(map(_string, texts))
