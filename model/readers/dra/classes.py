"""DeviceClasses: which devices belong to those of some names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fourleaf.model.readers.dra.selectors import (
    MOST_QUOTED,
    Condition,
    NotUnderstood,
    conditions,
)
from fourleaf.model.readers.objects.manifest import EMPTY, Body, part_of


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """What makes a device one of the class; `refused`: a selector that cannot be run, and why."""

    name: str
    conditions: tuple[Condition, ...] = ()
    refused: str = ""

    def has(self, driver: str, device: Body) -> bool:
        """Whether a device, as a slice of its driver describes it, belongs to the class."""
        return not self.refused and all(one(driver, device) for one in self.conditions)


@dataclass(frozen=True)
class DeviceClasses:
    """The classes of some `names` that exist."""

    by_name: Mapping[str, DeviceClass] = field(default_factory=dict)
    names: frozenset[str] = frozenset()

    def of(self, driver: str, device: Body) -> tuple[str, ...]:
        """The names of all classes that a device belongs to."""
        return tuple(one.name for one in self.by_name.values() if one.has(driver, device))


def read_classes(names: Sequence[str], bodies: Mapping[str, Body]) -> DeviceClasses:
    """The classes `names`, as far as `bodies` holds them."""
    found = {name: read_class(name, bodies[name]) for name in sorted(names) if name in bodies}
    return DeviceClasses(found, frozenset(names))


def read_class(name: str, body: Body) -> DeviceClass:
    """One class."""
    try:
        return DeviceClass(name, tuple(all_of(part_of(body, "spec").get("selectors"))))
    except NotUnderstood as error:
        return DeviceClass(name, (), str(error))


def all_of(selectors: object) -> Iterator[Condition]:
    """What a list of selectors demands, nothing where there is none. Raises `NotUnderstood`."""
    if selectors is None:
        return
    if not isinstance(selectors, list):
        raise NotUnderstood(f"{str(selectors)[:MOST_QUOTED]!r}, which is no list,")
    for one in selectors:
        cel = one.get("cel") if isinstance(one, dict) else None
        expression = (cel if isinstance(cel, dict) else EMPTY).get("expression")
        if not isinstance(expression, str):
            raise NotUnderstood(f"{str(one)[:MOST_QUOTED]!r}, which has no expression,")
        yield from conditions(expression)
