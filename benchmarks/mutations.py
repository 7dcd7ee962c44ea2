"""Files made wrong, by a seed: bytes, tokens, and the inner parts of packed and sealed files."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

Mutation = Callable[[bytes, Random], bytes]

NUMBERS = (
    "-1", "0", "1", "-0", "1e308", "-1e308", "1e-320", "NaN", "Infinity", "-inf", str(2**31), str(2**63),
    str(-(2**63) - 1), str(2**64), "9" * 400, "9" * 5000, "0x10", "1_000", "1,5", "1.", ".5", "", "٣", "1e999999999",
    "4294967295",
)  # fmt: skip
TEXTS = (
    "", " ", "\x00", "\ufeff", "é", "é", "a\u200bb", "=1+1", "x" * 3000, "x" * 1_100_000, '"', "'", ";", "\n", "\r",
    "\t", "../x", "/etc/passwd", "C:\\x", "\\\\server\\x", "%s", "{}", "<x>", "null", "Total", "@", "\U0001f600",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**400, 1e308, -1e-320, float("nan"), float("inf"), "", "x",
    "\ud800", "\x00", "x" * 1_100_000, "1e999999999", [], {}, [[]], [None], {"": None}, "0", "-1", [2**63], 3.5,
)  # fmt: skip
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
WORD = re.compile(rb"\w+")


# --- bytes and tokens ------------------------------------------------------------------------------------------------


def flip(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        if changed:
            changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def cut(content: bytes, random: Random) -> bytes:
    first = random.randrange(len(content) + 1)
    if random.random() < 0.5:
        return content[:first]
    return content[:first] + content[first + random.choice((1, 2, 7, 100)) :]


def repeat(content: bytes, random: Random) -> bytes:
    first = random.randrange(len(content) + 1)
    part = content[first : first + random.choice((1, 3, 20, 200))]
    return content[:first] + part * random.choice((2, 3, 50, 2000)) + content[first:]


def splice(content: bytes, random: Random) -> bytes:
    a, b = random.randrange(len(content) + 1), random.randrange(len(content) + 1)
    return content[:a] + content[b : b + random.choice((5, 50, 5000))] + content[a:]


def insert(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    what = random.choice((*NUMBERS, *TEXTS)).encode()
    return content[:at] + what + content[at:]


def other_token(content: bytes, random: Random) -> bytes:
    """One number or word, or a few, replaced by something that nobody expects."""
    pattern, given = random.choice(((NUMBER, NUMBERS), (NUMBER, NUMBERS), (WORD, TEXTS), (WORD, NUMBERS)))
    found = list(pattern.finditer(content))
    for match in sorted(random.sample(found, min(len(found), random.choice((1, 1, 2, 5)))), key=lambda m: -m.start()):
        content = content[: match.start()] + random.choice(given).encode() + content[match.end() :]
    return content


def other_lines(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    at = random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, random.choice(lines))
        case 2:
            random.shuffle(lines)
        case _:
            lines[at] *= random.choice((2, 1000))
    return b"".join(lines)


def nested(content: bytes, random: Random) -> bytes:
    at, deep = random.randrange(len(content) + 1), random.choice((20, 200, 3000, 100_000))
    left, right = random.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"{a=", b"}"), (b"a.", b""), (b"(", b")")))
    return content[:at] + left * deep + random.choice((b"", b"1")) + right * deep + content[at:]


PLAIN: tuple[Mutation, ...] = (
    flip, cut, repeat, splice, insert, other_token, other_token, other_token, other_lines, nested,
)  # fmt: skip


def in_plain_text(content: bytes, random: Random) -> bytes:
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        content = random.choice(PLAIN)(content, random)
    return content


# --- nested data -----------------------------------------------------------------------------------------------------


def other_value(content: Any, random: Random) -> Any:
    """Nested data with one thing in it replaced, dropped, doubled or wrapped."""
    places = [(holder, key) for holder in _holders(content) for key in _keys(holder)]
    if not places:
        return random.choice(VALUES)
    holder, key = random.choice(places)
    match random.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, holder[key])
        case 2:
            holder[key] = [holder[key]]
        case 3 if isinstance(holder[key], int):
            holder[key] += random.choice((-1, 1, 10, -10))
        case 4:
            other, there = random.choice(places)
            holder[key] = json.loads(json.dumps(other[there])) if there in _keys(other) else None
        case _:
            holder[key] = random.choice(VALUES)
    return content


def _holders(content: Any) -> list[Any]:
    found, waiting = [], [content]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict | list):
            found.append(each)
            waiting += each.values() if isinstance(each, dict) else each
    return found


def _keys(holder: Any) -> list[Any]:
    return list(holder) if isinstance(holder, dict) else list(range(len(holder)))


def in_json(content: bytes, random: Random) -> bytes:
    """JSON with other values, or with other text."""
    if random.random() < 0.4:
        return in_plain_text(content, random)
    found = json.loads(content)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        found = other_value(found, random)
    return json.dumps(found).encode()


# --- packed files ----------------------------------------------------------------------------------------------------


def in_parts(content: bytes, random: Random) -> bytes:
    """One part of a zip file changed, and packed again with the right checksums."""
    if random.random() < 0.25:
        return in_plain_text(content, random)
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    name = random.choice(list(parts))
    match random.randrange(8):
        case 0:
            del parts[name]
        case 1:
            parts[name] = random.choice(list(parts.values()))
        case _:
            parts[name] = in_plain_text(parts[name], random)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for each, part in parts.items():
            file.writestr(each, part)
    return packed.getvalue()


def in_arrays(content: bytes, random: Random) -> bytes:
    """Arrays of NumPy's packed file with other numbers, forms and types."""
    import numpy as np

    if random.random() < 0.4:
        return in_parts(content, random)
    with np.load(io.BytesIO(content)) as file:
        arrays: dict[str, Any] = {name: file[name] for name in file}
    name = random.choice(list(arrays))
    array = arrays[name]
    match random.randrange(5):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = np.resize(array, random.choice(((0,), (1,), (3, 3), (array.size + 1,), (1, array.size))))
        case 2:
            kind = random.choice(("i1", "i8", "f8", "u2", "U3", "c16", "S2", "b1", "M8[s]"))
            arrays[name] = np.zeros(array.shape, dtype=kind)
        case _ if array.dtype.kind == "U":
            arrays[name] = np.array(json.dumps(other_value(json.loads(str(array)), random), ensure_ascii=True))
        case _:
            arrays[name] = _other_number(array, random)
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    return packed.getvalue()


def _other_number(array: Any, random: Random) -> Any:
    import numpy as np

    array = array.copy()
    if array.size:
        at = random.randrange(array.size)
        if array.dtype.kind == "f":
            array.reshape(-1)[at] = random.choice((np.nan, np.inf, -1.0, 1e308, 0.5))
        else:
            ends = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
            array.reshape(-1)[at] = random.choice((ends.min, ends.max, 0, 1, 7)) if ends else random.random() < 0.5
    return array


def crc(text: str, arrays: list[Any]) -> str:
    """The seal of a working file, made by other code than diskret's own."""
    found = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    for array in arrays:
        found = zlib.crc32(array.tobytes(), found)
    return f"{found:08x}"
