"""After a cycle: which Events and status patches to write. The one decision of this package."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fourleaf.k8s_bridge.reporting.conditions.gpu_claim import what_of_claims
from fourleaf.k8s_bridge.reporting.conditions.pod_scheduled import what_waits
from fourleaf.k8s_bridge.reporting.cycle_facts import CycleFacts, Reported
from fourleaf.k8s_bridge.reporting.events.invalid_objects import what_is_wrong
from fourleaf.k8s_bridge.reporting.pod_groups.statuses import what_of_groups
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Outgoing


@dataclass(frozen=True, slots=True)
class AfterCycle:
    """What to write, and what to remember for the next cycle."""

    outgoing: tuple[Outgoing, ...]
    reported: Reported


def after_cycle(before: Reported, facts: CycleFacts) -> AfterCycle:
    """What has changed since `before`, as far as the cluster's users should know.

    Says nothing about pods whose gang was placed: a write would change the version that
    their bindings carry.
    """
    waiting, said = what_waits(before, facts)
    wrong = what_is_wrong(before, facts)
    groups, group_said = what_of_groups(before, said.gangs, facts)
    return AfterCycle(
        (*wrong, *groups, *what_of_claims(facts), *waiting),
        replace(
            said,
            groups=group_said,
            problems=facts.problems,
            messages=facts.messages,
            namespaces=facts.namespaces,
        ),
    )
