"""A search for secrets in whatever leaves the house: files are unpacked, numbers looked for in all spellings."""

from __future__ import annotations

import base64
import binascii
import contextlib
import getpass
import html
import io
import platform
import re
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pyreadstat

NUMBER = re.compile(rb"[0-9](?:[0-9.,' ]|\xc2\xa0|\xe2\x80\xaf)*")
RANDOM = COMPRESSED, BASE64 = "compressed", "base64"
FEWEST_DIGITS = 6
"""Digits by which a number is recognised; fewer would be found by chance."""


def digits_of(text: str) -> str:
    """The digits of a number that tell it apart, whatever its unit, its separators and its exponent."""
    return re.sub(r"\D", "", re.split("[eE]", text)[0]).strip("0")


def spellings(number: float) -> set[str]:
    """The digits of a number as it is, and rounded or cut to fewer of them."""
    whole = digits_of(repr(abs(float(number))))
    rounded = {digits_of(f"{abs(number):.{n - 1}e}") for n in range(FEWEST_DIGITS, 17)}
    cut = {whole[:n].strip("0") for n in range(FEWEST_DIGITS, len(whole) + 1)}
    return {digits for digits in rounded | cut | {whole} if len(digits) >= FEWEST_DIGITS}


def packed(number: float) -> Iterator[bytes]:
    """A number as programs keep it: as a fraction or whole, in units and cents, in both orders of bytes."""
    for scale in (1, 10, 100, 1000):
        scaled = number * scale
        for order in "<>":
            yield struct.pack(f"{order}d", scaled)
            yield struct.pack(f"{order}f", scaled)
            whole = round(scaled)
            if 2**16 < abs(whole) < 2**31:
                yield struct.pack(f"{order}i", whole)
            if 2**16 < abs(whole) < 2**63:
                yield struct.pack(f"{order}q", whole)


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """What must not leave: numbers by their digits and bytes, and texts such as names, seeds and paths."""

    digits: Mapping[str, float]
    packed: Mapping[int, Mapping[int, float]]
    """By the number of bytes what these bytes are as a whole number, and the number they stand for."""
    texts: tuple[str, ...]

    @classmethod
    def of(cls, numbers: Iterable[float], texts: Iterable[str] = (), told: Iterable[float] = ()) -> Secrets:
        """Secret numbers and texts; ``told`` are numbers that everybody may know."""
        open_digits = {digits for number in told for digits in spellings(number)}
        kept = [number for number in dict.fromkeys(map(float, numbers)) if not spellings(number) & open_digits]
        digits = {spelled: number for number in kept for spelled in spellings(number)}
        forms = {form: number for number in kept for form in packed(number)}
        by_size = {
            size: {int.from_bytes(form, "little"): number for form, number in forms.items() if len(form) == size}
            for size in (4, 8)
        }
        return cls(digits=digits, packed=by_size, texts=tuple(texts))

    def found_in(self, name: str, content: bytes) -> list[str]:
        """What of it stands in a file, whatever it is wrapped in; the number or text, and in which layer."""
        found = []
        for layer, inner in layers(name, content):
            tokens = {digits_of(token.decode("latin-1")) for token in NUMBER.findall(inner)}
            found += [f"{name}, {layer}: {self.digits[token]}" for token in tokens & self.digits.keys()]
            found += [f"{name}, {layer}: {number} packed" for number in self._packed_in(layer, inner)]
            found += [f"{name}, {layer}: {text}" for text in self.texts if text.encode() in inner]
        return found

    def _packed_in(self, layer: str, content: bytes) -> Iterator[float]:
        """Numbers that stand there as programs keep them, wherever they begin."""
        # four bytes would be found by chance where everything looks random
        for size in (8,) if layer in RANDOM else (4, 8):
            known = self.packed[size]
            if not known:
                continue
            wanted = np.array(sorted(known), dtype=np.uint64)
            for start in range(min(size, len(content) - size + 1)):
                there = np.frombuffer(content, f"<u{size}", (len(content) - start) // size, start).astype(np.uint64)
                nearest = wanted[np.minimum(np.searchsorted(wanted, there), len(wanted) - 1)]
                yield from (known[form] for form in nearest[nearest == there].tolist())


def layers(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """A file as it is, and everything that can be unpacked from it."""
    yield COMPRESSED if name.endswith((".xlsx", ".parquet", ".pdf", ".png")) else "as it is", content
    yield from _unpacked(name, content)
    if b"\0" in content:
        yield "wide letters", content.replace(b"\0", b"")
    yield "without entities", html.unescape(content.decode("latin-1")).encode("latin-1", "ignore")
    runs = []
    for run in re.findall(rb"[A-Za-z0-9+/]{8,}={0,2}", content):
        with contextlib.suppress(binascii.Error):
            runs.append(base64.b64decode(run[: len(run) // 4 * 4]))
    yield BASE64, b"\n".join(runs)


def _unpacked(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    if name.endswith(".xlsx"):
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            parts = [book.read(each) + each.comment + each.extra for each in book.infolist()]
            yield "members", b"\n".join([*parts, book.comment])
    if name.endswith(".parquet"):
        file = pq.ParquetFile(io.BytesIO(content))
        yield "columns", repr(file.read().to_pydict()).encode()
        yield "footer", repr(file.metadata.metadata).encode() + repr(file.metadata.to_dict()).encode()
        chunks = [chunk for column in file.read().columns for chunk in column.chunks]
        yield "pages", b"\n".join(bytes(b) for chunk in chunks for b in chunk.buffers() if b is not None)
    if name.endswith(".xpt"):  # whose numbers are those of other machines
        with tempfile.NamedTemporaryFile(suffix=".xpt") as file:
            Path(file.name).write_bytes(content)
            columns = pyreadstat.read_xport(file.name, output_format="dict")[0].values()
            yield "variables", "\n".join(str(each) for column in columns for each in column).encode()
    if name.endswith(".pdf"):
        streams = []
        for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL):
            with contextlib.suppress(zlib.error):
                streams.append(zlib.decompress(stream))
        yield "streams", b"\n".join(streams)


def of_this_machine(*folders: Path) -> tuple[str, ...]:
    """What no file for others says about where and by whom it was made."""
    here = [str(folder) for folder in (*folders, Path.home(), Path.cwd(), Path(sys.prefix))]
    return tuple(
        text for text in (*here, getpass.getuser(), platform.node(), date.today().isoformat()) if len(text) > 4
    )
