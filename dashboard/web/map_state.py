"""What the map shows besides the fabric: a gang that waits, colours, what is found; as a URL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import urlencode

PATH = "/fabric"


@dataclass(frozen=True, slots=True)
class MapState:
    """The map with `gang` (namespace, name) on it, coloured by `colour`, `find` lit."""

    colours: ClassVar[tuple[str, ...]] = ("gang", "namespace", "priority", "wait", "health")
    """What it may be coloured by, the usual one first."""

    gang: tuple[str, str] | None = None
    colour: str = colours[0]
    find: str = ""

    @property
    def known(self) -> MapState:
        """The same, with the usual colours where there are none of that name."""
        return self if self.colour in self.colours else replace(self, colour=self.colours[0])

    def url(self, part: str = "", **other: Any) -> str:
        """The URL of this state, with `other` values in place of its own; or of a part of it."""
        values = dict(replace(self, **other)._values())
        if part:
            values["part"] = part
        return f"{PATH}?{urlencode(values)}" if values else PATH

    def others(self, name: str) -> list[tuple[str, str]]:
        """Names and values in the URL besides `name`."""
        return [one for one in self._values() if one[0] != name]

    def _values(self) -> Iterator[tuple[str, str]]:
        if self.gang is not None:
            yield from zip(("namespace", "name"), self.gang, strict=True)
        if self.colour != self.colours[0]:
            yield "colour", self.colour
        if self.find:
            yield "find", self.find
