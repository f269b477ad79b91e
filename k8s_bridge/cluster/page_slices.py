"""Pages of lists in slices: whole objects together, without the text of any being parsed.

A page of many large objects of one tenant took seconds of the event loop, in one piece. API servers
begin all objects of a page alike, so that the text of such a beginning says where the next object
may begin; brackets outside of strings say whether it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fourleaf.k8s_bridge.cluster.parse_limit import outside, without_escapes

SLICE_BYTES = 512 * 1024
"""About as much is looked at for a slice."""

_TO_ITEMS = re.compile(
    rb'\s*\{(?:"(?:apiVersion|kind)":"[^"\\]*",|"metadata":\{[^{}\[\]]*\},)*"items":\['
)
_BEGINNING = re.compile(rb'\{(?:"(?:apiVersion|kind)":"[^"\\]*",)*"metadata":\{"')
_REST = re.compile(rb'\](?:,"(?:apiVersion|kind)":"[^"\\]*"|,"metadata":\{[^{}\[\]]*\})*\}\s*\Z')
_MOST_REST_BYTES = 64 * 1024
"""What follows the objects of a page: a continue token, of a few hundred bytes."""


@dataclass(frozen=True, slots=True)
class PageSlices:
    """`around` is the page without its objects; those begin in `content` at `start`.

    `beginning` is how each of them begins, `end` where the last one ends.
    """

    content: bytes
    around: bytes
    start: int
    end: int
    beginning: bytes

    @classmethod
    def of(cls, content: bytes) -> PageSlices | None:
        """The slices of a page; None where it is not written as an API server writes it."""
        if (head := _TO_ITEMS.match(content)) is None:
            return None
        first = _BEGINNING.match(content, head.end())
        rest = _REST.search(content, max(head.end(), len(content) - _MOST_REST_BYTES))
        if first is None or rest is None:
            return None
        around = content[: head.end()] + content[rest.start() :]
        return cls(content, around, head.end(), rest.start(), first[0])

    def slices(self) -> Iterator[list[bytes]]:
        """The objects in turn, those of `SLICE_BYTES` together; none where one is longer."""
        some: list[bytes] = []
        looked = depth = 0
        begins = at = self.start
        while at < self.end:
            ends = self.content.find(b"," + self.beginning, at, self.end)
            ends = self.end if ends < 0 else ends
            depth += _depth(self.content[at:ends])
            looked += ends - at
            if depth == 0 or ends == self.end:
                some.append(self.content[begins:ends])
                begins = ends + 1
                depth = 0
            if looked >= SLICE_BYTES:
                yield some
                some, looked = [], 0
            at = ends + 1
        yield some


def _depth(content: bytes) -> int:
    """How many more lists and objects begin than end in what has whole strings."""
    plain = outside(without_escapes(content))
    begun = plain.count(b"[") + plain.count(b"{")
    return begun - plain.count(b"]") - plain.count(b"}")
