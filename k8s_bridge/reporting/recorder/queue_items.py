"""What is to be written, as data: a status, or an event."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.k8s_bridge.cluster.kinds import PODS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Body, Target


@dataclass(frozen=True, slots=True)
class Regarding:
    """The object that an event is about."""

    kind: Kind
    namespace: str
    name: str
    uid: str = ""

    @classmethod
    def of(cls, kind: Kind, body: Body) -> Regarding:
        """Name the object `body` of `kind`."""
        metadata = body["metadata"]
        return cls(kind, metadata.get("namespace", ""), metadata["name"], metadata.get("uid", ""))

    @classmethod
    def pod(cls, target: Target) -> Regarding:
        """Name a pod."""
        return cls(PODS, target.namespace, target.name, target.uid)


@dataclass(frozen=True, slots=True)
class StatusPatch:
    """A merge patch for the status of exactly that version of an object."""

    kind: Kind
    target: Target
    status: Body

    @property
    def key(self) -> tuple[Kind, str, str]:
        """The object: of several patches of one, only the newest counts."""
        return self.kind, self.target.namespace, self.target.name


@dataclass(frozen=True, slots=True)
class Event:
    """An event. Those of one `key` are one series, whatever their notes.

    `controller` is in whose name it is reported; empty is the recorder's own.
    """

    regarding: Regarding
    reason: str
    note: str
    action: str
    topic: str = ""
    warning: bool = False
    controller: str = ""

    @property
    def key(self) -> tuple[Regarding, str, str, str]:
        """What makes it the same event again."""
        return self.regarding, self.reason, self.action, self.topic


Outgoing = StatusPatch | Event


def target_of(body: Body) -> Target:
    """Name an object as it was read: with its UID and version."""
    metadata = body["metadata"]
    return Target(
        metadata.get("namespace", ""),
        metadata["name"],
        metadata.get("uid", ""),
        metadata.get("resourceVersion", ""),
    )
