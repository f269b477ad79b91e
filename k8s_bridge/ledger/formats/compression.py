"""Compressed text in records: any JSON in base 64, for what no Lease has room for as it is."""

from __future__ import annotations

import base64
import lzma
from typing import Any

import orjson

CONTENT_LIMIT_BYTES = 16 * 2**20
"""Bytes of a content before it was compressed: no record has more, whatever a Lease says."""


def packed(content: Any) -> str:
    """`content` as JSON, compressed, in base 64."""
    return base64.b64encode(lzma.compress(orjson.dumps(content))).decode()


def unpacked(text: str) -> Any:
    """What `packed` made `text` of. Raises `ValueError`."""
    opener = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    try:
        said = opener.decompress(base64.b64decode(text, validate=True), CONTENT_LIMIT_BYTES)
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from None
    if not opener.eof:
        raise ValueError("it is cut off, or larger than any record")
    return orjson.loads(said)
