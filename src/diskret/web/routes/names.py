"""Names of files in addresses: whatever stands there is a name, to be judged by the workspace."""

from __future__ import annotations

from starlette.convertors import PathConvertor, register_url_convertor


class AnyName(PathConvertor):
    """A path that may hold line breaks, too."""

    regex = "(?s:.*)"


register_url_convertor("any", AnyName())
NAME = "{name:any}"
"""The rest of an address as the name of a file."""
