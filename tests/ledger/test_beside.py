"""A new table beside everything published: the same cells are found, differences are seen, the table is protected."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import diskret as dk
from diskret.ledger import refusing
from diskret.ledger.about import About
from diskret.ledger.codes import scheme_of
from diskret.ledger.ledger import Ledger
from diskret.ledger.naming import distinct_words
from diskret.ledger.ratios import bounds_of
from diskret.model.errors import (
    BadOption,
    Contradiction,
    MeaningUnknown,
    NoSuchEntry,
    NotBeside,
    ProtectionWarning,
    UnreadableFile,
)
from diskret.moves.move import MoveSet
from diskret.suppression.result import Suppression
from diskret.suppression.widening import widened

REGION = dk.Hierarchy.from_nested({"DE": {"N": ["a", "b"], "S": ["c", "d"]}})
ZONES = dk.Hierarchy.from_nested({"DE": {"wet": ["a", "c"], "dry": ["b", "d"]}})
VALUES, COUNTS = [10.0, 20.0, 30.0, 40.0], [1, 5, 5, 5]


def regions(tree: dk.Hierarchy = REGION, *, scale: float = 1.0, marked: bool = True) -> dk.Table:
    cells = {"region": list("abcd"), "x": [v * scale for v in VALUES], "n": COUNTS}
    table = dk.Table.from_cells(cells, by={"region": tree}, value="x", count="n")
    return table.with_status("primary", [["a"]]) if marked else table


def firms(**more: object) -> About:
    return About(**{"population": "firms", "period": "2024", "unit": "EUR"} | more)  # type: ignore[arg-type]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    opened = dk.open_ledger(tmp_path / "ledger", create=True)
    opened.add(dk.suppress(regions()).table, firms(), name="Yearbook 2024 table 3", on="2026-01-01")
    return opened


def test_another_zoning_gives_away_what_the_yearbook_hides_and_the_proof_names_both(ledger: Ledger) -> None:
    late = dk.suppress(regions(ZONES)).table
    assert dk.audit(late).safe
    found = ledger.check(late, firms(), name="Zones 2024")
    assert not found.safe
    assert [e.cell for e in found.audit.exposed] == ["region=a"]
    assert "Yearbook 2024 table 3" in found.report()
    assert "Zones 2024" in found.report()


def test_a_table_is_protected_by_cells_of_its_own(ledger: Ledger) -> None:
    done = dk.suppress(regions(ZONES), ledger=ledger.about(firms()))
    assert done.audit is not None
    assert done.audit.safe
    assert ledger.check(done.table, firms()).safe
    assert done.table.by == regions(ZONES).by


def test_names_of_codes_and_tables_decide_nothing(ledger: Ledger) -> None:
    """The same two regions under another code, in another unit, under another name of the classification."""
    tree = dk.Hierarchy.from_nested({"all": {"North": ["a", "b"], "South": ["c", "d"]}})
    other = regions(tree, scale=0.001)
    again = other.with_status("open", [["a"]])
    found = ledger.check(again, firms(unit="1000 EUR", names={}, groupings={}), name="copy")
    assert found.shown_hidden == ("region=a is sensitive and hidden in Yearbook 2024 table 3, and shown here",)
    with pytest.raises(Contradiction, match="Yearbook 2024 table 3"):
        ledger.check(regions(tree), firms(unit="1000 EUR"))


def test_a_difference_of_two_requests_is_a_cell_of_one_firm(ledger: Ledger) -> None:
    """Nobody publishes the firm: it is what three regions leave of all four."""
    total = dk.Table.from_cells({"k": ["k"], "x": [90], "n": [15]}, by={"k": None}, value="x", count="n")
    asked = firms(fixed={"region": "bcd"}, groupings={"region": {"bcd": ["b", "c", "d"]}})
    found = ledger.check(total, asked, name="request")
    assert not found.safe
    assert "region=a" in [e.cell for e in found.audit.exposed]


def test_a_derived_cell_that_nobody_marked_is_found(tmp_path: Path) -> None:
    ledger = dk.open_ledger(tmp_path / "l", create=True)
    kinds = {"kind": ["k", "l"], "x": [100, 50], "n": [9, 6]}
    ledger.add(dk.Table.from_cells(kinds, by={"kind": None}, value="x", count="n"), firms(), name="all firms")
    some = {"kind": ["k", "l"], "x": [93, 50], "n": [8, 6]}
    asked = firms(fixed={"size": "10 and more"}, groupings={"size": {"all sizes": ["10 and more", "fewer"]}})
    table = dk.Table.from_cells(some, by={"kind": None}, value="x", count="n")
    found = ledger.check(table, asked, name="without the smallest")
    assert not found.safe, "one firm more or less"
    done = dk.suppress(table, ledger=ledger.about(asked))
    assert done.table.hidden.any()
    assert ledger.check(done.table, asked).safe


@pytest.mark.parametrize("many", [refusing.MOST_PUBLISHED, 4])
def test_what_cannot_be_protected_is_refused_with_what_is_to_blame(
    ledger: Ledger, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusing, "MOST_PUBLISHED", many)  # beyond so many cells around it only those of the proof
    inner = {"region": ["a", "b", "c", "d"] * 2, "size": ["s"] * 4 + ["l"] * 4, "x": [4, 9, 14, 19, 6, 11, 16, 21]}
    both = dk.Table.from_cells(inner, by={"region": REGION, "size": None}, value="x")
    ledger.add(
        dk.Table.from_cells({"k": ["k"], "x": [14]}, by={"k": None}, value="x"),
        firms(fixed={"region": "c", "size": "s"}), name="request 17",
    )  # fmt: skip
    marked = both.with_status("primary", [["c", "l"], ["a", "Total"]])
    with pytest.raises(NotBeside) as caught:
        dk.suppress(marked, ledger=ledger.about(firms(), "by size"))
    [because] = caught.value.because
    assert "request 17" in because
    assert "Yearbook 2024 table 3, region=c" in because
    assert "region without the parts of 'S'" in caught.value.instead, "a and b may be shown, and so may the whole of S"
    assert "rounding or intervals do not help" in str(caught.value)


def test_a_changed_value_is_refused_with_both_places_and_taken_as_a_revision(ledger: Ledger) -> None:
    changed = dk.Table.from_cells(
        {"region": list("abcd"), "x": [10, 20, 35, 40], "n": COUNTS}, by={"region": REGION}, value="x", count="n"
    ).with_status("primary", [["a"]])
    with pytest.raises(Contradiction, match=r"'again' .* 'Yearbook 2024 table 3'"):
        ledger.add(changed, firms(), name="again")
    done = dk.suppress(changed, ledger=ledger.about(firms(revises="Yearbook 2024 table 3")))
    ledger.add(done.table, firms(revises="Yearbook 2024 table 3"), name="revised")
    told = ledger.history({"region": "c", "period": "2024"})
    assert [(t["name"], t["shown"]) for t in told] == [("Yearbook 2024 table 3", 30.0), ("revised", 35.0)]


def test_an_old_value_is_public_for_ever(tmp_path: Path) -> None:
    ledger = dk.open_ledger(tmp_path / "l", create=True)
    ledger.add(regions(marked=False), firms(provisional=True), name="provisional")
    found = ledger.check(dk.suppress(regions()).table, firms(revises="provisional"), name="final")
    assert found.hidden_shown == ("region=a is sensitive, and shown openly in provisional",)
    with pytest.raises(NotBeside, match="public"):
        dk.suppress(regions(), ledger=ledger.about(firms(revises="provisional"), "final"))


def test_codes_of_which_nobody_said_what_they_are_part_of_are_refused(ledger: Ledger) -> None:
    other = dk.Table.from_cells({"region": ["e"], "x": [1]}, by={"region": None}, value="x")
    with pytest.raises(MeaningUnknown, match="'e'"):
        ledger.check(other, firms())


def test_another_population_needs_a_reason(ledger: Ledger) -> None:
    with pytest.raises(MeaningUnknown, match="farms"):
        ledger.check(regions(), firms(population="farms"))
    assert ledger.check(dk.suppress(regions()).table, firms(population="farms", apart="another survey")).safe


def test_a_code_made_of_other_codes_is_refused(ledger: Ledger) -> None:
    tree = dk.Hierarchy.from_nested({"DE": {"N": ["a", "c"], "S": ["b", "d"]}})
    with pytest.raises(MeaningUnknown, match="region N"):
        ledger.check(regions(tree), firms())


def test_rates_give_away_hidden_levels_and_are_withheld(tmp_path: Path) -> None:
    ledger = dk.open_ledger(tmp_path / "l", create=True)
    ledger.add(regions(marked=False), firms(period="2023"), name="2023")
    cells = {"region": list("abcd"), "x": [11, 22, 33, 44], "n": COUNTS, "least": [1, 0, 0, 0]}
    levels = dk.Table.from_cells(
        cells, by={"region": REGION}, value="x", count="n", below="least", above="least"
    ).with_status("primary", [["a"]])  # fmt: skip
    ledger.add(dk.suppress(levels).table, firms(), name="2024")
    rates = _rates()
    of = dk.ledger.Ratio(under={"period": "2023"}, times=100, plus=-100)
    growth = firms(value="x", ratio=of)
    found = ledger.check(rates, growth, name="growth 2024")
    assert [e.cell for e in found.audit.exposed] == ["region=a, period=2024"]
    assert "growth 2024, region=" in found.report()
    done = dk.suppress(rates, ledger=ledger.about(growth))
    assert done.table.hidden.any()
    assert ledger.check(done.table, growth).safe


def test_rates_stay_true_of_the_values_they_were_made_of_when_those_are_revised(tmp_path: Path) -> None:
    ledger = dk.open_ledger(tmp_path / "l", create=True)
    ledger.add(regions(marked=False), firms(period="2023"), name="2023")
    ledger.add(regions(scale=1.1, marked=False), firms(), name="2024")
    of = dk.ledger.Ratio(under={"period": "2023"}, times=100, plus=-100)
    growth = firms(value="x", ratio=of)
    ledger.add(_rates(), growth, name="growth 2024")
    late = firms(period="2023", revises="2023")
    ledger.add(regions(scale=0.9, marked=False), late, name="2023 revised")
    assert ledger.check(regions(ZONES, scale=1.1, marked=False), firms()).safe
    with pytest.raises(Contradiction, match="7 published ratios of 'again'"):
        ledger.check(_rates(), growth, name="again")


def _rates() -> dk.Table:
    given = np.full(7, 10.0)
    with pytest.warns(ProtectionWarning):
        return dk.Table.from_cells(
            {"region": ["a", "b", "c", "d", "N", "S", "DE"], "g": given}, by={"region": REGION}, value="g", sums="keep"
        )


def test_a_rate_printed_with_a_decimal_was_rounded_to_it_even_if_it_is_whole(ledger: Ledger, tmp_path: Path) -> None:
    of = dk.ledger.Ratio(under={"period": "2023"}, times=100, plus=-100)
    for printed, low, high in (("5.0", 1.0495, 1.0505), ("5", 1.045, 1.055)):
        file = tmp_path / "rates.csv"
        file.write_text(f"region,g\na,{printed}\nb,{printed}\n")
        entry = ledger.add_published(
            file, firms(value="x", ratio=of), by={"region": REGION}, value="g", name=f"rates {printed}"
        )
        least, most = bounds_of(entry, ledger.cells(entry))
        assert (least[0], most[0]) == (low, high)


def test_no_two_sets_of_codes_have_one_name() -> None:
    """Sets of many codes are said in short, and a code may be called like two others together."""
    codes = ("a", "b", "a+b", "d", "e", "f", "g")
    scheme = scheme_of("r", [("one", (("DE", codes),), ())], "DE")
    alike = [["a", "b"], ["a+b"], ["a", "b", "a+b", "d", "e"], ["a", "b", "a+b", "f", "g"], ["d"]]
    sets = [sum(scheme.set_of(code) for code in each) for each in alike]
    assert distinct_words(scheme, "r", sets) == ("{a, b}", "{a+b}", "{a, b, a+b, d, e}", "{a, b, a+b, f, g}", "d")


@pytest.mark.parametrize(("old", "new"), [(1e12, 1e12 + 400), (1e9, 1e9 + 0.5), (123456789012.34, 123456789012.35)])
def test_another_value_is_another_value_however_large_it_is(tmp_path: Path, old: float, new: float) -> None:
    ledger = dk.open_ledger(tmp_path / "l", create=True)
    tables = [
        dk.Table.from_cells({"r": ["a", "b"], "x": [x, 20], "n": [50, 5]}, by={"r": None}, value="x", count="n")
        for x in (old, new)
    ]
    ledger.add(tables[0], firms(), name="old")
    assert ledger.check(tables[0], firms()).safe
    with pytest.raises(Contradiction):
        ledger.check(tables[1], firms())


@pytest.mark.parametrize(
    ("one", "other", "fine"),
    [("1.234", "5.678", False), ("1.234", "x", False), ("1.234", "5.67", True), ("0.234", "1.5", True),
     ("1.2340", "x", True), ("inf", "5", False), ("nan", "5", False), ("1e999", "5", False)],
)  # fmt: skip
def test_a_published_number_is_read_as_it_is_meant_or_not_at_all(
    tmp_path: Path, one: str, other: str, fine: bool
) -> None:
    ledger = dk.open_ledger(tmp_path / "l", create=True)
    file = tmp_path / "bulletin.csv"
    file.write_text(f"region;x\na;{one}\nb;{other}\n")
    try:
        ledger.add_published(file, firms(), by={"region": None}, value="x", name="Bulletin 7")
    except UnreadableFile:
        assert not fine
    else:
        assert fine


def test_multiples_and_factors_are_numbers() -> None:
    for wrong in (float("nan"), float("inf"), -1.0):
        with pytest.raises(BadOption):
            About(rounded=wrong)
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(BadOption):
            dk.ledger.Ratio(under={}, times=wrong)


def test_a_revision_of_nothing_is_refused(ledger: Ledger) -> None:
    with pytest.raises(NoSuchEntry, match="yearbook"):
        ledger.check(regions(scale=2), firms(revises="yearbook"))
    with pytest.raises(NoSuchEntry, match="yearbook"):
        ledger.add(regions(scale=2), firms(revises="yearbook"), name="late")


def test_rates_of_a_value_that_nobody_knows_are_refused(ledger: Ledger) -> None:
    of = dk.ledger.Ratio(under={"period": "2023"}, times=100, plus=-100)
    with pytest.raises(MeaningUnknown):
        ledger.check(_rates(), firms(value="turnovr", ratio=of))


@pytest.mark.parametrize(
    ("unit", "scale"),
    [
        ("1000 EUR", (1000, "EUR")), ("1.000 EUR", (1000, "EUR")), ("1,000,000 EUR", (1e6, "EUR")),
        ("1.5 t", (1.5, "t")), ("0.001 t", (0.001, "t")), ("1,5 EUR", (1, "1,5 EUR")), ("0 EUR", (1, "0 EUR")),
        ("1.000,5 EUR", (1, "1.000,5 EUR")), ("Mio EUR", (1, "Mio EUR")),
    ],
)  # fmt: skip
def test_a_number_before_a_unit_is_read_or_belongs_to_its_name(unit: str, scale: tuple[float, str]) -> None:
    assert About(unit=unit).scale == scale


def test_means_beside_counts_give_away_totals(ledger: Ledger) -> None:
    counts = dk.Table.from_cells({"region": list("abcd"), "n": COUNTS}, by={"region": REGION}, value="n")
    ledger.add(counts, firms(value="firms", unit="", apart="how many there are"), name="firms")
    means = dk.Table.from_cells({"region": list("abcd"), "m": [10.0, 4.0, 6.0, 8.0]}, by={"region": REGION}, value="m")
    of = dk.ledger.Ratio(under={"value": "firms", "unit": ""})
    asked = About(population="firms", value="x", period="2024", unit="EUR", rounded=0.1, ratio=of)
    found = ledger.check(means, asked, dk.Promise(min_relative_range=0.5), name="means")
    assert "region=a" in " ".join(e.cell for e in found.audit.exposed)


def test_quarters_add_up_to_the_year_and_stocks_do_not(tmp_path: Path) -> None:
    for stock in (False, True):
        ledger = dk.open_ledger(tmp_path / str(stock), create=True)
        year = dk.suppress(regions(scale=4)).table
        ledger.add(year, firms(stock=stock), name="year")
        for quarter in range(1, 5):
            found = ledger.check(regions(marked=False), firms(period=f"2024-Q{quarter}", stock=stock))
            if quarter < 4:
                assert found.safe
                ledger.add(regions(marked=False), firms(period=f"2024-Q{quarter}", stock=stock), name=f"Q{quarter}")
        assert found.safe is stock, "the last quarter completes the year"


def test_rounded_values_are_bounds(ledger: Ledger) -> None:
    """Beside the yearbook, a table by zones rounded to tens leaves the hidden region ten to spare, to ones none."""
    exact = ledger.check(regions(ZONES, marked=False), firms(rounded=0.001), name="zones")
    assert not exact.safe


def test_a_table_made_elsewhere_is_entered_as_it_was_published(ledger: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "bulletin.csv"
    file.write_text("region,turnover,turnover_lower,turnover_upper\nwet,40,,\ndry,60,,\nDE,100,,\n")
    tree = dk.Hierarchy.from_nested({"DE": {"wet": ["a", "c"], "dry": ["b", "d"]}})
    told = firms(value="x")
    ledger.add_published(file, told, by={"region": tree}, value="turnover", name="Bulletin 7")
    assert [t["shown"] for t in ledger.history({"region": "wet", "period": "2024"})] == [40.0]
    found = ledger.check(dk.suppress(regions(ZONES)).table.with_status("open", [["b"]]), firms())
    assert not found.safe
    assert "Bulletin 7" in found.report()


def test_moves_of_an_earlier_check_settle_a_later_one(ledger: Ledger) -> None:
    done = dk.suppress(regions(ZONES), ledger=ledger.about(firms()))
    assert done.beside is not None
    ledger.add(done.table, firms(), name="Zones 2024", settled=done.beside.audit)
    sizes = {"region": ["a", "b", "c", "d"] * 2, "size": ["s"] * 4 + ["l"] * 4, "x": [4, 9, 14, 19, 6, 11, 16, 21]}
    table = dk.Table.from_cells(sizes, by={"region": REGION, "size": None}, value="x")
    marked = table.with_status("primary", [["a", "Total"]])
    late = dk.suppress(marked, ledger=ledger.about(firms())).table
    found = ledger.check(late, firms())
    assert found.safe
    assert found.audit.without_solver == found.audit.checked
    for file in (ledger.folder / "settled").iterdir():
        file.write_bytes(b"nonsense")
    assert ledger.check(late, firms()).safe, "what is lost there costs time only"


def test_rounded_values_are_shown_unless_they_tell(tmp_path: Path, ledger: Ledger) -> None:
    """A rounded value is a bound: alone it exposes nothing, beside the yearbook one by zones would."""
    empty = dk.open_ledger(tmp_path / "empty", create=True)
    done = dk.suppress(regions(marked=False), ledger=empty.about(firms(rounded=5.0)))
    assert not done.table.hidden.any()
    zones = regions(ZONES, marked=False)
    done = dk.suppress(zones, ledger=ledger.about(firms(rounded=0.5)))
    assert done.table.hidden.any()
    assert not done.table.hidden.all()
    assert ledger.check(done.table, firms(rounded=0.5)).safe


def test_whoever_is_alone_in_a_cell_before_and_after_a_revision_is_one_person(tmp_path: Path) -> None:
    ledger = dk.open_ledger(tmp_path / "l", create=True)
    rule = dk.rules.MinCount(2) | dk.rules.PPercent(15)
    for name, first in (("first", 10), ("revised", 16)):
        cells = {
            "region": [*"abcd"],
            "x": [first, 20, 30, 40],
            "n": COUNTS,
            "top": [first, 5, 7, 9],
            "next": [0, 5, 7, 9],
        }
        table = dk.Table.from_cells(cells, by={"region": REGION}, value="x", count="n", largest=["top", "next"])
        what = firms(revises="first" if name == "revised" else "")
        done = dk.suppress(dk.mark(table, rule), ledger=ledger.about(what))
        assert ledger.check(done.table, what).safe
        ledger.add(done.table, what, name=name)


def test_what_is_left_of_a_sum_is_what_it_was_before_the_sum_was_revised(tmp_path: Path) -> None:
    """Of region b 20, of which small firms have 6; then b is corrected to 4: its large firms had 14, and not -2."""
    ledger = dk.open_ledger(tmp_path / "l", create=True)
    every = firms(groupings={"size": {"all": ["small", "large"]}}, totals={"size": "all"})
    ledger.add(dk.suppress(regions()).table, every, name="year")
    cells = {"region": list("abcd"), "x": [5, 6, 7, 8], "n": [1, 3, 3, 3]}
    small = dk.Table.from_cells(cells, by={"region": REGION}, value="x", count="n").with_status("primary", [["a"]])
    about = replace(every, fixed={"size": "small"})
    ledger.add(dk.suppress(small, ledger=ledger.about(about)).table, about, name="small firms")
    corrected = {"region": list("abcd"), "x": [10, 4, 30, 40], "n": COUNTS}
    table = dk.Table.from_cells(corrected, by={"region": REGION}, value="x", count="n").with_status("primary", [["a"]])
    _, link = ledger.link(table, replace(every, revises="year"))
    value = {link.cells.name_of(cell): link.cells.value[cell] for cell in range(link.cells.size)}
    assert value["region=b, period=2024, size=large"] == 14


def test_where_the_search_for_moves_gives_up_more_is_hidden_and_no_cell_too_many(ledger: Ledger) -> None:
    beside = ledger.about(firms()).beside(regions(ZONES), dk.Promise())
    cells, asked = beside.cells, beside.promise
    gave_up = Suppression(table=cells, before=cells, promise=asked, moves=MoveSet.none(), audit=dk.audit(cells, asked))
    assert gave_up.audit is not None
    assert not gave_up.audit.safe
    done = widened(beside, gave_up)
    assert done.audit is not None
    assert done.audit.safe
    for cell in np.flatnonzero(done.secondary & (cells.status == dk.Status.OPEN)).tolist():
        status = done.table.status.copy()
        status[cell] = dk.Status.OPEN
        assert not dk.audit(replace(done.table, status=status), asked).safe, "one cell fewer would do"


def test_whoever_protects_beside_hidden_values_that_nobody_told_is_warned(tmp_path: Path) -> None:
    ledger = dk.open_ledger(tmp_path / "l", create=True)
    file = tmp_path / "bulletin.csv"
    file.write_text("kind,turnover\nk,x\nl,x\nboth,100\n")
    kinds = {"kind": dk.Hierarchy.flat("kl", total="both")}
    ledger.add_published(file, firms(value="x"), by=kinds, value="turnover", name="Bulletin 7")
    with pytest.warns(ProtectionWarning, match="2 hidden cells are not known to the ledger"):
        done = dk.suppress(regions(), ledger=ledger.about(firms()))
    assert any("not known to the ledger" in note for note in done.notes)
