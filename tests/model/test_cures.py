"""What cures an error reaches the command line, the page and other processes."""

from __future__ import annotations

import pickle

from diskret.cli.show import cures
from diskret.model.cures import key_of
from diskret.model.errors import Cure, DiskretError, UnknownCode
from diskret.web.answers import plain

TOTAL = Cure(key=key_of("classifications", "size.2024", "total"), value="Insgesamt", label="take as total")
EDIT = Cure(key="classifications.region.hierarchy", value=None, label="edit the hierarchy")


def test_a_key_whose_names_have_dots_comes_apart_again() -> None:
    assert TOTAL.path == ("classifications", "size.2024", "total")
    assert Cure(key="classifications.Größe.total", value=1, label="").path == ("classifications", "Größe", "total")


def test_a_cure_is_a_line_of_toml_on_the_command_line() -> None:
    error = UnknownCode("code", cures=[TOTAL, EDIT])
    assert cures(error) == ['  to take as total: [classifications."size.2024"] total = "Insgesamt"']


def test_a_cure_reaches_the_page_through_another_process() -> None:
    error: DiskretError = pickle.loads(pickle.dumps(UnknownCode("code", where="here", hint="do", cures=[TOTAL])))
    assert plain(error)["cures"] == [
        {
            "key": 'classifications."size.2024".total',
            "path": ["classifications", "size.2024", "total"],
            "value": "Insgesamt",
            "label": "take as total",
            "words": "take as total",
        }
    ]
