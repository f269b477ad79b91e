"""How many volumes of each driver a node can attach, as its CSINode says.

A limit is an amount of the node, like a host port: `attachable-volumes-csi-` and the driver.
"""

from __future__ import annotations

from collections import Counter

from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import Body, entries_of, part_of
from fourleaf.model.readers.objects.storage_kinds import CSI_NODE
from fourleaf.model.resources import ATTACH_PREFIX

Limits = tuple[tuple[str, int], ...]
"""Amount by name, sorted."""


class AttachLimits:
    """The limits of all nodes, as their CSINodes come and go."""

    def __init__(self) -> None:
        self._on: dict[str, Limits] = {}
        self._nodes: Counter[str] = Counter()

    @property
    def names(self) -> list[str]:
        """The nodes that have a CSINode."""
        return list(self._on)

    @property
    def limited(self) -> frozenset[str]:
        """The amounts that some node limits."""
        return frozenset(self._nodes)

    def on(self, node: str) -> Limits:
        """The limits of one node; a driver that is not among them has none there."""
        return self._on.get(node, ())

    def put(self, name: str, body: Body) -> bool:
        """Take a CSINode as it is now; whether that says anything new."""
        limits = _limits_of(body)
        known = self._on.get(name)
        self._on[name] = limits
        self._count(known or (), limits)
        return (known or ()) != limits

    def remove(self, name: str) -> bool:
        """Forget a CSINode; whether that says anything new."""
        known = self._on.pop(name, ())
        self._count(known, ())
        return bool(known)

    def _count(self, before: Limits, now: Limits) -> None:
        for name, _ in now:
            self._nodes[name] += 1
        for name, _ in before:
            self._nodes[name] -= 1
            if not self._nodes[name]:
                del self._nodes[name]


def limits_in(objects: Objects) -> AttachLimits:
    """The limits of all nodes among `objects`."""
    found = AttachLimits()
    for one in objects.of(*CSI_NODE):
        found.put(one.name, one.body)
    return found


def _limits_of(body: Body) -> Limits:
    found = {}
    for one in entries_of(part_of(body, "spec"), "drivers"):
        most = part_of(one, "allocatable").get("count")
        if type(most) is int and isinstance(one.get("name"), str):
            found[f"{ATTACH_PREFIX}{one['name']}"] = max(0, most)
    return tuple(sorted(found.items()))
