"""In whose name an event about a pod is reported: that of the scheduler that it asked for.

`kubectl get events` shows no source unless it is asked for, so the note begins with a name that is
not the program's own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.reporting.cycle_facts import Objects
from fourleaf.k8s_bridge.reporting.recorder.event_series import CONTROLLER
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event


def as_scheduler_asked(event: Event, objects: Objects, ours: Collection[str]) -> Event:
    """`event` in the name that its pod gives, where that is one of `ours`; else as it is."""
    about = event.regarding
    if about.kind is not PODS:
        return event
    pod = objects[PODS].get((about.namespace, about.name)) or {}
    name = str((pod.get("spec") or {}).get("schedulerName"))
    if name == CONTROLLER or name not in ours:
        return event
    return replace(event, controller=name, note=f"{name}: {event.note}")
