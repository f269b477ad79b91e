"""Why a gang that has lost members is not repaired, as the scheduler that leads has said."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from fourleaf.cli.cluster.connection import refused

if TYPE_CHECKING:
    from fourleaf.cli.answers import WhyAnswer
    from fourleaf.cli.cluster.read_cluster import ClusterAccess
    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
    from fourleaf.model.problems import Problem
    from fourleaf.model.readers import InputReading
    from fourleaf.model.reasons.pod_condition import ConditionReason

REASONS = ("NotRepaired", "EvictionForbidden")
"""The reasons of events that say so, on one of the gang's pods: it has no place, or a pod that has
to go first is kept."""
MARK = " stays as it is: "
"""What stands between the gang and the why in its note."""


async def why_it_stays(
    cluster: Cluster, reach: ClusterAccess, namespace: str, pods: Mapping[str, str], since: float
) -> ConditionReason | Problem | None:
    """The newest word on a gang with these UIDs of pods; None where nothing is said.

    With each comes when it was created, as the API writes that: what was said before the newest of
    them was made is over, and so is what was said before their nodes got into trouble (`since`, in
    seconds since the epoch). Where events may not be read, a warning about that.
    """
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.k8s_bridge.cluster.kinds import EVENTS
    from fourleaf.model.problems import Severity
    from fourleaf.model.readers.objects.timestamps import seconds_of
    from fourleaf.model.reasons.pod_condition import parsed

    try:
        found = await asyncio.gather(
            *(cluster.list(EVENTS, namespace, fields=f"reason={one}") for one in REASONS)
        )
    except ClusterError as error:
        return replace(refused(error, reach.name, "list", EVENTS), severity=Severity.WARNING)
    events = (one for listed in found for one in listed.items)
    about = [one for one in events if (one.get("regarding") or {}).get("uid") in pods]
    if not about:
        return None
    last = max(about, key=_seen)
    if _seen(last) < max(pods.values()) or (seconds_of(_seen(last)) or 0.0) < since:
        return None
    note = str(last.get("note") or "")
    return parsed(note.partition(MARK)[2] or note)


def is_in_part(answer: WhyAnswer) -> bool:
    """Whether members wait beside others that stand, and have no place yet."""
    stand = any(not one.ends for one in answer.standing)
    gang = None if answer.placement else answer.gang
    return stand and gang is not None and any(role.pods for role in gang.roles)


def members_told_of(reading: InputReading, answer: WhyAnswer) -> dict[str, str]:
    """UID -> when it was created, of members of which one has the word about their gang.

    A member that was lost may be gone, and what was made in its place is told of.
    """
    names = [one.pod for one in answer.standing if not one.ends]
    names += [pod for role in (answer.gang.roles if answer.gang else ()) for pod in role.pods]
    space = answer.key.namespace
    bodies = (reading.pods.get((space, name), {}).get("metadata", {}) for name in names)
    return {one["uid"]: str(one.get("creationTimestamp") or "") for one in bodies if "uid" in one}


def _seen(event: Body) -> str:
    """When it was last seen, in UTC to the microsecond, which sorts as text."""
    series = event.get("series") or {}
    return str(series.get("lastObservedTime") or event.get("eventTime") or "")
