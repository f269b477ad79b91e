"""Nodes that are found dead, and that come back: events where people look."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.node_health.judge import Cause, Judgement, NodeVerdict
from fourleaf.k8s_bridge.reporting.cycle_facts import Objects
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.k8s_bridge.runtime.api_text import clipped

_ACTION = "Watching"
_CAUSES = {
    Cause.DELETED: "it was deleted",
    Cause.OUT_OF_SERVICE: "it was taken out of service",
    Cause.CONDITION: "its condition {detail} says so",
    Cause.UNREACHABLE: "its kubelet is silent, and the node controller does not reach it either",
    Cause.SILENT: "its kubelet is silent, and its host does not answer",
}


def what_most_nodes_do(silent: int, nodes: int, config_map: Regarding) -> Event:
    """An event on the config: most nodes are silent, or, where `silent` is 0, are so no longer."""
    if not silent:
        note = (
            "No longer are most nodes silent: they were heard, were taken out, or have had time; "
            "one that is silent may be taken for dead"
        )
        return Event(config_map, "MostNodesHeard", note, _ACTION)
    note = (
        f"At least {silent} of {nodes} nodes are silent at once, so none is dead for its silence. "
        "To unblock: bring the network back; delete the Node objects of nodes that are surely off"
    )
    return Event(config_map, "MostNodesSilent", note, _ACTION, warning=True)


def what_was_judged(node: str, judgement: Judgement, objects: Objects) -> list[Event]:
    """An event about a node that is there; about one that is gone it would not be read."""
    body = objects.get(NODES, {}).get(("", node))
    if body is None:
        return []
    regarding = Regarding.of(NODES, body)
    if judgement.cause is not None:
        why = _CAUSES[judgement.cause].format(detail=judgement.detail)
        note = clipped(f"Taken for dead: {why}. Its gangs are repaired elsewhere where they can be")
        return [Event(regarding, "NodeDead", note, _ACTION, warning=True)]
    if judgement.verdict is NodeVerdict.RETURNING:
        note = "Heard again; pods come here once it has been well for a while"
        return [Event(regarding, "NodeReturning", note, _ACTION)]
    return [Event(regarding, "NodeWell", "Used again", _ACTION)]
