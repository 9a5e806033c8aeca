"""Unpacking .xz, of which nothing is left out.

`lzma.open` takes a later stream that is damaged at its beginning, or anything else behind the first
one, for rubbish: a file that several were joined to would end early, without a word.
"""

import io
import lzma
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BLOCK = 1 << 16


class XzReader(io.RawIOBase):
    """What the streams of a file hold, one after the other, with or without padding between them.

    Reading raises EOFError where the last one is cut short, and LZMAError where one is damaged.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._packed = file, b""
        self._stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)

    def readable(self) -> bool:
        """See `io.RawIOBase`."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """See `io.RawIOBase`."""
        room = memoryview(buffer)
        while not self._stream.eof or self._begins_another():
            if self._stream.needs_input and not self._packed:
                self._packed = self._file.read(_BLOCK)
                if not self._packed:
                    raise EOFError("its end is missing")
            data = self._stream.decompress(self._packed, len(room))
            self._packed = b""
            if data:
                room[: len(data)] = data
                return len(data)
        return 0

    def _begins_another(self) -> bool:
        """Go on to the next stream, if there is anything but padding behind the last."""
        self._packed = self._stream.unused_data.lstrip(b"\0")
        while not self._packed:
            block = self._file.read(_BLOCK)
            if not block:
                return False
            self._packed = block.lstrip(b"\0")
        self._stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        return True
