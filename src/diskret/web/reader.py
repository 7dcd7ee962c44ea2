"""The process that reads for the page: ``python -m diskret.web.reader BYTES``, how much memory it may hold.

Questions come in by standard input and answers leave by standard output, pickled: its parent is the only one it talks
with. It ends with its parent, or when it has computed for too long.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from typing import IO, Any

from diskret.model.errors import DiskretError
from diskret.model.processes import end_with_parent
from diskret.web.answers import our_mistake
from diskret.web.confined import keep_private, limit_memory, limit_time


def main(most_memory: int) -> None:
    """Answer until nobody asks any more."""
    asked, answers = _own_streams()
    keep_private()
    limit_memory(most_memory)
    end_with_parent()
    while True:
        try:
            function, given, seconds = pickle.load(asked)
        except EOFError:
            return
        limit_time(seconds)
        answers.write(_answer(function, given))
        answers.flush()


def _answer(function: Callable[..., Any], given: tuple[Any, ...]) -> bytes:
    try:
        return pickle.dumps(("found", function(*given)), protocol=pickle.HIGHEST_PROTOCOL)
    except DiskretError as e:
        return pickle.dumps(("refused", e))
    except MemoryError:
        return pickle.dumps(("memory", None))
    except Exception as e:
        if os.environ.get("DISKRET_DEBUG"):
            raise
        return pickle.dumps(("mistake", our_mistake(e, "start again")))


def _own_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Questions and answers by streams of their own: nothing that prints comes between them."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return asked, answers


if __name__ == "__main__":
    main(int(sys.argv[1]))
