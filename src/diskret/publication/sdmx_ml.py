"""SDMX-ML: structure-specific data, every observation with all its dimensions; suppressed ones have no value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from xml.sax.saxutils import quoteattr

from diskret.model.errors import BadOption, masked
from diskret.publication.observations import Observations, public_observations
from diskret.publication.options import Publication
from diskret.publication.release import Release
from diskret.publication.sdmx import Sdmx

IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, not even in another spelling."""
BREAKS = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
"""Written so that readers do not take them for blanks."""
SOME_DAY = date(1980, 1, 1)
"""A message must say when it was prepared; where nobody says so, nothing is taken from the clock."""
SCHEMAS = "http://www.sdmx.org/resources/sdmxml/schemas"
DATA = "DATA"
"""By which the data refer to their structure, inside the message."""


def write_sdmx_ml(release: Release, options: Publication, path: Path) -> None:
    """Write a table for the public."""
    write_observations_ml(public_observations(release, options), path)


def write_observations_ml(observations: Observations, path: Path) -> None:
    """Write observations as one message."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"{line}\n" for line in _head(observations))
        file.writelines(f"<Obs{''.join(row)}/>\n" for row in observations.rows(_attribute))
        file.write("</mes:DataSet>\n</mes:StructureSpecificData>\n")


def _attribute(name: str, text: str) -> str:
    """One field of an observation; what is not there is left out."""
    return f" {name}={_quoted(text)}" if text else ""


def _quoted(text: str) -> str:
    if IMPOSSIBLE.search(text):
        raise BadOption(
            f"{masked(text)!r} has a character that XML cannot hold", hint="give it another code with sdmx codes."
        )
    return quoteattr(text, BREAKS)


def _head(observations: Observations) -> Iterator[str]:
    sdmx = observations.sdmx
    schema = f"{SCHEMAS}/v{sdmx.version.replace('.', '_')}"
    urn = f"urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow={sdmx.dataflow}"
    prepared = observations.prepared or SOME_DAY
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield (
        f'<mes:StructureSpecificData xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:mes="{schema}/message"'
        f' xmlns:ss="{schema}/data/structurespecific" xmlns:com="{schema}/common"'
        f' xmlns:ns1="{urn}:ObsLevelDim:AllDimensions">'
    )
    yield "<mes:Header>"
    yield f"<mes:ID>{sdmx.id}</mes:ID>"
    yield "<mes:Test>false</mes:Test>"
    yield f"<mes:Prepared>{prepared.isoformat()}T00:00:00Z</mes:Prepared>"
    yield f'<mes:Sender id="{sdmx.sender}"/>'
    yield f'<mes:Structure structureID="{DATA}" namespace="{urn}" dimensionAtObservation="AllDimensions">'
    yield f"<com:StructureUsage>{_reference(sdmx, urn)}</com:StructureUsage>"
    yield "</mes:Structure>"
    yield "</mes:Header>"
    scope = ' ss:dataScope="DataStructure"' if sdmx.version == "2.1" else ""
    yield f'<mes:DataSet ss:structureRef="{DATA}" xsi:type="ns1:DataSetType"{scope} action="Information">'


def _reference(sdmx: Sdmx, urn: str) -> str:
    """The dataflow as a version of SDMX-ML refers to it."""
    if sdmx.version != "2.1":
        return urn
    return f'<Ref agencyID="{sdmx.agency}" id="{sdmx.id}" version="{sdmx.flow_version}" class="Dataflow"/>'
