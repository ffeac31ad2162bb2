"""Owns reading lines of any length in bounded memory: of a line that is too long, the long texts in it are cut.

A transcript holds a tool's whole output on one line, 50 MB and more. Such a line is never held: as its pieces come by,
each text in its JSON is kept to its first part, so that what comes out is JSON still. It knows nothing of transcripts.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

PIECE_BYTES = 256 * 1024
LONG_BYTES = 1 << 20
"""A longer line is cut."""
MOST_TEXT_BYTES = 64 * 1024
"""What is kept of a text in a line that is cut."""
MOST_LINE_BYTES = 4 << 20
"""A line that is longer even then is passed over."""

_INSIDE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)


_CUT = re.compile(r" … \[([\d,]+) kB left out\]$")


class Line(NamedTuple):
    """A line without its end, and where it ends in the file; `data` is None if it could not be kept even when cut."""

    data: bytes | None
    end: int


def lines(file: BinaryIO, start: int) -> Iterator[Line]:
    """Each whole line from the offset `start` on; what follows the last line's end is left for another time."""
    file.seek(start)
    at, held = start, b""
    cut: Cutter | None = None
    while piece := file.read(PIECE_BYTES):
        *whole, rest = piece.split(b"\n")
        for part in whole:
            if cut:
                at += len(part) + 1
                yield cut.feed(part).finished(at)
                cut = None
                continue
            data, held = held + part, b""
            at += len(data) + 1
            yield Line(data, at) if len(data) <= LONG_BYTES else Cutter().feed(data).finished(at)
        if cut:
            cut.feed(rest)
            at += len(rest)
        else:
            held += rest
            if len(held) > LONG_BYTES:
                cut = Cutter().feed(held)
                at, held = at + len(held), b""


class Cutter:
    """Makes a long line of JSON short: fed with its pieces, it keeps the first part of each text in it."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._inside = False  # a text
        self._escaped = False  # the piece before ended with a backslash of a text
        self._text = bytearray()
        self._over = 0  # bytes of the text in hand that were left out

    def feed(self, piece: bytes) -> "Cutter":
        """Take the next piece."""
        at = 0
        while at < len(piece):
            at = self._in_text(piece, at) if self._inside else self._between(piece, at)
        return self

    def finished(self, end: int) -> Line:
        """The line; one that ends within a text is no JSON, and stays none."""
        if len(self._kept) > MOST_LINE_BYTES:
            return Line(None, end)
        return Line(bytes(self._kept), end)

    def _keep(self, data: bytes) -> None:
        if len(self._kept) <= MOST_LINE_BYTES:
            self._kept += data

    def _between(self, piece: bytes, at: int) -> int:
        quote = piece.find(b'"', at)
        stop = quote + 1 if quote >= 0 else len(piece)
        self._keep(piece[at:stop])
        self._inside = quote >= 0
        return stop

    def _in_text(self, piece: bytes, at: int) -> int:
        stop = at + 1 if self._escaped else at
        match = _INSIDE.match(piece, stop)
        stop = match.end() if match else stop
        # Nothing but a quote, or a backslash at the very end of the piece, is left there.
        self._escaped = stop < len(piece) and piece[stop : stop + 1] == b"\\"
        stop += self._escaped
        self._take(piece[at:stop])
        if stop < len(piece):
            self._close()
            stop += 1
        return stop

    def _take(self, data: bytes) -> None:
        room = MOST_TEXT_BYTES - len(self._text)
        self._text += data[: max(room, 0)]
        self._over += max(len(data) - max(room, 0), 0)

    def _close(self) -> None:
        text = bytes(self._text)
        if self._over:
            # At a space, which is part of no escape and of no character of several bytes.
            kept = text[: max(text.rfind(b" "), 0)]
            self._over += len(text) - len(kept)
            text = kept + f" … [{self._over // 1024:,} kB left out]".encode()
        self._keep(text + b'"')
        self._text.clear()
        self._over, self._inside, self._escaped = 0, False, False


def left_out_of(text: str) -> int:
    """How many bytes of a text were left out when its line was cut, to a kB."""
    cut = _CUT.search(text[-40:])
    return int(cut[1].replace(",", "")) * 1024 if cut else 0
