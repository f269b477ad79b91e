"""No device is held by two live pods of a node, at any version."""

from __future__ import annotations

from dataclasses import dataclass

from tests.history import pods
from tests.history.history import History
from tests.history.replay import replay


@dataclass(frozen=True, slots=True)
class Devices:
    """A device is held from the binding that names it until its pod ends or is gone."""

    name: str = "one device, one pod"

    def breaches(self, history: History) -> list[str]:
        """Every moment at which a pod came to hold what another held."""
        found = []
        holders: dict[tuple[str, int], dict[str, str]] = {}
        held: dict[str, list[tuple[str, int]]] = {}
        for change in replay(history):
            if change.version.kind != "pods":
                continue
            pod, uid = change.version.body, pods.uid(change.version.body)
            for place in held.pop(uid, []):
                del holders[place][uid]
            if change.version.deleted or not pods.holds(pod):
                continue
            held[uid] = [(pods.node(pod), device) for device in pods.devices(pod)]
            for place in held[uid]:
                others = holders.setdefault(place, {})
                new = change.before is None or not pods.holds(change.before)
                if others and new:
                    found.append(
                        f"revision {change.version.revision}: {pods.named(pod)} got device "
                        f"{place[1]} of {place[0]}, which {', '.join(others.values())} held"
                    )
                others[uid] = pods.named(pod)
        return found
