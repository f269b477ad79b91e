"""The containers of a pod, of every kind, and what they ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from fourleaf.model.readers.objects.manifest import Body

KINDS = ("containers", "initContainers", "ephemeralContainers")


@dataclass(frozen=True, slots=True)
class Container:
    """One container: the kind of its list, its place there, and the container itself."""

    kind: str
    place: int
    body: Body

    @property
    def title(self) -> tuple[str, str]:
        """Its kind and name, which no other container of the pod has."""
        return self.kind, str(self.body.get("name"))

    @property
    def field(self) -> str:
        """Its field path, as kubectl prints it."""
        return f"spec.{self.kind}[{self.place}]"

    @property
    def pointer(self) -> str:
        """Its JSON pointer (RFC 6901) in the pod."""
        return f"/spec/{self.kind}/{self.place}"


def spec_of(pod: Body) -> Body:
    """The spec of `pod`, empty where it is none."""
    spec = pod.get("spec")
    return spec if isinstance(spec, dict) else {}


def containers(pod: Body) -> Iterator[Container]:
    """Every container of `pod`; what is no container is passed over."""
    spec = spec_of(pod)
    for kind in KINDS:
        yield from (Container(kind, i, one) for i, one in enumerate(listed(spec.get(kind))))


def new_containers(pod: Body, before: Body | None) -> Iterator[Container]:
    """The containers of `pod` that `before` has none of that name and kind of.

    Those that a pod has cannot be changed any more, so nothing is to be said about them.
    """
    known = {one.title for one in containers(before or {})}
    return (one for one in containers(pod) if one.title not in known)


def listed(value: Any) -> list[Body]:
    """`value` as a list of objects; anything else in it counts as an empty object."""
    if not isinstance(value, list):
        return []
    return [one if isinstance(one, dict) else {} for one in value]


def asks_for(pod: Body, resources: Collection[str]) -> bool:
    """Whether some container of `pod` asks for one of `resources`."""
    for container in containers(pod):
        stated = container.body.get("resources")
        if not isinstance(stated, dict):
            continue
        for key in ("limits", "requests"):
            amounts = stated.get(key)
            if isinstance(amounts, dict) and any(amounts.get(name) for name in resources):
                return True
    return False
