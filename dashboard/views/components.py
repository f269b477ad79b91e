"""Components of Fourleaf that are unwell: their own pods, as the cluster shows them.

Pods of the scheduler's namespace alone, found by the labels of the chart: a tenant may give its own
pods any label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fourleaf.dashboard.sources.source import Body, ClusterMoment
from fourleaf.dashboard.views.unwell_line import MOST_NAMED, UnwellLine
from fourleaf.model.readers.objects.timestamps import seconds_of
from fourleaf.model.topology import natural_key

UNREADY_SECONDS = 120.0
"""Seconds for which a pod may be unready, as one is that an upgrade replaces."""

_PART_OF, _COMPONENT = "app.kubernetes.io/part-of", "app.kubernetes.io/component"
_ENDED = frozenset({"Succeeded", "Failed"})
_LOST = {
    "scheduler": "nothing is planned",
    "webhook": "namespaces that enforce it can create no pods for Fourleaf",
    "agent": "no device that breaks is seen",
}


@dataclass(frozen=True)
class _ComponentPod:
    """One pod of a component: where it is, and whether it has been unready for long."""

    node: str
    is_well: bool


def component_lines(moment: ClusterMoment) -> Iterator[UnwellLine]:
    """A line for each component of which pods are unready, grave where none is ready."""
    gone = {one.name for one in moment.snapshot.fabric.nodes.values() if not one.ready}
    for name, lost in _LOST.items():
        pods = [one for one in _pods(moment, name) if one.node not in gone or one.is_well]
        unwell = [one for one in pods if not one.is_well]
        if not unwell:
            continue
        nodes = sorted({one.node for one in unwell if one.node}, key=natural_key)
        known = [one for one in nodes if one in moment.snapshot.fabric.nodes]
        none = len(unwell) == len(pods)
        said = "none is ready" if none else f"{len(unwell)} of {len(pods)} are not ready"
        yield UnwellLine(
            text=f"Pods of the {name}: {said}" + (f", so {lost}" if none else ""),
            advice=f"See `kubectl get pods -n {moment.system} -l {_COMPONENT}={name}`.",
            nodes=tuple(known[:MOST_NAMED]),
            more=max(0, len(known) - MOST_NAMED),
            grave=none or name == "agent",
        )


def _pods(moment: ClusterMoment, component: str) -> Iterator[_ComponentPod]:
    for (namespace, _), body in moment.pods.items():
        metadata = _mapping(body, "metadata")
        labels = _mapping(metadata, "labels")
        ours = labels.get(_PART_OF) == "fourleaf" and labels.get(_COMPONENT) == component
        status = _mapping(body, "status")
        if namespace != moment.system or not ours or status.get("phase") in _ENDED:
            continue
        if not metadata.get("deletionTimestamp"):
            node = str(_mapping(body, "spec").get("nodeName") or "")
            yield _ComponentPod(node, _is_well(status, metadata, moment.snapshot.now))


def _is_well(status: Body, metadata: Body, now: float) -> bool:
    """Ready, or unready for no longer than a pod takes to start."""
    since = metadata.get("creationTimestamp")
    for one in status.get("conditions") or ():
        if one.get("type") == "Ready":
            if one.get("status") == "True":
                return True
            since = one.get("lastTransitionTime") or since
    began = seconds_of(str(since))
    return began is not None and now - began <= UNREADY_SECONDS


def _mapping(body: Body, key: str) -> Mapping[str, Any]:
    found = body.get(key)
    return found if isinstance(found, Mapping) else {}
