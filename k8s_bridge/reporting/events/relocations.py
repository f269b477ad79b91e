"""Relocation events: pods evicted, or not evictable now, and gangs that have been relocated."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.evictions.forbidden import BUDGET, NO_RIGHT, UNCOUNTED
from fourleaf.k8s_bridge.relocation.observer import LostPod
from fourleaf.k8s_bridge.relocation.records import UNWANTED, Leaver, Relocation
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.k8s_bridge.runtime.api_text import but_for_numbers, clipped
from fourleaf.model.gang import GangKey

_ACTION = "Relocating"
_BY_FORCE = "or delete it with --force, once its node is surely off"
_NO_FINALIZERS = "let the controllers that have set them remove them; or remove them"


def what_was_evicted(one: Relocation, leaver: Leaver) -> Event:
    """A pod was evicted."""
    note = f"Evicted from {leaver.node} for gang {one.gang}: {one.why}"
    return Event(Regarding.pod(leaver.pod), "Evicted", clipped(note), _ACTION)


def what_is_forbidden(one: Relocation, leaver: Leaver, why: str) -> Event:
    """A pod should go and may not."""
    note = (
        f"{leaver.pod} should leave {leaver.node} ({one.why}), but may not for now: {why}. "
        f"To unblock: {_unblock(why)}, or delete the pod"
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


def what_does_not_end(lost: LostPod, why: str) -> Event:
    """A pod was lost with its node, and stays, which keeps its owner from making another.

    Another why is another event, as of gangs that stay as they are.
    """
    steps = _NO_FINALIZERS if lost.finalizers else f"{_unblock(why)}; {_BY_FORCE}"
    said = f"{lost.pod} of gang {lost.gang} was lost with {lost.node} and does not end: {why}"
    note = clipped(f"{said}. To unblock: {steps}")
    pod = Regarding.pod(lost.pod)
    return Event(pod, "LostPodStays", note, _ACTION, topic=note, warning=True)


def _unblock(why: str) -> str:
    """What would have the API let a pod go that it has not, for the reason `why`."""
    if BUDGET in why:
        if UNCOUNTED in why:
            return "state minAvailable of its disruption budget as a number of pods"
        return "raise its disruption budget"
    if NO_RIGHT in why:
        return "give the scheduler's account the right to create pods/eviction"
    return "change the policy or webhook that refuses it"


def what_does_not_yield(pod: Target, why: str) -> Event:
    """Gangs that the one of `pod` outranks may not make room for it.

    Other words are another event, as of gangs that stay as they are.
    """
    note, topic = clipped(why), but_for_numbers(why)
    pod_of = Regarding.pod(pod)
    return Event(pod_of, "PreemptionForbidden", note, _ACTION, topic=topic, warning=True)


def what_was_relocated(one: Relocation, why: str) -> list[Event]:
    """A relocation has been given up."""
    if why in ("", UNWANTED) or not one.seats:
        return []
    note = f"The relocation of gang {one.gang} ({one.purpose}) was given up: {why}"
    pod = Regarding.pod(one.seats[0].pod)
    return [Event(pod, "RelocationGivenUp", clipped(note), _ACTION, warning=True)]
