"""One object of the input, and typed access to its fields that reports instead of raising."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fourleaf.model.problems import Problem
from fourleaf.model.quantity import BadQuantity
from fourleaf.model.readers.objects.report import Report

Body = dict[str, Any]

EMPTY: Body = {}
MAX_INT32 = 2**31 - 1


def part_of(body: Mapping[str, Any], *keys: str) -> Body:
    """The object that `keys` lead to in `body`, empty where there is none. Reports nothing."""
    part = EMPTY
    for key in keys:
        found = body.get(key)
        body = part = found if isinstance(found, dict) else EMPTY
    return part


def entries_of(body: Mapping[str, Any], key: str) -> list[Body]:
    """The objects in the list at `key` of `body`, none where there is no list. Reports nothing."""
    listed = body.get(key)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


@dataclass(slots=True, eq=False)
class Manifest:
    """An object and where it came from.

    `prefix` stands before field names in problems (`spec.template.` where a pod is read
    from its owner). `fault` is the first error reported about the object, None without one; `said`
    is how often anything was.
    """

    report: Report
    source: str
    group: str
    kind: str
    namespace: str
    name: str
    body: Body
    prefix: str = ""
    fault: Problem | None = None
    said: int = 0

    @property
    def title(self) -> str:
        """Kind, namespace and name, as problems show it."""
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {where}"

    @property
    def broken(self) -> bool:
        """Whether an error was reported about the object."""
        return self.fault is not None

    def on(self, report: Report) -> Manifest:
        """The same object, whose problems go to `report` and leave this one as it is."""
        return replace(self, report=report)

    def error(self, field: str, value: object, message: str, advice: str) -> None:
        """Report an error about `field` and mark the object as broken."""
        self.said += 1
        where = self.prefix + field
        problem = self.report.error(self.source, self.title, where, value, message, advice)
        self.fault = self.fault or problem

    def warn(self, field: str, value: object, message: str, advice: str) -> None:
        """Report a warning about `field`."""
        self.said += 1
        self.report.warn(self.source, self.title, self.prefix + field, value, message, advice)

    def mapping(self, value: Any, field: str) -> Body:
        """`value` as an object, empty where absent or wrong."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.error(field, value, "is not an object", "Write it as key: value pairs.")
        return EMPTY

    def listing(self, value: Any, field: str) -> Sequence[Any]:
        """`value` as a list, empty where absent or wrong."""
        if isinstance(value, list):
            return value
        if value is not None:
            self.error(field, value, "is not a list", "Write it as a list of items.")
        return ()

    def mappings(self, value: object, field: str) -> list[tuple[str, Body]]:
        """`value` as a list of objects, each with its field path."""
        found = []
        for i, item in enumerate(self.listing(value, field)):
            path = f"{field}[{i}]"
            if isinstance(item, dict):
                found.append((path, item))
            else:
                self.error(path, item, "is not an object", "Write it as key: value pairs.")
        return found

    def text(self, value: object, field: str, default: str = "") -> str:
        """`value` as text, `default` where absent or wrong."""
        if isinstance(value, str):
            return value
        if value is not None:
            self.error(field, value, "is not text", "Put the value in quotes.")
        return default

    def flag(self, value: Any, field: str) -> bool:
        """`value` as true or false, false where absent or wrong."""
        if isinstance(value, bool):
            return value
        if value is not None:
            self.error(field, value, "is neither true nor false", "Write true or false.")
        return False

    def whole(
        self, value: object, field: str, default: int, least: int = 0, most: int = MAX_INT32
    ) -> int:
        """`value` as a whole number in `least..most`, `default` where absent or wrong."""
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            self.error(field, value, "is not a whole number", "Write it as a plain whole number.")
            return default
        if not least <= value <= most:
            self.error(
                field,
                value,
                f"is outside {least} to {most}",
                f"Give a whole number from {least} to {most}.",
            )
            return default
        return value

    def choice(self, value: str, field: str, allowed: Sequence[str]) -> str | None:
        """`value` where it is one of `allowed`, else None."""
        if value in allowed:
            return value
        self.error(field, value, "is unknown here", f"Use one of: {', '.join(allowed)}.")
        return None

    def amount(self, read: Callable[[object], int], value: object, field: str) -> int:
        """A quantity read by `read`, 0 where that fails."""
        try:
            return read(value)
        except BadQuantity as bad:
            self.error(field, value, str(bad), bad.advice)
            return 0

    def strings(self, value: object, field: str) -> dict[str, str]:
        """`value` as a map of text to text (labels, annotations); wrong entries are left out."""
        found = self.mapping(value, field)
        for item in found.values():
            if type(item) is not str:
                break
        else:
            return found
        good: dict[str, str] = {}
        for key, item in found.items():
            if isinstance(item, str):
                good[str(key)] = item
            else:
                self.error(f"{field}[{key}]", item, "is not text", "Put the value in quotes.")
        return good
