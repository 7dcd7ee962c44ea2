"""Public names of a room, looked up on first use: nobody waits for what is not used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def names_of(room: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a room, from its modules and the names each gives away.

    >>> look_up, listed = names_of("diskret.rules", {"mark": "mark", "magnitude": "MinCount PPercent"})
    >>> listed(), look_up("PPercent").__name__
    (['MinCount', 'PPercent', 'mark'], 'PPercent')
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def look_up(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(f"{room}.{home[name]}"), name)

    return look_up, lambda: sorted(home)
