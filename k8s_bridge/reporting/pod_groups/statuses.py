"""Which PodGroups have a status to be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import structlog

from fourleaf.k8s_bridge.cluster.kinds import (
    COSCHEDULING_POD_GROUPS,
    NATIVE_POD_GROUPS,
    NATIVE_POD_GROUPS_BETA,
    VOLCANO_POD_GROUPS,
    Kind,
)
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.reporting.cycle_facts import (
    CycleFacts,
    Reported,
    ReportedGroup,
    ReportedReason,
)
from fourleaf.k8s_bridge.reporting.pod_groups.coscheduling import coscheduling_status
from fourleaf.k8s_bridge.reporting.pod_groups.native import native_status
from fourleaf.k8s_bridge.reporting.pod_groups.tally import Tally, tallies
from fourleaf.k8s_bridge.reporting.pod_groups.volcano import volcano_status
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Outgoing, StatusPatch, target_of
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.gangs.dialects import Dialect

DIALECTS: Mapping[Kind, Dialect] = {
    NATIVE_POD_GROUPS: Dialect.NATIVE,
    NATIVE_POD_GROUPS_BETA: Dialect.NATIVE,
    COSCHEDULING_POD_GROUPS: Dialect.COSCHEDULING,
    VOLCANO_POD_GROUPS: Dialect.VOLCANO,
}

_log = structlog.get_logger(__name__)

REWRITE_SECONDS = 60.0
"""When a status is written again that the server took without showing it."""

GroupKey = tuple[Kind, str, str]


def what_of_groups(
    before: Reported, said: Mapping[GangKey, ReportedReason], facts: CycleFacts
) -> tuple[list[Outgoing], dict[GroupKey, ReportedGroup]]:
    """The statuses that differ from what is seen, and what has been said then."""
    groups = [
        (kind, where, body)
        for kind in DIALECTS
        for where, body in facts.objects.get(kind, {}).items()
    ]
    dialects = {DIALECTS[kind] for kind, _, _ in groups}
    schedulers = facts.snapshot.config.spec.scheduler_names
    counted = tallies(facts.pods.values(), dialects, schedulers)
    find = _finder(facts, said) if groups else None
    outgoing: list[Outgoing] = []
    broken: list[str] = []
    reported: dict[GroupKey, ReportedGroup] = {}
    for kind, (namespace, name), body in groups:
        dialect = DIALECTS[kind]
        tally = counted.get((dialect, namespace, name))
        if find is None or tally is None or not tally.ours:
            continue
        try:
            status = _status(dialect, body, tally, find(dialect, namespace, name), facts.now)
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            # Its kind may have no schema. What is wrong with it is told of its pods.
            broken.append(f"{kind.plural} {namespace}/{name}: {error!r}")
            continue
        seen = body.get("status") or {}
        if all((seen.get(key) or None) == (value or None) for key, value in status.items()):
            continue
        key = (kind, namespace, name)
        earlier = before.groups.get(key)
        target = target_of(body)
        if earlier is not None and _stands(earlier, target.version, status, facts.now):
            reported[key] = earlier
            continue
        reported[key] = ReportedGroup(target.version, status, facts.now)
        outgoing.append(StatusPatch(kind, target, status))
    if broken:
        _log.warning("status_not_told", groups=len(broken), first=broken[0])
    return outgoing, reported


def _stands(earlier: ReportedGroup, version: str, status: Body, now: float) -> bool:
    """Whether just this was said about just this version: it is on its way, or came to nothing."""
    fresh = now - earlier.at < REWRITE_SECONDS
    return fresh and earlier.version == version and _timeless(earlier.status) == _timeless(status)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if k != "lastTransitionTime"}
    return [_timeless(one) for one in value] if isinstance(value, list) else value


def _finder(
    facts: CycleFacts, said: Mapping[GangKey, ReportedReason]
) -> Callable[[Dialect, str, str], ReportedReason | None]:
    """Look up why the gang of a group waits, None where it does not.

    Where two dialects use one name, one gang carries its dialect in its name.
    """
    gangs = {gang.key for gang in facts.snapshot.gangs}
    gangs.update(pod.gang for pod in facts.snapshot.running if pod.gang is not None)

    def find(dialect: Dialect, namespace: str, name: str) -> ReportedReason | None:
        own = GangKey(namespace, f"{name}@{dialect}")
        return said.get(own if own in gangs else GangKey(namespace, name))

    return find


def _status(
    dialect: Dialect, body: Body, tally: Tally, waits: ReportedReason | None, now: float
) -> Body:
    match dialect:
        case Dialect.NATIVE:
            return native_status(body, tally, waits, now)
        case Dialect.VOLCANO:
            return volcano_status(body, tally, waits, now)
        case _:
            return coscheduling_status(body, tally)
