"""PX (PC-Axis): keywords, then the numbers; suppressed cells are ``".."`` and shown with the mark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from diskret.publication.jsonstat import contents_name
from diskret.publication.options import Publication
from diskret.publication.release import Measure, Release

LINE = "\r\n"
HIDDEN = '".."'
MOST_SHOWN = 6
MOST_STORED = 15


def write_px(release: Release, options: Publication, path: Path) -> None:
    """Write one matrix: the last classification is the heading, the others and several measures are the stub."""
    release.refuse_sparse("PC-Axis")
    width = release.width
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"{line};{LINE}" for line in _keywords(release, options))
        file.write("DATA=" + LINE)
        for measure in release.measures:
            for cells in release.chunks(width):
                words = measure.texts(cells, HIDDEN)
                # Each record ends with a blank: readers of old take the line end for no separator.
                file.writelines(" ".join(words[i : i + width]) + " " + LINE for i in range(0, len(words), width))
        file.write(";" + LINE)


def _keywords(release: Release, options: Publication) -> Iterator[str]:
    """The keywords in the order the format recommends."""
    measures = release.measures
    title = options.title_of([m.name for m in measures], release.names)
    yield 'CHARSET="ANSI"'
    yield 'AXIS-VERSION="2013"'
    yield 'CODEPAGE="utf-8"'
    yield f"LANGUAGE={_string(options.language)}"
    if options.updated is not None:
        yield f'CREATION-DATE="{options.updated:%Y%m%d %H:%M}"'
    yield f"DECIMALS={max(MOST_STORED if m.decimals is None else m.decimals for m in measures)}"
    yield f"SHOWDECIMALS={min(map(_shown_decimals, measures))}"
    yield f"MATRIX={_string(re.sub(r'[^A-Za-z0-9_]', '_', measures[0].name)[:20])}"
    # The sums stand in the table; a reader who adds up what is open would print wrong totals.
    yield "AGGREGALLOWED=NO"
    yield 'SUBJECT-CODE="-"'
    yield f"SUBJECT-AREA={_string(options.subject or title)}"
    yield f"TITLE={_string(title)}"
    yield f"CONTENTS={_string(measures[0].name if len(measures) == 1 else title)}"
    yield f"UNITS={_string(_unit(measures[0], options))}"
    yield from _classifications(release, options)
    yield from _remarks(release, options)


def _shown_decimals(measure: Measure) -> int:
    return MOST_SHOWN if measure.decimals is None else min(measure.decimals, MOST_SHOWN)


def _remarks(release: Release, options: Publication) -> Iterator[str]:
    """Source, and what the marks mean."""
    if options.source:
        yield f"SOURCE={_string(options.source)}"
    if release.noted:
        said = options.legend(suppressed=release.any_hidden, zeros=False, altered=release.altered, care=release.care)
        yield f"NOTE={_string('#'.join(said))}"
    if release.any_hidden:
        yield f"DATASYMBOL2={_string(options.mark)}"


def _classifications(release: Release, options: Publication) -> Iterator[str]:
    """Stub and heading with their values and codes; several measures are one more classification, the contents."""
    several = len(release.measures) > 1
    contents = {contents_name(release, options): [m.name for m in release.measures]} if several else {}
    values = contents | {name: _distinct(h.labels, h.codes) for name, h in release.by.items()}
    codes = contents | {name: list(h.codes) for name, h in release.by.items()}
    names = list(values)
    stub, heading = (names[:-1], names[-1:]) if len(release.by) > 1 else (names, [])
    yield f"STUB={_strings(stub)}"
    if heading:
        yield f"HEADING={_strings(heading)}"
    yield from (f"CONTVARIABLE={_string(name)}" for name in contents)
    yield from (f"VALUES({_string(name)})={_strings(texts)}" for name, texts in values.items())
    yield from (f"CODES({_string(name)})={_strings(texts)}" for name, texts in codes.items())
    yield from (
        f"ELIMINATION({_string(name)})={_string(values[name][axis.total])}" for name, axis in release.by.items()
    )
    for name in contents:
        yield from _measures(name, release.measures, options)


def _measures(contents: str, measures: Sequence[Measure], options: Publication) -> Iterator[str]:
    """Decimals and unit of each measure, where there are several."""
    fewest = min(map(_shown_decimals, measures))
    for m in measures:
        if _shown_decimals(m) > fewest:
            yield f"PRECISION({_string(contents)},{_string(m.name)})={_shown_decimals(m)}"
    yield from (f"UNITS({_string(m.name)})={_string(_unit(m, options))}" for m in measures)


def _unit(measure: Measure, options: Publication) -> str:
    return options.words["number"] if measure.is_count else options.unit or "-"


def _distinct(labels: Sequence[str], codes: Sequence[str]) -> list[str]:
    """Readers find values by their text, so labels that occur twice carry their code."""
    times = Counter(map(_string, labels))
    return [
        f"{label} ({code})" if times[_string(label)] > 1 else label for label, code in zip(labels, codes, strict=True)
    ]


def _string(text: str) -> str:
    """A text in quotation marks; the format has no way to write one inside."""
    return '"' + re.sub(r"[\x00-\x1f]+", " ", text.replace('"', "'")) + '"'


def _strings(texts: Sequence[str]) -> str:
    return ("," + LINE).join(map(_string, texts))
