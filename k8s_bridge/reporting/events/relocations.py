"""Relocation events: pods evicted, or not evictable now, and gangs that have been relocated."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.records import UNWANTED, Leaver, Relocation
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.model.gang import GangKey

_ACTION = "Relocating"


def what_was_evicted(one: Relocation, leaver: Leaver) -> Event:
    """A pod was evicted."""
    note = f"Evicted from {leaver.node} for gang {one.gang}: {one.why}"
    return Event(Regarding.pod(leaver.pod), "Evicted", clipped(note), _ACTION)


def what_is_forbidden(one: Relocation, leaver: Leaver, why: str) -> Event:
    """A pod should go and may not."""
    note = (
        f"{leaver.pod} should leave {leaver.node} ({one.why}), but may not for now: {why}. "
        "To unblock: raise its disruption budget, or delete the pod"
    )
    pod = Regarding.pod(leaver.pod)
    return Event(pod, "EvictionForbidden", clipped(note), _ACTION, warning=True)


def what_is_stranded(gang: GangKey, pod: Target, why: str) -> Event:
    """A gang has lost members, `pod` among them, and cannot be repaired for now.

    Another why is another event: the note of one that is there cannot be changed, and would advise
    to end what has ended.
    """
    said = f"Gang {gang} has lost members, or is to leave nodes, and stays as it is: {why}"
    note = clipped(said)
    return Event(Regarding.pod(pod), "NotRepaired", note, _ACTION, topic=note, warning=True)


def what_does_not_yield(pod: Target, why: str) -> Event:
    """Gangs that the one of `pod` outranks may not make room for it."""
    return Event(Regarding.pod(pod), "PreemptionForbidden", clipped(why), _ACTION, warning=True)


def what_was_relocated(one: Relocation, why: str) -> list[Event]:
    """A relocation has been given up."""
    if why in ("", UNWANTED) or not one.seats:
        return []
    note = f"The relocation of gang {one.gang} ({one.purpose}) was given up: {why}"
    pod = Regarding.pod(one.seats[0].pod)
    return [Event(pod, "RelocationGivenUp", clipped(note), _ACTION, warning=True)]
