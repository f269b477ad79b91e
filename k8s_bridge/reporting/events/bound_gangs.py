"""Gangs that have been bound: an event for each pod, and one for the gang."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.model.gang import GangKey

_NAMED = 8


def what_was_bound(
    gang: GangKey, members: Sequence[tuple[Target, str]], group: Regarding | None = None
) -> list[Event]:
    """Events once all `members` (pod, node) of `gang` are bound.

    `group` is the PodGroup, where the gang has one; else its first pod stands for the gang, but
    for a gang of one pod, of which nothing is to be said beyond what is said of the pod.
    """
    if not members:
        return []
    outgoing = [
        Event(Regarding.pod(pod), "Scheduled", f"Assigned {pod} to {node}", "Binding")
        for pod, node in members
    ]
    if len(members) == 1 and group is None:
        return outgoing
    nodes = list(dict.fromkeys(node for _, node in members))
    places = ", ".join(nodes[:_NAMED])
    if len(nodes) > _NAMED:
        places += f" and {len(nodes) - _NAMED} more"
    pods = "1 pod" if len(members) == 1 else f"{len(members):,} pods"
    note = clipped(f"Gang {gang}: {pods} bound to {places}")
    outgoing.append(Event(group or Regarding.pod(members[0][0]), "GangBound", note, "Binding"))
    return outgoing
