"""Safe files of tau-ARGUS: every layout to the byte, and who may read what."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.io.cell_list import read_cell_list
from diskret.io.jj import read_jj
from diskret.model.errors import BadOption, NotProtected, ProtectionWarning
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.publication.argus.options import CONFIDENTIAL, KNOWN, Format
from diskret.publication.argus.write import write_safe_file
from diskret.publication.doors import Leaving
from diskret.rules.magnitude import MinCount, PPercent

REGION = Hierarchy.from_nested({"Total": {"N": ["N1", "N2"], "S": None}})


@pytest.fixture
def table() -> Table:
    """Two regions and a part of one, by sex; one cell is empty, one primary, five secondary."""
    cells = {
        "region": ["N1", "N1", "N2", "N2", "S", "S"],
        "sex": ["m", "w"] * 3,
        "x": [10.0, 20.0, 0.0, 5.5, 7.0, 8.0],
        "n": [4, 5, 0, 3, 1, 9],
        "x1": [4.0, 9.0, 0.0, 2.0, 7.0, 2.0],
        "x2": [3.0, 6.0, 0.0, 2.0, 0.0, 1.0],
    }
    by = {"region": REGION, "sex": None}
    made = Table.from_cells(cells, by=by, value="x", count="n", largest=["x1", "x2"])
    made = dk.mark(made, MinCount(3, margin=10) | PPercent(10), special_cases=False)
    hidden = [("S", "w"), ("N", "m"), ("N", "w"), ("N1", "m"), ("N1", "w")]
    return made.with_status(Status.SECONDARY, hidden).sealed()


def text(given: Leaving, folder: Path, format: Format, **options: Any) -> str:
    """The safe file, its line ends shown as such."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        path, *_ = write_safe_file(given, folder / "t.txt", format, **options)
    return path.read_bytes().decode()


def lines(*expected: str) -> str:
    return "".join(line + "\r\n" for line in expected)


# --- type 1 ----------------------------------------------------------------------------------------------------------


def test_a_matrix_shows_totals_first_marks_for_what_is_hidden_and_dashes_for_what_is_empty(
    table: Table, tmp_path: Path
) -> None:
    assert text(table, tmp_path, "csv") == lines(
        ',"Total","m","w"',
        '"Total",50.5,17.0,33.5',
        '"N",35.5,x,x',
        '"N1",30.0,x,x',
        '"N2",5.5,-,5.5',
        '"S",15.0,x,x',
        "",
    )


def test_tau_argus_3_ends_lines_of_values_with_a_separator(table: Table, tmp_path: Path) -> None:
    found = text(table, tmp_path, "csv", version=3, widths={"sex": 3}, quotes=True).splitlines()
    assert found[:3] == [',"Total","  m","  w"', '"Total",50.5,17.0,33.5,', '"N",35.5,x,x,']


def three(values: Sequence[float]) -> Table:
    cells = {"a": ["1", "1", "2", "2"], "b": ["x", "y"] * 2, "c": ["q"] * 4, "v": values}
    return Table.from_cells(cells, by={"a": None, "b": None, "c": None}, value="v")


def test_a_third_classification_gives_one_layer_after_the_other(tmp_path: Path) -> None:
    layer = [',"Total","q"', '"Total",10,10', '"x",4,4', '"y",6,6', ""]
    found = text(three([1, 2, 3, 4]), tmp_path, "csv", unprotected=True)
    assert found.startswith(lines('Var 1,"Total"', *layer, 'Var 1,"1"'))
    old = text(three([1, 2, 3, 4]), tmp_path, "csv", unprotected=True, version=3)
    assert old.startswith('Var 1,"Total", \r\n')


def test_one_classification_is_a_line_that_does_not_end(tmp_path: Path) -> None:
    table = Table.from_cells({"s": ["a", "b"], "x": [1, 2]}, by={"s": None}, value="x")
    assert text(table, tmp_path, "csv", unprotected=True, quotes=False) == ",Total,a,b\r\n,3,1,2"


# --- types 2 and 3 ---------------------------------------------------------------------------------------------------


def test_code_and_value_hide_what_is_hidden(table: Table, tmp_path: Path) -> None:
    found = text(table, tmp_path, "code-value", quotes=False, suppress_empty=True)
    assert found == lines(
        "Total,Total,50.5", "Total,m,17.0", "Total,w,33.5", "N,Total,35.5", "N,m,x", "N,w,x",
        "N1,Total,30.0", "N1,m,x", "N1,w,x", "N2,Total,5.5", "N2,w,5.5", "S,Total,15.0", "S,m,x", "S,w,x",
    )  # fmt: skip


def test_a_pivot_file_names_its_columns(table: Table, tmp_path: Path) -> None:
    found = text(table, tmp_path, "pivot").splitlines()
    assert found[:2] == ['"region","sex","x"', '"Total","Total",50.5']
    assert found[11] == '"N2","m",-'


def test_with_status_every_value_is_there_as_tau_argus_writes_it(table: Table, tmp_path: Path) -> None:
    found = text(table, tmp_path, "code-value", status=True, names_first=True).splitlines()
    assert found[0] == '"region","sex","x","Status"'
    assert found[8:12] == ['"N1","m",10.0,11', '"N1","w",20.0,11', '"N2","Total",5.5,1', '"N2","m",-,14']
    # caught by p% and by the minimum count: tau-ARGUS names the dominance
    assert found[14] == '"S","m",7.0,3'


def test_a_count_alone_is_named_by_its_own_number(table: Table, tmp_path: Path) -> None:
    few = dk.mark(table, MinCount(3), special_cases=False)
    assert '"S","m",7.0,5' in text(few, tmp_path, "code-value", status=True)
    by_hand = replace(few, rule=None, rules=())
    assert '"S","m",7.0,9' in text(by_hand, tmp_path, "code-value", status=True)


# --- type 4 ----------------------------------------------------------------------------------------------------------


def test_business_statistics_have_flags_frequencies_and_shares(table: Table, tmp_path: Path) -> None:
    found = text(table, tmp_path, "sbs", hierarchical_levels=True, quotes=False).splitlines()
    assert found[0] == "Total,0,Total,0,50.5,22,V"
    assert found[6:9] == ["N1,2,Total,0,30.0,9,V", "N1,2,m,0,10.0,4,D", "N1,2,w,0,20.0,5,D"]
    assert found[12] == "S,1,m,0,7.0,1,F,100.0,0.0"
    assert not any(line.startswith("N2,2,m") for line in found)


def test_a_few_contributors_are_flag_a(table: Table, tmp_path: Path) -> None:
    few = dk.mark(table, MinCount(3), special_cases=False)
    assert "S,m,7.0,1,A" in text(few, tmp_path, "sbs", quotes=False).splitlines()


# --- type 5 ----------------------------------------------------------------------------------------------------------


def test_an_intermediate_file_holds_everything_with_metadata_and_hierarchies(table: Table, tmp_path: Path) -> None:
    files = write_safe_file(table, tmp_path / "t.tab", report=False)
    assert [f.name for f in files] == ["t.tab", "t.rda", "t_1.hrc"]
    cells, metadata, hierarchy = (f.read_bytes().decode() for f in files)
    assert cells.splitlines()[6:12] == [
        '"N1";"Total";30.0;9;30.0;30.0;9.0;6.0;S;0.1;0.1',
        '"N1";"m";10.0;4;10.0;10.0;4.0;3.0;M;0.1;0.1',
        '"N1";"w";20.0;5;20.0;20.0;9.0;6.0;M;0.1;0.1',
        '"N2";"Total";5.5;3;5.5;5.5;2.0;2.0;S;0.1;0.1',
        '"N2";"m";0.0;0;0.0;0.0;0.0;0.0;E;0;0',
        '"N2";"w";5.5;3;5.5;5.5;2.0;2.0;S;0.1;0.1',
    ]
    assert '"S";"m";7.0;1;7.0;7.0;7.0;0.0;U;0.7;0.7' in cells
    assert metadata == lines(
        '   <SEPARATOR> ";"',
        "region", "    <RECODEABLE>", '    <TOTCODE> "Total"', "    <HIERARCHICAL>", '    <HIERCODELIST> "t_1.hrc"',
        '    <HIERLEADSTRING> "@"',
        "sex", "    <RECODEABLE>", '    <TOTCODE> "Total"',
        "x", "    <NUMERIC>", "    <DECIMALS> 1",
        "FreqVar", "    <FREQUENCY>", "x_Shadow", "    <NUMERIC> <SHADOW>", "x_Cost", "    <NUMERIC> <COSTVAR>",
        "Top1", "    <MAXSCORE>", "Top2", "    <MAXSCORE>", "StatusVar", "    <STATUS>",
        "LowerProtLevel", "    <NUMERIC> <LOWERPL>", "UpperProtLevel", "    <NUMERIC> <UPPERPL>",
    )  # fmt: skip
    assert hierarchy == lines("N", "@N1", "@N2", "S")


def test_tau_argus_3_puts_blanks_before_numbers_and_quotes_no_totals(table: Table, tmp_path: Path) -> None:
    cells, metadata, _ = write_safe_file(table, tmp_path / "t.tab", report=False, version=3, widths={"sex": 4})
    found = cells.read_text().splitlines()
    assert found[10] == '"N2";"   m"; 0.0; 0; 0.0; 0.0; 0.0; 0.0; E; 0; .1'
    assert '"S";"   m"; 7.0; 1; 7.0; 7.0; 7.0; 0.0; U; .7; .7' in found
    assert metadata.read_text().startswith('<SEPARATOR>  ";"\nregion\n    <RECODEABLE>\n    <TOTCODE> Total\n')


def test_a_lower_level_never_reaches_quite_down_to_nothing_in_tau_argus_3(tmp_path: Path) -> None:
    cells = {"s": ["a", "b"], "x": [1, 9], "st": ["primary", "open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    assert '"a"; 1; 1; 1; U; .9; 1\r\n' in text(table, tmp_path, "intermediate", version=3)
    assert '"a";1;1;1;U;1;1\r\n' in text(table, tmp_path, "intermediate")


def test_rules_that_judge_another_variable_have_it_beside_the_values(table: Table, tmp_path: Path) -> None:
    assert table.respondents is not None
    assert table.respondents.largest is not None
    shadow = replace(table.respondents, shadow_absolute=2 * table.value, shadow_largest=3 * table.respondents.largest)
    found = text(replace(table, respondents=shadow), tmp_path, "intermediate", quotes=False).splitlines()
    assert found[7] == "N1;m;10.0;4;20.0;10.0;12.0;9.0;M;0.1;0.1"


def test_status_only_leaves_out_shadow_and_contributions(table: Table, tmp_path: Path) -> None:
    found = text(table, tmp_path, "intermediate", status_only=True, quotes=False, suppress_empty=True).splitlines()
    assert found[7] == "N1;m;10.0;4;10.0;M;0.1;0.1"
    assert len(found) == table.size - 1


def test_audit_results_stand_behind_the_levels(table: Table, tmp_path: Path) -> None:
    found = text(table, tmp_path, "intermediate", status_only=True, audit=True).splitlines()
    assert found[0].endswith(";S;0.1;0.1;0.0;0.0;0.0;0;0;0")
    assert found[7] == '"N1";"m";10.0;4;10.0;M;0.1;0.1;2.0;17.0;15.0;80.00;70.00;150.00'
    assert "//Lower auditlevel" in (tmp_path / "t.rda").read_text()


def test_a_frequency_table_has_its_counts_once(tmp_path: Path) -> None:
    table = Table.from_cells({"s": ["m", "w"], "people": [3, 4]}, by={"s": None}, value="people", frequency=True)
    assert text(table, tmp_path, "intermediate") == lines(
        '"Total";7;7;S;1;1', '"m";3;3;S;1;1', '"w";4;4;S;1;1'
    )  # fmt: skip
    assert "FreqVar\n    <FREQUENCY>\nFreqVar_Cost\n" in (tmp_path / "t.rda").read_text()


def test_what_is_written_is_read_back(table: Table, tmp_path: Path) -> None:
    cells, metadata, *_ = write_safe_file(table, tmp_path / "t.tab")
    again = read_cell_list(cells, metadata)
    assert again.by == table.by
    assert np.array_equal(again.value, table.value)
    assert np.array_equal(again.hidden, table.hidden)
    primary = table.status == Status.PRIMARY
    assert table.above is not None
    assert again.above is not None
    assert np.allclose(again.above[primary], table.above[primary])


# --- type 6 ----------------------------------------------------------------------------------------------------------


def test_cells_and_equations_are_written_with_bounds_and_scaled_costs(tmp_path: Path) -> None:
    cells = {"s": ["a", "b", "c"], "x": [3, 0, 7], "n": [1, 0, 5], "st": ["primary", "open", "secondary"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", count="n", status="st")
    found = text(table, tmp_path, "jj")
    assert found == lines(
        "0", "4",
        "0 10 20000 s 0.0 15.0 0.000 1.000 0",
        "1 3 6000 u 0.0 15.0 1.000 1.000 0",
        "2 0 1 z 0 15 0.000 0.000 0",
        "3 7 14000 m 0.0 15.0 0.000 1.000 0",
        "1", "0 4 : 0 (-1) 1 (1) 2 (1) 3 (1) ",
    )  # fmt: skip
    system = read_jj(tmp_path / "t.txt")
    assert system.value.tolist() == [10, 3, 0, 7]
    assert system.status.tolist() == [Status.OPEN, Status.PRIMARY, Status.NEVER, Status.SECONDARY]


def test_codes_that_are_the_only_part_of_another_can_be_left_out(tmp_path: Path) -> None:
    tree = Hierarchy.from_nested({"T": {"A": {"A1": ["A11", "A12"]}, "B": ["B1"]}})
    table = Table.from_cells({"s": ["A11", "A12", "B1"], "x": [1, 2, 4]}, by={"s": tree}, value="x")
    whole = text(table, tmp_path, "jj").splitlines()
    assert (whole[1], whole[9:]) == (
        "7",
        ["4", "0 3 : 0 (-1) 1 (1) 5 (1) ", "0 2 : 1 (-1) 2 (1) ", "0 3 : 2 (-1) 3 (1) 4 (1) ", "0 2 : 5 (-1) 6 (1) "],
    )
    less = text(table, tmp_path, "jj", remove_trivial=True).splitlines()
    assert (less[1], less[7:]) == ("5", ["2", "0 3 : 0 (-1) 1 (1) 4 (1) ", "0 3 : 1 (-1) 2 (1) 3 (1) "])


def test_a_table_with_several_classifications_has_an_equation_for_every_line(table: Table, tmp_path: Path) -> None:
    system = read_jj(write_safe_file(table, tmp_path / "t.jj", "jj")[0])
    assert (system.size, system.system.rows) == (table.size, 2 * 3 + 5)


# --- type 7 ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def noisy(table: Table) -> Any:
    design = dk.cellkey.design_p_table(deviation=2, variance=1)
    counts = Table.from_cells({"s": ["a", "b", "c"], "x": [5, 0, 9]}, by={"s": None}, value="x", frequency=True)
    keys = np.array([0.25, 0.0, 0.75, 0.0])
    return dk.perturb_by_key(replace(counts, key=keys), design)


def test_noise_is_published_alone_and_told_only_on_request(noisy: Any, tmp_path: Path) -> None:
    shown, before = noisy.table.value, noisy.original.value
    found = text(noisy, tmp_path, "cell-keys")
    assert found == lines(*(f'"{c}";{shown[i]:.0f}' for c, i in (("Total", 3), ("a", 0), ("b", 1), ("c", 2))))
    told = text(noisy, tmp_path, "cell-keys", original=True, differences=True, keys=True, suppress_empty=True)
    assert told.splitlines()[1] == f'"a";{shown[0]:.0f};{before[0]:.0f};{shown[0] - before[0]:.0f};0.25'
    assert len(told.splitlines()) == 3
    assert (tmp_path / "t.rda").read_text().endswith("Difference\n    <NUMERIC>\nCellKey\n    <CELLKEY>\n")


def test_zeros_that_noise_or_rounding_made_look_like_true_ones(noisy: Any, tmp_path: Path) -> None:
    cells = {"s": ["a", "b", "c"], "x": [1, 0, 99], "n": [1, 0, 9]}
    table = dk.mark(Table.from_cells(cells, by={"s": None}, value="x", count="n"), MinCount(3), special_cases=False)
    rounded = dk.round_table(table, base=10, seed=1)
    zeros = rounded.table.value == 0
    assert zeros[:2].all()
    for format in ("csv", "code-value", "pivot"):
        assert text(rounded, tmp_path, format, unprotected=True).count("-") == 2
    left = text(rounded, tmp_path, "code-value", unprotected=True, suppress_empty=True)
    assert left == lines('"Total",100', '"c",100')
    made = replace(noisy.table, value=np.array([0.0, 0.0, 9.0, 9.0]))
    shown = text(replace(noisy, table=made), tmp_path, "cell-keys", suppress_empty=True, unprotected=True)
    assert shown == lines('"Total";9', '"c";9')


def test_only_tables_with_cell_key_noise_have_such_a_file(table: Table, noisy: Any, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="cell-key noise"):
        write_safe_file(table, tmp_path / "t", "cell-keys")
    with pytest.raises(BadOption, match="true values"):
        write_safe_file(noisy, tmp_path / "t", "intermediate")


# --- who may read what -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csv", "pivot", "code-value"])
def test_a_table_nobody_protected_is_refused_for_the_public(table: Table, tmp_path: Path, format: Format) -> None:
    bare = replace(table, seal="")
    with pytest.raises(NotProtected):
        write_safe_file(bare, tmp_path / "t.csv", format)
    assert not list(tmp_path.iterdir())
    assert text(bare, tmp_path, format, unprotected=True) == text(table, tmp_path, format)


@pytest.mark.parametrize("format", list(KNOWN))
def test_confidential_files_are_for_their_owner_and_say_so(table: Table, tmp_path: Path, format: Format) -> None:
    if format == "cell-keys":
        return
    told: dict[str, Any] = {"status": True} if "status" in KNOWN[format] else {}
    secret = format in CONFIDENTIAL or bool(told)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        path, *_, page = write_safe_file(table, tmp_path / "t.csv", format, **told)
    assert (path.stat().st_mode & 0o077 == 0) == secret
    assert page.stat().st_mode & 0o077 == 0
    assert [w.category for w in said] == (
        [ProtectionWarning] if secret and format not in ("intermediate", "jj") else []
    )


def test_no_public_file_tells_a_hidden_value(table: Table, tmp_path: Path) -> None:
    odd = np.where(table.hidden, 7777.0, 1.0)
    secret = replace(table, value=odd).sealed()
    for format in ("csv", "pivot", "code-value"):
        assert "7777" not in text(secret, tmp_path, format)


def test_options_a_format_does_not_know_are_refused(table: Table, tmp_path: Path) -> None:
    strange: dict[Format, Any] = {"jj": {"status": True}, "csv": {"audit": True}, "sbs": {"keys": True}}
    for format, options in strange.items():
        with pytest.raises(BadOption, match="has no"):
            write_safe_file(table, tmp_path / "t", format, **options)
    wrong: list[Any] = [{"format": "xml"}, {"version": 5}, {"decimals": 12}, {"shiny": True}, {"widths": {"z": 3}}]
    wrong.append({"widths": {"sex": 10**9}})
    for each in wrong:
        with pytest.raises(BadOption):
            write_safe_file(table, tmp_path / "t", **each)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("code", "quotes"), [("a,b", False), ("a\nb", True), ('a"b', True)])
def test_codes_that_would_break_a_line_are_not_written(tmp_path: Path, code: str, quotes: bool) -> None:
    table = Table.from_cells({"s": [code, "a'b"], "x": [1, 2]}, by={"s": None}, value="x")
    with pytest.raises(BadOption, match="cannot be written"):
        write_safe_file(table, tmp_path / "t", "code-value", quotes=quotes, unprotected=True)


def test_names_that_would_break_the_first_line_are_not_written(tmp_path: Path) -> None:
    table = Table.from_cells({"s": ["a"], "x,y": [1]}, by={"s": None}, value="x,y")
    assert text(table, tmp_path, "pivot", unprotected=True).startswith('"s","x,y"\r\n')
    with pytest.raises(BadOption, match="first line"):
        write_safe_file(table, tmp_path / "t", "pivot", unprotected=True, quotes=False)


@pytest.mark.parametrize("name", ["t.rda", "T.HTML"])
def test_no_file_takes_the_place_of_the_one_it_lies_beside(table: Table, tmp_path: Path, name: str) -> None:
    with pytest.raises(BadOption, match="beside"):
        write_safe_file(table, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_zero_is_a_number_where_nobody_counted_contributors(tmp_path: Path) -> None:
    table = Table.from_cells({"s": ["a", "b"], "x": [0, 4]}, by={"s": None}, value="x")
    assert text(table, tmp_path, "code-value", unprotected=True, status=True) == lines(
        '"Total",4,2', '"a",0,2', '"b",4,2'
    )


def test_a_code_is_no_formula_in_a_public_file_and_itself_in_a_confidential_one(tmp_path: Path) -> None:
    table = Table.from_cells({"s": ["=1+1", "b"], "x": [1, 2]}, by={"s": None}, value="x")
    assert '"\'=1+1",1' in text(table, tmp_path, "code-value", unprotected=True)
    assert '"=1+1";1' in text(table, tmp_path, "intermediate")


def test_decimals_can_be_asked_for_and_longer_values_are_rounded_with_a_warning(table: Table, tmp_path: Path) -> None:
    assert '"Total","Total",50.500' in text(table, tmp_path, "code-value", decimals=3)
    assert '"Total","Total",50\r\n' in text(table, tmp_path, "code-value", decimals=0)
    with pytest.warns(ProtectionWarning, match="rounded to 0 decimals"):
        write_safe_file(table, tmp_path / "t.tab", decimals=0)


# --- the page --------------------------------------------------------------------------------------------------------


def test_the_page_sums_up_every_status_and_keeps_parameters_out(table: Table, tmp_path: Path) -> None:
    *_, page = write_safe_file(table, tmp_path / "t.csv", "csv")
    found = page.read_text(encoding="utf-8")
    assert page.name == "t.html"
    for word in ("Internal: confidential", "unsafe", "secondary", "minimum count", "p%", "t.csv", "..N1"):
        assert word in found
    assert "10" not in found.split("Primary rules")[-1].split("Protection")[0]
    german = write_safe_file(table, tmp_path / "t.csv", "csv", language="de")[-1].read_text(encoding="utf-8")
    assert "Zusammenfassung der Tabelle" in german


def test_names_are_escaped_on_the_page(tmp_path: Path) -> None:
    table = Table.from_cells({"s": ["<b>x", "b"], "x": [1, 2]}, by={"s": None}, value="x")
    *_, page = write_safe_file(table, tmp_path / "t.csv", "csv", unprotected=True)
    assert "<b>x" not in page.read_text(encoding="utf-8")
